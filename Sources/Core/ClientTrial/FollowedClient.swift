import SimBase
import Talaria

/// A client, by its device id.
struct FollowedClient: Sendable {
    /// Uploads wait until then.
    struct UploadWait: Sendable {
        var from: Instant
        var until: Instant
        /// The photos that were refused.
        var photos: [UInt64]
    }

    /// The outcomes of the uploads of a photo.
    struct Photo: Sendable {
        let identity: UInt64
        /// The end of its last job or upload that came to nothing.
        var failedAt: Instant?
        var isFinal = false
        /// Automatic uploads after retryable errors, in a row.
        var retries = 0
        /// It is the photo of several scans, so that an upload of it need not be a repetition.
        var isShared = false
        /// The wait that a refusal of it has asked for, in addition to that of a rate limit.
        var waitsUntil: Instant?
        var jobsAlive = 0
        /// Uploads of it in a row while a job of it was there and was not read.
        var needless = 0
        /// Its last jobs.
        var jobs: [String] = []
    }

    /// Nil for requests without a device id.
    let device: String?
    let first: Instant
    var userAgent: String?
    var last: Instant
    var requests = 0
    var uploads = 0
    var lastUpload: Instant?
    var jobs = 0
    var breaks = 0
    var openStreams = 0
    var uploadWait: UploadWait?
    var failures = RetryChains()
    private var photos: [Photo] = []

    init(device: String?, at now: Instant) {
        self.device = device
        self.first = now
        self.last = now
    }

    func photo(_ identity: UInt64) -> Photo? { self.photos.first { $0.identity == identity } }

    mutating func update<Result>(_ identity: UInt64, _ change: (inout Photo) -> Result) -> Result {
        if let index = self.photos.firstIndex(where: { $0.identity == identity }) {
            return change(&self.photos[index])
        }
        if self.photos.count >= ClientTrialLimits.photosMax { self.photos.removeFirst() }
        self.photos.append(Photo(identity: identity))
        return change(&self.photos[self.photos.count - 1])
    }
}

/// What a request that may be repeated is about.
struct RetryKey: Hashable, Sendable {
    let operation: Talaria.Operation
    /// The digest of its job, or its photo.
    let subject: UInt64
}

/// The repetitions of a request in a row.
struct RetryCount: Hashable, Sendable {
    static let none = RetryCount(repeats: 0, waited: .zero)

    var repeats: Int
    /// The sum of the waits before them.
    var waited: Interval

    /// The least sum of the waits. A client that draws each from zero to a ceiling of 0.5 s, which doubles, has less than this
    /// once in 10,000 times.
    var waitedMin: Interval {
        switch self.repeats {
        case ...1: .zero
        case 2: .milliseconds(5)
        case 3: .milliseconds(60)
        case 4: .milliseconds(250)
        case 5: .milliseconds(500)
        case 6: .seconds(1)
        case 7: .milliseconds(1_500)
        default: .seconds(3)
        }
    }
}

/// The requests that have failed and were not repeated yet.
struct RetryChains: Sendable {
    private struct Failure: Sendable {
        let key: RetryKey
        let at: Instant
        let count: RetryCount
    }

    /// The last waits, of all requests.
    private var lastWaits: [Interval] = []
    private static let waitsMax = 6
    /// The number of shorter waits in a row that prove a missing backoff: with draws from zero to 0.5 s, one row in 10,000 is so.
    private static let shortWaits: [(count: Int, limit: Interval)] = [
        (3, .milliseconds(10)), (4, .milliseconds(25)), (5, .milliseconds(50)), (6, .milliseconds(75)),
    ]

    private var failures: [Failure] = []

    /// Whether the client repeats what has failed without any wait.
    var isWithoutWaits: Bool {
        Self.shortWaits.contains { count, limit in
            self.lastWaits.count >= count && self.lastWaits.suffix(count).allSatisfy { $0 < limit }
        }
    }

    mutating func failed(_ key: RetryKey, _ count: RetryCount, at now: Instant) {
        if self.failures.count >= ClientTrialLimits.chainsMax { self.failures.removeFirst() }
        self.failures.append(Failure(key: key, at: now, count: count))
    }

    /// Takes the oldest failure that a request may repeat.
    mutating func repeated(_ key: RetryKey, at now: Instant) -> RetryCount {
        guard let index = self.failures.firstIndex(where: { $0.key == key && $0.at <= now }) else {
            return .none
        }
        let failure = self.failures.remove(at: index)
        if self.lastWaits.count >= Self.waitsMax { self.lastWaits.removeFirst() }
        self.lastWaits.append(now - failure.at)
        return RetryCount(
            repeats: failure.count.repeats + 1, waited: failure.count.waited + (now - failure.at))
    }
}
