import Observations
package import SimBase
import Talaria

/// The contribution of one phone to the gauges of a fleet.
package struct PhoneGauge: Equatable, Sendable {
    package var isConnected = false
    package var isReconnecting = false
    package var isOffline = false
}

/// The number of phones that are connected, reconnecting and offline.
struct FleetGauge: Equatable, Sendable {
    private(set) var connected = 0
    private(set) var reconnecting = 0
    private(set) var offline = 0

    mutating func change(from before: PhoneGauge, to after: PhoneGauge) {
        self.connected += (after.isConnected ? 1 : 0) - (before.isConnected ? 1 : 0)
        self.reconnecting += (after.isReconnecting ? 1 : 0) - (before.isReconnecting ? 1 : 0)
        self.offline += (after.isOffline ? 1 : 0) - (before.isOffline ? 1 : 0)
    }
}

/// The summary of one phone.
package struct PhoneSummary: Equatable, Sendable {
    package let device: DeviceNumber
    package private(set) var captured = 0
    package private(set) var completed = 0
    package private(set) var refused = 0
    package private(set) var losses = 0
    package private(set) var gaveUp = 0
    package private(set) var errors = 0
    package private(set) var kills = 0
    /// Look-ups of books that no provider has: their refusal is not a problem.
    private var unknownBooks = 0
    /// Scans that went with the app.
    private var discarded = 0
    /// Scans that the user canceled.
    package private(set) var canceled = 0
    package private(set) var longestScan = Interval.zero
    package private(set) var longestReconnect = Interval.zero
    /// Scans with an open stream, and those whose stream was lost and is not back: at most as many as a phone has slots.
    private var open: [ScanNumber] = []
    private var lost: [ScanNumber] = []
    private var isOffline = false

    private static let scansMax = 16

    init(device: DeviceNumber) { self.device = device }

    /// All counts and times of a phone whose run is over, in a fixed order: what a shard hands over.
    package var numbers: [Int64] {
        [
            self.captured, self.completed, self.refused, self.losses, self.gaveUp, self.errors, self.kills,
            self.unknownBooks, self.discarded, self.canceled,
        ].map { Int64($0) } + [self.longestScan.nanoseconds, self.longestReconnect.nanoseconds]
    }

    /// Nil for what are not such numbers.
    package init?(device: DeviceNumber, numbers: [Int64]) {
        guard numbers.count == 12 else { return nil }
        self.device = device
        self.captured = Int(numbers[0])
        self.completed = Int(numbers[1])
        self.refused = Int(numbers[2])
        self.losses = Int(numbers[3])
        self.gaveUp = Int(numbers[4])
        self.errors = Int(numbers[5])
        self.kills = Int(numbers[6])
        self.unknownBooks = Int(numbers[7])
        self.discarded = Int(numbers[8])
        self.canceled = Int(numbers[9])
        self.longestScan = Interval(nanoseconds: numbers[10])
        self.longestReconnect = Interval(nanoseconds: numbers[11])
    }

    package var gauge: PhoneGauge {
        PhoneGauge(
            isConnected: !self.open.isEmpty, isReconnecting: !self.lost.isEmpty, isOffline: self.isOffline)
    }

    /// Scans that it did not bring home.
    package var unsettled: Int {
        max(0, self.captured - self.completed - self.refused - self.canceled - self.discarded)
    }

    /// The amount of problems: a phone with more is shown first.
    package var hardship: Int {
        max(0, self.refused - self.unknownBooks) * 40 + self.unsettled * 30 + self.gaveUp * 20 + self.kills
            * 6 + self.losses * 4
            + self.errors + Int(self.longestReconnect.nanoseconds / 1_000_000_000)
            + Int(self.longestScan.nanoseconds / 10_000_000_000)
    }

    mutating func record(_ payload: PhoneObservation, scan: ScanNumber, at: Instant) {
        if RunError(payload) != nil { self.errors += 1 }
        switch payload {
        case .captured: self.captured += 1
        case .completed(let took):
            self.completed += 1
            self.longestScan = max(self.longestScan, took)
            self.settle(scan)
        case .refused:
            self.refused += 1
            self.settle(scan)
        case .lookupAnswered(found: false, _, _, _): self.unknownBooks += 1
        case .canceled:
            self.canceled += 1
            self.settle(scan)
        case .queued: self.settle(scan)
        case .streamOpened:
            self.lost.removeAll { $0 == scan }
            if !self.open.contains(scan), self.open.count < Self.scansMax { self.open.append(scan) }
        case .streamLost:
            self.losses += 1
            self.open.removeAll { $0 == scan }
            if !self.lost.contains(scan), self.lost.count < Self.scansMax { self.lost.append(scan) }
        case .reconnected(_, _, _, _, let took):
            self.longestReconnect = max(self.longestReconnect, took)
            self.lost.removeAll { $0 == scan }
        case .reconnectGivenUp:
            self.gaveUp += 1
            self.lost.removeAll { $0 == scan }
        case .reconnectSuperseded: self.lost.removeAll { $0 == scan }
        case .terminalApplied: self.settle(scan)
        case .pathLost: self.isOffline = true
        case .pathReturned: self.isOffline = false
        case .killed:
            self.kills += 1
            self.forgetStreams()
        case .reinstalled(let discarded):
            self.discarded += discarded
            self.forgetStreams()
        case .suspended: self.forgetStreams()
        default: break
        }
    }

    private mutating func settle(_ scan: ScanNumber) {
        self.open.removeAll { $0 == scan }
        self.lost.removeAll { $0 == scan }
    }

    private mutating func forgetStreams() {
        self.open = []
        self.lost = []
    }
}
