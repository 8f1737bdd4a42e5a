import Observations
import SimBase
import Talaria

/// Where the time of one scan went: each time from its capture to its end belongs to one activity.
struct ScanTime {
    /// The raw value is the CSS class.
    enum Activity: String, CaseIterable {
        case queue, upload, limited, backoff, connecting, server, results, offline, closed

        /// Follows a duration.
        var words: String {
            switch self {
            case .queue: "in the queue of the phone"
            case .upload: "uploading"
            case .limited: "waiting as a 429 requested (Retry-After)"
            case .backoff: "waiting before a retry (backoff or Retry-After)"
            case .connecting: "connecting the stream"
            case .server: "with the server at work"
            case .results: "reading the results"
            case .offline: "without a link"
            case .closed: "with the app closed or in the background"
            }
        }

        /// In a legend.
        var name: String {
            switch self {
            case .queue: "queue"
            case .upload: "upload"
            case .limited: "Retry-After"
            case .backoff: "before a retry"
            case .connecting: "connecting"
            case .server: "server at work"
            case .results: "results"
            case .offline: "no link"
            case .closed: "app closed"
            }
        }

        /// Whether the phone waits, and a requested wait is the reason if there is one.
        fileprivate var isWait: Bool { self == .queue || self == .backoff }
    }

    struct Span: Equatable {
        var from: Instant
        var to: Instant
        var activity: Activity
    }

    /// Smaller parts are left out.
    private static let shareMin: Int64 = 50

    let scan: ScanNumber
    let isFinished: Bool
    private(set) var spans: [Span] = []

    private var activity = Activity.queue
    private var isOffline = false
    private var isClosed = false
    /// The time until which a 429 asked to wait.
    private var limitedUntil = Instant.zero
    private var last: Instant

    /// The slowest scan of a phone; nil if it has none. `until`: the end of the run, and of what is unfinished.
    init?(slowestOf observations: [Observation], until: Instant) {
        var open: [(scan: ScanNumber, from: Instant)] = []
        var slowest: (scan: ScanNumber, from: Instant, to: Instant, isFinished: Bool)?
        func note(_ scan: ScanNumber, _ from: Instant, _ to: Instant, isFinished: Bool) {
            if let slowest, slowest.to - slowest.from >= to - from { return }
            slowest = (scan, from, to, isFinished)
        }
        for observation in observations {
            guard case .phone(let payload) = observation.what else { continue }
            switch payload {
            case .captured(let scheduled):
                open.append((observation.scan, max(.zero, min(scheduled, observation.at))))
            case .completed, .refused, .canceled:
                guard let index = open.firstIndex(where: { $0.scan == observation.scan }) else { continue }
                note(observation.scan, open[index].from, observation.at, isFinished: true)
                open.remove(at: index)
            default: break
            }
        }
        for rest in open { note(rest.scan, rest.from, max(rest.from, until), isFinished: false) }
        guard let slowest, slowest.to > slowest.from else { return nil }
        self.scan = slowest.scan
        self.isFinished = slowest.isFinished
        self.last = slowest.from
        for observation in observations where observation.at <= slowest.to {
            guard case .phone(let payload) = observation.what else { continue }
            self.advance(to: observation.at)
            self.apply(payload, observation)
        }
        self.advance(to: slowest.to)
    }

    // MARK: Observations

    private mutating func advance(to moment: Instant) {
        guard moment > self.last else { return }
        if self.isClosed || self.isOffline || !self.activity.isWait || self.limitedUntil <= self.last {
            self.add(self.isClosed ? .closed : self.isOffline ? .offline : self.activity, to: moment)
        } else {
            self.add(.limited, to: min(moment, self.limitedUntil))
            if moment > self.last { self.add(self.activity, to: moment) }
        }
    }

    private mutating func add(_ activity: Activity, to moment: Instant) {
        if self.spans.last?.activity == activity {
            self.spans[self.spans.count - 1].to = moment
        } else {
            self.spans.append(Span(from: self.last, to: moment, activity: activity))
        }
        self.last = moment
    }

    private mutating func apply(_ payload: PhoneObservation, _ observation: Observation) {
        switch payload {
        case .launched, .resumed: self.isClosed = false
        case .suspended, .killed, .reinstalled: self.isClosed = true
        case .pathLost: self.isOffline = true
        case .pathReturned: self.isOffline = false
        case .rateLimited(.upload, let wait):
            // A limit of uploads is one of the device.
            self.limitedUntil = max(self.limitedUntil, observation.at + wait)
        default: break
        }
        guard observation.scan == self.scan else { return }
        switch payload {
        // One that failed waits in the queue for its retry.
        case .queued(let cause): self.activity = cause.isFailure ? .backoff : .queue
        case .captured, .uploadAccepted: self.activity = .queue
        case .rateLimited(_, let wait): self.limitedUntil = max(self.limitedUntil, observation.at + wait)
        case .requestSent(let operation, _, _, _):
            self.activity = Self.activity(of: operation) ?? self.activity
        case .streamOpened, .statusDecoded: self.activity = .server
        case .replied(let operation, _, let status, _):
            if Self.activity(of: operation) != nil, status >= 400 { self.activity = .backoff }
        case .requestFailed(let operation, _, _, _), .badAnswer(let operation, _, _):
            if Self.activity(of: operation) != nil { self.activity = .backoff }
        case .streamLost: self.activity = .backoff
        case .terminalApplied: self.activity = .results
        default: break
        }
    }

    /// Nil for what a scan does not wait for.
    private static func activity(of operation: Operation) -> Activity? {
        switch operation {
        case .upload: .upload
        case .stream: .connecting
        case .status: .server
        case .results: .results
        case .cleanup, .cancel: nil
        }
    }

    // MARK: Words

    var length: Interval { (self.spans.last?.to ?? self.last) - (self.spans.first?.from ?? self.last) }

    /// The time of each activity, the longest first.
    var parts: [(activity: Activity, time: Interval)] {
        var parts: [(activity: Activity, time: Interval)] = []
        for activity in Activity.allCases {
            var time = Interval.zero
            for span in self.spans where span.activity == activity { time = time + (span.to - span.from) }
            if time > .zero { parts.append((activity, time)) }
        }
        // Stable: of equal ones the order of the cases.
        return parts.enumerated().sorted { left, right in
            left.element.time == right.element.time
                ? left.offset < right.offset : left.element.time > right.element.time
        }.map(\.element)
    }

    /// `scan 3 took 42.6 s: 30.1 s waiting as a 429 requested (Retry-After), 4.1 s uploading.`
    func sentence(_ noun: WorkNoun) -> String {
        let least = self.length.nanoseconds / Self.shareMin
        let parts = self.parts.filter { $0.time.nanoseconds >= least }.map {
            "\(Figures.time($0.time.nanoseconds)) \($0.activity.words)"
        }
        let took = self.isFinished ? "took" : "had not finished after"
        return
            "\(noun.one) \(self.scan.raw) \(took) \(Figures.time(self.length.nanoseconds)): \(parts.joined(separator: ", "))."
    }
}

extension WaitingCause {
    /// Whether a scan waits because an attempt has failed, and for its next one.
    var isFailure: Bool {
        switch self {
        case .serverError, .transport, .retryableError, .resultsUnavailable, .unreadableAnswer,
            .answerTooLarge, .noAnswer, .unexpectedStatus, .unauthorized:
            true
        case .captured, .offline, .rateLimited, .tokenExpired, .tokenRefused, .jobGone, .resultsExpired,
            .suspended, .interrupted, .foreignURL, .statusBudget:
            false
        }
    }
}
