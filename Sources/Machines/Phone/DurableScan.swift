import SimBase
package import Talaria

/// The durable record of one unsettled scan: enough for a fresh process to continue from.
package struct DurableScan: Hashable, Sendable {
    package var scan: UInt32
    package var photo: Int
    /// The time of the capture by the run's wall clock, milliseconds since 1970: the order of the queue. The
    /// phone's own clock may be wrong and jump.
    package var capturedUnixMs: Int64
    /// The scheduled time of the capture by the same clock, nanoseconds since 1970: its completion is
    /// measured from it. Nil in a record of an older version: then the capture was on time.
    package var scheduledUnixNs: Int64?
    /// The scheduled time of the next upload by the same clock. Nil: when the app is opened, or the path
    /// returns.
    package var uploadDueUnixNs: Int64?
    /// The time at which the user cancels the scan by the same clock; nil if that is not to be, or not drawn yet.
    package var cancelDueUnixNs: Int64?
    /// The running job, if any, with what is needed to return to its stream.
    package var job: DurableJob?
    /// The books of the scan that are already in the library, in the order in which they entered it.
    package var booksApplied: [Book]
    /// Why it waits.
    package var cause: String
    /// Uploads of this scan so far; attempts never start over.
    package var attempts: DurableAttempts
    /// Answers so far that count towards a limit.
    package var tokenExpiries: Int
    package var retryableErrors: Int
    /// Set once every book is in the library and only the DELETE is left to do.
    package var completed: Bool
    /// Set, with the code that was shown, once the scan was refused, removed or canceled, and only the DELETE is left to do.
    package var refusal: String?
    /// The user has canceled it. The code alone does not say so: a server may give any.
    package var isCanceled = false
    /// The number of its photos, which are the parts of one upload.
    package var photos = 1
    /// What the app does with it.
    package var journey = Journey.scan
    /// What its library file contains, once that is known.
    package var file: LibraryContent?
    /// The app has it in memory only: it goes with the process, as if it had not been written.
    package var isVolatile = false

    package init(
        scan: UInt32, photo: Int, capturedUnixMs: Int64, scheduledUnixNs: Int64? = nil,
        uploadDueUnixNs: Int64? = nil, job: DurableJob?, booksApplied: [Book], cause: String,
        attempts: DurableAttempts, tokenExpiries: Int, retryableErrors: Int, completed: Bool, refusal: String?
    ) {
        self.scan = scan
        self.photo = photo
        self.capturedUnixMs = capturedUnixMs
        self.scheduledUnixNs = scheduledUnixNs
        self.uploadDueUnixNs = uploadDueUnixNs
        self.job = job
        self.booksApplied = booksApplied
        self.cause = cause
        self.attempts = attempts
        self.tokenExpiries = tokenExpiries
        self.retryableErrors = retryableErrors
        self.completed = completed
        self.refusal = refusal
    }

    /// Records that its user has canceled it.
    mutating func cancel() {
        self.refusal = AppLimits.canceledCode
        self.isCanceled = true
    }
}

/// The durable half of a running job.
package struct DurableJob: Hashable, Sendable {
    package var jobId: String
    package var authToken: String?
    /// The address of its stream, or of its WebSocket.
    package var sseUrl: String
    package var lastEventID: String
    package var transport: StreamTransport
    /// Requests for streams that the scan made for earlier jobs.
    package var earlierStreams: UInt32 = 0
    /// When its token is to be exchanged, by the run's wall clock, nanoseconds since 1970; nil if it is not.
    package var refreshDueUnixNs: Int64?

    package init(
        jobId: String, authToken: String?, sseUrl: String, lastEventID: String,
        transport: StreamTransport = .sse
    ) {
        self.transport = transport
        self.jobId = jobId
        self.authToken = authToken
        self.sseUrl = sseUrl
        self.lastEventID = lastEventID
    }
}

/// Requests made, or about to be made, so far for a scan, by operation.
package struct DurableAttempts: Hashable, Sendable {
    package var upload: UInt32 = 0
    package var stream: UInt32 = 0
    package var results: UInt32 = 0
    package var cleanup: UInt32 = 0
    package var status: UInt32 = 0
    package var refresh: UInt32 = 0

    package init() {}
}
