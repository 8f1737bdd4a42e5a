import SimBase

/// The requests of a client, which its device id identifies, as far as the rules need them.
struct FollowedClient: Sendable {
    /// A period without uploads that the server requested.
    struct UploadWait: Sendable {
        var from: Instant
        var until: Instant
        /// The identities of the photos that were refused.
        var photos: [UInt64]
    }

    /// The outcomes of the uploads of a photo.
    struct Photo: Sendable {
        let identity: UInt64
        /// The end of its last job or upload that failed.
        var failedAt: Instant?
        var isFinal = false
        /// Automatic uploads after retryable errors, in a row.
        var retries = 0
        /// Whether several scans have the photo. An upload of it is then not always a repetition.
        var isShared = false
        /// The end of the wait that a refusal of the photo requested, in addition to that of a rate limit.
        var waitsUntil: Instant?
        /// Consecutive uploads while a job of the photo existed and was not read.
        var needless = 0
        /// The ids of its last jobs.
        var jobs: [String] = []
    }

    /// Is nil for requests without a device id.
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
