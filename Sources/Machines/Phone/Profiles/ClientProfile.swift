package import SimBase
package import Talaria

/// Everything in which one client differs from another, as values (Docs/design.md section 6).
///
/// The default of each value is that of the `contract` client. The phone asks for values only: it knows neither the name of
/// its profile nor the toggles that changed it.
package struct ClientProfile: Hashable, Sendable {
    package var name = "contract"
    /// What the client has the backend do. In v2 the form of requests, answers and events is that of the journey, whatever
    /// the policies say of it.
    package var journey = Journey.scan
    package var identity = IdentityPolicy()
    package var upload = UploadPolicy()
    package var waits = WaitPolicy()
    package var stream = StreamPolicy()
    package var events = EventPolicy()
    package var results = ResultsPolicy()
    package var status = StatusPolicy()
    package var token = TokenPolicy()
    package var cleanup = CleanupPolicy()
    package var cancel = CancelPolicy()
    package var review = ReviewPolicy()
    package var reviewer = ReviewerPolicy()
    package var failedScans = FailedScanPolicy.wait
    /// The time for which the failure of a scan that is removed is shown, before its job is deleted.
    package var failureOverlay = Interval.zero
    package var queue = QueuePolicy()
    package var background = BackgroundPolicy.closesStreams
    /// The time without a byte of the response after which an upload, results or cleanup request is given up.
    package var requestTimeout = Interval.seconds(30)
    package var timeouts = TimeoutPolicy()
    package var backoff = BackoffPolicy(base: .milliseconds(500), cap: .seconds(30))
    /// The backoff of all requests but those for streams; nil for `backoff`.
    package var requestBackoff: BackoffPolicy?
    /// Which of its numbers for failed requests a client with two sets of them uses.
    package private(set) var retries = RetryPreset.standard
    /// The time over which retries are jittered when the path returns.
    package var pathReturnJitter = Interval.milliseconds(500)

    package init() {}

    /// The name of the part that is the photo.
    package var uploadPart: String {
        switch self.journey {
        case .scan, .textEnrichment: self.upload.part
        case .bookshelfScan: "photos"
        case .batchEnrichment, .bookEnrichment: ""
        case .csvImport: ImportLimits.part
        }
    }

    /// The backoff of a failed upload, DELETE, or request for results or a status.
    var backoffOfRequests: BackoffPolicy { self.requestBackoff ?? self.backoff }

    /// Sets the numbers for failed requests.
    package mutating func use(_ retries: RetryPreset) {
        self.retries = retries
        switch retries {
        case .standard: break  // They are those of the profile.
        case .aggressive:
            self.upload.retriesMax = 4
            self.results.failuresMax = 4
            self.cleanup.requestsMax = 5
            var backoff = BackoffPolicy(base: .milliseconds(500), cap: .seconds(30))
            backoff.growth = 1_500
            backoff.spread = .fifth
            self.requestBackoff = backoff
        }
    }

    /// The backoff of a stream that was lost.
    var streamBackoff: BackoffPolicy {
        guard let doublings = self.stream.doublingsMax else { return self.backoff }
        var policy = self.backoff
        policy.cap = min(policy.cap, policy.base * (1 << Int64(min(doublings, 30))))
        return policy
    }

    /// The time without a byte of the response after which a request is given up.
    func timeout(of operation: Operation) -> Interval {
        let own: Interval? =
            switch operation {
            case .upload:
                switch self.journey.payload {
                case .photos: self.timeouts.photos
                case .json: self.timeouts.document
                case .file: self.timeouts.file
                }
            case .results: self.timeouts.results
            case .status: self.timeouts.status
            case .cleanup, .cancel: self.timeouts.cleanup
            case .refresh: nil
            case .stream: self.stream.connectTimeout
            }
        return own ?? self.requestTimeout
    }

    /// The shortest of these times.
    package var timeoutMin: Interval {
        Operation.allCases.filter { $0 != .stream }.map { self.timeout(of: $0) }.min() ?? self.requestTimeout
    }

    /// Whether it knows the event names of books-v3 (Docs/contract.md section 3.3).
    package var readsDottedEvents: Bool { self.events.names == .dotted }

    /// Whether a job is deleted whose books are in the library.
    package var deletesCompletedJobs: Bool { self.cleanup.isMade && !self.journey.version.isJobKept }

    /// The behavior in the design documents.
    package static let contract = ClientProfile()
}

/// What happens to a scan that the client no longer tries to finish.
package enum FailedScanPolicy: String, CaseIterable, Hashable, Sendable {
    /// It waits in the durable queue for the next launch.
    case wait
    /// It is shown as failed and removed.
    case removed
}

/// The scans that wait, and what is left of them when the process ends (Docs/apps.md sections 4.6 and 4.7).
package struct QueuePolicy: Hashable, Sendable {
    package var storage = QueueStorage.all
    package var drain = DrainPolicy.untilSettled
}

/// The unsettled scans that a client has a record of in its storage.
package enum QueueStorage: String, CaseIterable, Hashable, Sendable {
    case all
    /// Those that were taken without a path, until they are uploaded. The others go with the process.
    case offlineOnly = "offline-only"
}

/// How a client uploads what was taken without a path, once it has one.
package enum DrainPolicy: String, CaseIterable, Hashable, Sendable {
    /// In as many slots as are free, and until each scan is settled.
    case untilSettled = "until-settled"
    /// One after another, each once: it is removed whatever its outcome. A path that returns during a drain
    /// begins another one over the same scans.
    case once
}

/// What a client leaves behind when it goes to the background with a stream open (Docs/apps.md section 4.8).
package enum BackgroundPolicy: String, CaseIterable, Hashable, Sendable {
    /// Its streams are closed, and its scans return to the durable queue.
    case closesStreams = "closes-streams"
    /// Its streams stay open and unread, until the server closes them or is silent for the idle timeout. Its scans are given
    /// up like any other that has failed.
    case leavesStreams = "leaves-streams"
}

/// From where to where the delays of a backoff with jitter are drawn.
package enum BackoffSpread: String, CaseIterable, Hashable, Sendable {
    /// From 0 to the ceiling.
    case full
    /// Within a fifth of the ceiling, and not below the base.
    case fifth
}

/// The sets of numbers that EnrichmentAPIClient has for failed requests (Docs/apps.md section 6.2).
package enum RetryPreset: String, CaseIterable, Hashable, Sendable {
    /// Three attempts, 1 s x2 up to 60 s.
    case standard = "default"
    /// Five attempts, 0.5 s x1.5 up to 30 s.
    case aggressive
}

/// Exponential backoff: after n failures, a delay below min(cap, base x growth^n).
package struct BackoffPolicy: Hashable, Sendable {
    package var base: Interval
    package var cap: Interval
    /// What a delay becomes with each failure, in thousandths of it.
    package var growth: Int64 = 2_000
    /// Off: the delay is the ceiling itself.
    package var hasJitter = true
    package var spread = BackoffSpread.full

    package init(base: Interval, cap: Interval) {
        self.base = base
        self.cap = cap
    }
}
