import Metrics
import Observations
import SimBase
import Talaria

extension PhoneObservation {
    /// Most observations, and all that come once for each event, do not.
    var concernsOperations: Bool {
        switch self {
        case .launched, .killed, .recordKept, .reinstalled, .suspended, .resumed, .captured, .queued,
            .bookShown, .bookAdded, .bookRepeated,
            .refused, .completed, .cancelRequested, .canceled, .cancelAnswered, .requestSent, .replied,
            .requestFailed, .badAnswer, .uploadAccepted, .lookupAnswered, .resultsDecoded, .resultsGivenUp,
            .statusDecoded, .statusGivenUp, .cleanupAnswered, .jobAbandoned, .tokenExchanged, .streamOpened,
            .firstEvent,
            .terminalApplied, .streamLost, .reconnected, .reconnectGivenUp, .reconnectSuperseded:
            true
        default: false
        }
    }
}

/// The operations of one phone's scans: what needs memory, because it takes more than one observation.
struct PhoneOperations: Sendable {
    private(set) var scans: [ScanOperations] = []
    /// Whether its scans are look-ups of single books.
    private let looksUp: Bool
    private(set) var launchedAt = Instant.zero
    private(set) var isRunning = true
    private var isSuspended = false
    /// Loss episodes that ended with the app's leaving the screen. If it comes back that was the background, which supersedes
    /// them; if it does not, it was the end of the run, which leaves them failed.
    private var episodesSuspended = 0

    init(_ journey: Journey) { self.looksUp = journey == .bookEnrichment }

    /// Scans that are still followed.
    var followed: Int { self.scans.count }

    private mutating func index(of scan: ScanNumber) -> Int {
        // By index: an element is large to copy.
        for index in self.scans.indices.reversed() where self.scans[index].scan == scan { return index }
        self.scans.append(ScanOperations(scan: scan))
        self.scans[self.scans.count - 1].attempts.isLookup = self.looksUp
        return self.scans.count - 1
    }

    mutating func record(
        _ payload: PhoneObservation, scan: ScanNumber, at: Instant, into measured: inout Measurements,
        _ group: MetricGroup
    ) {
        switch payload {
        case .launched:
            self.launchedAt = at
            self.present()
            return
        case .resumed:
            self.present()
            return
        case .killed, .suspended:
            self.isSuspended = payload == .suspended
            self.isRunning = self.isSuspended
            if !self.isSuspended { self.episodesSuspended = 0 }
            self.stopped(isKilled: payload == .killed, into: &measured, group)
            return
        case .reinstalled:
            self.present()
            self.forgotten(into: &measured, group)
            return
        case .reconnectGivenUp where self.isSuspended:
            self.episodesSuspended += 1
        case .reconnectGivenUp:
            measured.table.record(.sseReconnectFailed, failed: true, in: group)
        default: break
        }
        let index = self.index(of: scan)
        self.scans[index].noteTimes(payload, at: at, isSuspended: self.isSuspended)
        self.scans[index].record(payload, at: at, launchedAt: self.launchedAt, into: &measured, group)
        if self.scans[index].isDone { self.scans.remove(at: index) }
    }

    /// The app is in the foreground.
    private mutating func present() {
        self.isSuspended = false
        self.isRunning = true
        self.episodesSuspended = 0
        for index in self.scans.indices { self.scans[index].times.goesOn() }
        self.scans.removeAll { $0.isDone }
    }

    private mutating func stopped(
        isKilled: Bool, into measured: inout Measurements, _ group: MetricGroup
    ) {
        for index in self.scans.indices {
            if isKilled { self.scans[index].killed(into: &measured, group) }
            self.scans[index].stream.ended()
            self.scans[index].attempts.stopped()
            if isKilled { self.scans[index].times.killed() }
        }
    }

    /// The app is gone with all that it was about: nothing has failed, and no stream is taken up again.
    private mutating func forgotten(into measured: inout Measurements, _ group: MetricGroup) {
        for scan in self.scans {
            for cause in [scan.lossBeforeKill, scan.isLost ? scan.lostBy : nil].compactMap({ $0 }) {
                measured[group].disconnections.gaveUp(cause)
            }
        }
        self.scans = []
    }

    mutating func close(into measured: inout Measurements, _ group: MetricGroup) {
        for index in self.scans.indices { self.scans[index].close(into: &measured, group) }
        for _ in 0..<self.episodesSuspended {
            measured.table.record(.sseReconnectFailed, failed: true, in: group)
        }
    }
}
