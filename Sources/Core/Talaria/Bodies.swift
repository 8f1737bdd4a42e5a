/// `metadata` of every enveloped answer.
package struct Metadata: Codable, Hashable, Sendable {
    /// ISO 8601 with milliseconds, UTC.
    package var timestamp: String
    package var requestId: String

    package init(timestamp: String, requestId: String) {
        self.timestamp = timestamp
        self.requestId = requestId
    }
}

/// The 202 answer to an upload (Docs/contract.md section 1.2).
package struct UploadAccepted: Codable, Hashable, Sendable {
    package struct Job: Codable, Hashable, Sendable {
        package var jobId: String
        /// Optional on the wire: a client must survive its absence.
        package var authToken: String?
        /// Relative to the base by the contract; absolute in other dialects. Nil in an older answer of v2, which has
        /// `websocketUrl`.
        package var sseUrl: String?
        /// The address of the WebSocket of a job of v2 (Docs/contract.md section 3.4).
        package var websocketUrl: String?
        package var statusUrl: String?
        /// Absent by the contract.
        package var status: JobStatus?

        package init(jobId: String, authToken: String?, sseUrl: String?, statusUrl: String?) {
            self.jobId = jobId
            self.authToken = authToken
            self.sseUrl = sseUrl
            self.statusUrl = statusUrl
        }
    }

    package struct Link: Codable, Hashable, Sendable {
        package var href: String
        package var method: String?
        package var rel: String?

        package init(href: String, rel: String?, method: String?) {
            self.href = href
            self.rel = rel
            self.method = method
        }
    }

    package struct Links: Codable, Hashable, Sendable {
        package var cancel: Link
        package var `self`: Link
        package var stream: Link

        package init(own: Link, stream: Link, cancel: Link) {
            self.`self` = own
            self.stream = stream
            self.cancel = cancel
        }
    }

    package var success: Bool
    package var data: Job
    package var _links: Links?
    package var metadata: Metadata?

    package init(job: Job, links: Links?, metadata: Metadata?) {
        self.success = true
        self.data = job
        self._links = links
        self.metadata = metadata
    }
}

/// The 200 answer of the results endpoint (Docs/contract.md section 1.3). The key is `results` here and
/// `books` in the `completed` event, on purpose.
package struct ResultsBody: Codable, Hashable, Sendable {
    package struct Results: Codable, Hashable, Sendable {
        package var jobId: String
        package var status: String
        package var results: [Book]
        /// Only OAS has it.
        package var processingTimeMs: Int64?

        package init(jobId: String, status: String, results: [Book]) {
            self.jobId = jobId
            self.status = status
            self.results = results
        }
    }

    package var success: Bool
    package var data: Results

    package init(jobId: String, results: [Book]) {
        self.success = true
        self.data = Results(jobId: jobId, status: JobStatus.completed.rawValue, results: results)
    }
}

/// The answer of `statusUrl` (Docs/contract.md section 1.4).
package struct StatusBody: Codable, Hashable, Sendable {
    package struct Status: Codable, Hashable, Sendable {
        package var jobId: String
        package var status: JobStatus
        /// 0 to 1.
        package var progress: Double
        package var processedCount: Int
        package var totalCount: Int

        package init(jobId: String, status: JobStatus, progress: Double, processedCount: Int, totalCount: Int)
        {
            self.jobId = jobId
            self.status = status
            self.progress = progress
            self.processedCount = processedCount
            self.totalCount = totalCount
        }
    }

    package var success: Bool
    package var data: Status

    package init(_ status: Status) {
        self.success = true
        self.data = status
    }
}

/// The 200 answer to `DELETE /v3/jobs/scans/{jobId}` (Docs/contract.md section 1.1 row 6).
package struct CancelBody: Codable, Hashable, Sendable {
    package struct Canceled: Codable, Hashable, Sendable {
        package var jobId: String
        package var status: JobStatus
    }

    package var success: Bool
    package var data: Canceled

    package init(jobId: String) {
        self.success = true
        self.data = Canceled(jobId: jobId, status: .canceled)
    }
}
