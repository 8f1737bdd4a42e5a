package import SimBase
package import Talaria

// How a client makes requests and reads what is wrong with their answers.

/// The device id of each request (Docs/contract.md section 1.1, Docs/apps.md sections 4.9 and 5).
package struct IdentityPolicy: Hashable, Sendable {
    package var upload = DeviceIDSource.persistent
    package var stream = DeviceIDSource.persistent
    package var results = DeviceIDSource.persistent
    package var cleanup = DeviceIDSource.persistent
}

/// The origin of the device id in a request.
package enum DeviceIDSource: String, CaseIterable, Hashable, Sendable {
    /// One id for all requests of an installation.
    case persistent
    /// A new id for each scan.
    case perScan = "per-scan"
    /// The id of an object that is created for each scan: another one than that of `perScan`.
    case perService = "per-service"
    /// The header is missing.
    case absent
}

/// The upload of a photo (Docs/contract.md section 1.1, row 1).
package struct UploadPolicy: Hashable, Sendable {
    /// Whether the user is shown the code of a refusal. Off: a text that is the same for all.
    package var showsCode = true
    package var userAgent = "SwiftWing/1.0 iOS/26.0"
    package var problems = ProblemReadingPolicy.decoded
    /// Whether a failed upload that is not the scan's fault is made again. Off: the scan has failed.
    package var isRepeated = true
    /// The failed uploads in a row that are made again; then the scan has failed. Nil for no limit.
    package var retriesMax: Int?
    /// Whether a scan whose upload met a rate limit is uploaded again after the wait. Off: it has failed.
    package var repeatsLimited = true
    /// The photos of one scan, which are the parts of one upload; drawn for each scan.
    package var photos = 1...1
    /// The regions that the app finds in a photo, each a scan with an upload of its own; drawn for each capture.
    package var regions = 1...1
    /// The name of the part that is the photo.
    package var part = "photos[]"
    /// Whether an answer whose body says that it is not retryable is final, whatever its status.
    package var obeysRetryable = false
    /// Whether an upload is made once more, by the other path that its journey has, where its path or its method is unknown.
    package var fallsBack = false
    package var answer = UploadAnswerForm.contract
    /// The form in which a look-up by text is read (Docs/contract.md section 7, C24).
    package var enrichment = Enrichment.Form.nested
    /// Whether books that the phone has read are looked up (seed 002, `useTalariaTextEnrichment`). Off: they stay as they were
    /// read.
    package var enriches = true
    /// A reading with less confidence, in percent, is not looked up: its photo is uploaded.
    package var photoBelow = 0
}

/// The answers to an upload that a client takes for a success (Docs/contract.md section 1.2, Docs/apps.md section 6.1).
package enum UploadAnswerForm: String, CaseIterable, Hashable, Sendable {
    /// 200 or 202, with the job under `data`.
    case contract
    /// 202 alone, with `jobId` and `streamUrl` at the top level and without a token.
    case flat
    /// 200 or 202, with the job under `data` and its token as `authToken` or `token` (Docs/contract.md section 3.1).
    case v2
}

/// What a client reads of the body of a 4xx or 5xx answer (Docs/contract.md section 1.7).
package enum ProblemReadingPolicy: String, CaseIterable, Hashable, Sendable {
    /// `code`, `retryable` and `retryAfterMs` are acted on.
    case decoded
    /// The body is not read: nothing but the status is known, and a wait only from the header.
    case ignored
}

/// The waits that a server requests (Docs/contract.md section 1.8).
package struct WaitPolicy: Hashable, Sendable {
    /// After a 429 that names no time.
    package var rateLimitDefault = Interval.seconds(60)
    /// After `CIRCUIT_OPEN` that names no time. Nil: the backoff alone.
    package var circuitDefault: Interval?
    /// Whether a later 429 sets the wait again, even to an earlier time. Off: it only prolongs it.
    package var isSetAnew = false
    /// Whether `Retry-After` comes before `retryAfterMs`.
    package var prefersHeader = false
    /// Whether `Retry-After` counts where a problem document has no `retryAfterMs`.
    package var usesHeader = true
}

/// The times without a response after which requests are given up, where they are not `ClientProfile.requestTimeout`.
package struct TimeoutPolicy: Hashable, Sendable {
    /// The timeouts of uploads, by what is uploaded: photos, a JSON document, or a file.
    package var photos: Interval?
    package var document: Interval?
    package var file: Interval?
    package var results: Interval?
    package var status: Interval?
    package var cleanup: Interval?

    package init() {}
}

/// The requests for the status of a job (Docs/contract.md section 1.4, Docs/apps.md section 4.13).
package struct StatusPolicy: Hashable, Sendable {
    package var polling = StatusPolling.off
    /// The time from an answer to the next request. The contract allows one request in 2 s.
    package var interval = ContractLimit.statusPollMin
    /// The requests for the status of one job, from a launch on; then its scan waits for the next launch.
    package var requestsMax = 75
    /// The failures in a row that are tolerated; after the next one the scan waits for the next launch.
    package var failuresMax = 4
}

/// When a client requests the status of a job instead of reading its stream.
package enum StatusPolling: String, CaseIterable, Hashable, Sendable {
    /// Never: a lost stream is opened again.
    case off
    /// From the first loss of its stream on.
    case afterLoss = "after-loss"
    /// From the upload on: no stream is opened.
    case always
}

/// The token of a job (Docs/contract.md section 2.5).
package struct TokenPolicy: Hashable, Sendable {
    package var expiry = TokenExpiryPolicy.uploadsAgain
    /// Uploads of one scan that a 401 or a vanished job may cause.
    package var uploadsMax = 3
    /// Where a request for a stream has the token.
    package var stream = TokenPlace.header
    /// How long after the upload the token of a job that is followed by WebSocket is exchanged for a new one; nil for a client
    /// that does not. An answer that names the life of the new token sets the next time.
    package var refreshAfter: Interval? = ContractLimit.tokenLifetime - TokenRefresh.window
}

/// Where a request has its token (Docs/contract.md section 7, C13).
package enum TokenPlace: String, CaseIterable, Hashable, Sendable {
    /// `Authorization: Bearer`.
    case header
    /// `?token=`, and no header.
    case query
}

/// What a 401 on stream or results means to a client.
package enum TokenExpiryPolicy: String, CaseIterable, Hashable, Sendable {
    /// The token has expired: the scan is uploaded again.
    case uploadsAgain = "uploads-again"
    /// A failed request like any other: tried again with the same token, a limited number of times.
    case unknown
}

/// The user who cancels scans (Docs/design.md section 5).
package struct CancelPolicy: Hashable, Sendable {
    /// The scans that the user cancels, unless they are over before. Drawn for each scan.
    package var chance = Odds.never
    /// The time from the first 202 of a scan to its cancel. Drawn for each scan.
    package var after = Interval.seconds(1)...Interval.seconds(5)

    package init() {}

    package var isMade: Bool { self.chance > .never }
}

/// The DELETE of a job (Docs/contract.md section 1.1, row 4).
package struct CleanupPolicy: Hashable, Sendable {
    /// Whether a job is deleted after its books are durable.
    package var isMade = true
    /// Whether a job is deleted that its scan does not need any more without having its books.
    package var isMadeAfterFailure = true
    /// Requests that one DELETE may take; then the job is abandoned to its expiry.
    package var requestsMax = 8
}
