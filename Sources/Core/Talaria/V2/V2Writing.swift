package import JSON

// The form of answers and events of v2 (Docs/contract.md sections 3.1 to 3.3), for everything that writes
// them: the simulated backend, the gateway in front of another backend, and the player of recordings.

extension Problem {
    /// The body of this error in v2: its wait is in milliseconds in `details`, and that of a 429 in seconds as well.
    package var v2Body: [UInt8] {
        V2Envelope.failure(
            code: self.code, self.detail, isRetryable: self.retryable,
            retryAfterSeconds: self.status == 429 ? self.retryAfterInSeconds : nil,
            retryAfterMilliseconds: self.retryAfterMs)
    }

    /// The whole seconds that cover `retryAfterMs`.
    package var retryAfterInSeconds: Int64? {
        self.retryAfterMs.map { $0 / 1_000 + ($0 % 1_000).signum() }
    }
}

/// How far a job of v2 has come (Docs/contract.md section 3.3).
package struct JobProgress: Hashable, Sendable {
    /// Photos until the books are identified, then books; rows of an import.
    package var processed = 0
    package var total = 0
    package var thousandths = 0

    package init() {}

    package init(processed: Int, total: Int, thousandths: Int) {
        self.processed = processed
        self.total = total
        self.thousandths = thousandths
    }

    /// What the data of an event say; what they do not say is zero.
    package init(reading bytes: [UInt8]) {
        self.init()
        guard let data = JSONNode(bytes) else { return }
        self.processed = max(0, data["processedCount"]?.integer ?? 0)
        self.total = max(0, data["totalCount"]?.integer ?? 0)
        self.thousandths = ProgressData.thousandths(in: bytes) ?? 0
    }

    /// The members that describe it, before the status and after it.
    package func write(around status: JobStatus, to writer: inout JSONWriter) {
        writer.member("processedCount", self.processed)
        writer.member("progress", thousandths: self.thousandths)
        writer.member("status", status.rawValue)
        writer.member("totalCount", self.total)
    }
}

extension ErrorData {
    /// The data of the last event of a job that failed or was canceled: code, message and retryable are under
    /// the key `error`, next to jobId, the status of the job and, if it is known, its progress.
    package func nested(status: JobStatus, _ progress: JobProgress?) -> [UInt8] {
        JSON.object { writer in
            writer.object("error") { writer in
                writer.member("code", self.code)
                writer.member("message", self.message)
                writer.member("retryable", self.retryable)
            }
            writer.member("jobId", self.jobId)
            if let progress {
                progress.write(around: status, to: &writer)
            } else {
                writer.member("status", status.rawValue)
            }
        }
    }
}

extension ErrorData {
    /// The data of `photoscan.failed`.
    package func dottedScan(job: String, status: JobStatus) -> [UInt8] {
        JSON.object { writer in
            writer.member("error", self.message)
            writer.member("jobId", job)
            writer.member("retryable", self.retryable)
            writer.member("status", status.rawValue)
        }
    }

    /// The data of `enrichment.failed`: the book that the batch had come to, and the progress of the batch in
    /// per cent. Only the error has a member that says whether to try again.
    package func dottedEnrichment(isbn: String, percent: Int, status: JobStatus) -> [UInt8] {
        JSON.object { writer in
            writer.object("error") { writer in
                writer.member("code", self.code)
                writer.member("message", self.message)
                writer.member("retryable", self.retryable)
            }
            writer.member("isbn", isbn)
            writer.member("progress", percent)
            writer.member("status", status.rawValue)
        }
    }
}

extension V2Envelope {
    /// The answer to the DELETE of a job.
    ///
    /// - Parameter timestamp: Milliseconds since 1970.
    package static func canceled(job: String, timestamp: Int64) -> [UInt8] {
        self.success(timestamp: timestamp) { writer in
            writer.object("cleanup") { writer in
                writer.member("kvCacheCleared", true)
                writer.member("r2ObjectsDeleted", 1)
            }
            writer.member("jobId", job)
            writer.member("message", "The job was canceled.")
            writer.member("status", JobStatus.canceled.rawValue)
        }
    }
}
