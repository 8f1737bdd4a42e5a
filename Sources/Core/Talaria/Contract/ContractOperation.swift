/// The contract as values: endpoints, answers, bodies, events and codes (Docs/contract.md sections 1 and 2). What is not
/// here is a finding where it comes up (Docs/design.md section 11.9), and `Docs/talaria-openapi.yaml` is written from it.
package enum Contract {
    /// The version of the contract.
    package static let version = "3.1.0"
}

/// What the contract says of one request.
package struct ContractOperation: Sendable {
    /// An answer.
    package struct Answer: Sendable {
        package enum Body: Sendable {
            case none
            case json(ContractObject)
            case events
            case problem
            /// The events of v2 (Docs/contract.md section 3.3).
            case v2Events
            /// A refusal of v2 (Docs/contract.md section 3.1).
            case v2Error
        }

        package let status: Int
        package let body: Body
        /// One sentence without a full stop.
        package let summary: String
        /// The name of an answer of several operations.
        package let name: String?
    }

    package let operation: Operation
    package let method: String
    /// With `{jobId}` instead of the job.
    package let path: String
    package let id: String
    package let summary: String
    /// In the order of their statuses.
    package let answers: [Answer]

    /// Whether an answer with this status is in the contract.
    package func has(status: Int) -> Bool { self.answers.contains { $0.status == status } }
}

extension ContractOperation.Answer {
    init(_ status: Int, _ body: Body, _ summary: String, name: String? = nil) {
        self.status = status
        self.body = body
        self.summary = summary
        self.name = name
    }

    fileprivate static func success(_ status: Int, _ body: Body, _ summary: String) -> Self {
        Self(status, body, summary)
    }

    fileprivate static func refusal(_ status: Int, _ summary: String, name: String? = nil) -> Self {
        Self(status, .problem, summary, name: name)
    }

    /// Refusals of any request.
    fileprivate static let ofAll = [
        Self.refusal(403, "This server does not serve the caller", name: "Forbidden"),
        Self.refusal(408, "The request did not arrive in time", name: "RequestTimeout"),
        Self.refusal(
            429, "Too many requests; `retryAfterMs` and Retry-After state the wait", name: "TooManyRequests"),
        Self.refusal(431, "The header is too large", name: "HeaderTooLarge"),
        Self.refusal(500, "The server has failed", name: "InternalError"),
        Self.refusal(501, "The server cannot do this", name: "NotImplemented"),
        Self.refusal(502, "A provider, or the way to it, has failed", name: "BadGateway"),
        Self.refusal(
            503, "The server is overloaded, or a circuit breaker is open", name: "Unavailable"),
        Self.refusal(504, "A provider did not answer in time", name: "GatewayTimeout"),
    ]

    /// Refusals of requests for a job, but for the missing job.
    fileprivate static let ofJobs = [
        Self.refusal(
            400, "X-Device-ID is missing or no version 4 UUID, or the request is malformed",
            name: "BadRequest"),
        Self.refusal(401, "The bearer token is missing, wrong or expired", name: "Unauthorized"),
        Self.refusal(410, "The job was cleaned up or has expired", name: "Gone"),
    ]
}

extension ContractOperation {
    private static let jobPath = "/v3/jobs/scans/{jobId}"

    private init(
        _ operation: Operation, _ method: String, _ path: String, id: String, _ summary: String,
        _ answers: [Answer]
    ) {
        self.operation = operation
        self.method = method
        self.path = path
        self.id = id
        self.summary = summary
        self.answers = (answers + Answer.ofAll).sorted { $0.status < $1.status }
    }

    /// All operations, in the order of Docs/contract.md section 1.1.
    package static let all: [ContractOperation] = [
        Self(
            .upload, "POST", "/v3/jobs/scans", id: "uploadPhotos", "Uploads photos of books as one job",
            [
                .success(202, .json(Contract.uploadAccepted), "The photos were accepted"),
                .refusal(
                    400,
                    "X-Device-ID is missing or no version 4 UUID, or the photos are none, too many or other files"
                ),
                .refusal(413, "A photo, or all of them together, are too large"),
            ]),
        Self(
            .stream, "GET", Self.jobPath + "/stream", id: "streamEvents",
            "Streams the events of a job, from Last-Event-ID on",
            [
                .success(200, .events, "Server-sent events until the end of the job"),
                .refusal(400, "Accept does not name text/event-stream, or the request is malformed"),
                .refusal(401, "The bearer token or X-Device-ID is missing, wrong or expired"),
                .refusal(404, "There is no such job"),
                .refusal(410, "The job was cleaned up or has expired", name: "Gone"),
            ]),
        Self(
            .results, "GET", Self.jobPath + "/results", id: "getResults",
            "Returns the books of a completed job",
            [
                .success(200, .json(Contract.results), "The books"),
                .refusal(404, "There is no such job, or it has no results, not yet or not any more"),
            ] + Answer.ofJobs),
        Self(
            .cleanup, "DELETE", Self.jobPath + "/cleanup", id: "cleanUpJob",
            "Removes a job with its photos, token and results",
            [
                .success(204, .none, "The job is removed"),
                .refusal(404, "There is no such job, or it was removed before, which counts as success"),
            ] + Answer.ofJobs),
        Self(
            .status, "GET", Self.jobPath, id: "getStatus",
            "Returns the state of a job, at most once per 2 s and job",
            [
                .success(200, .json(Contract.status), "The state of the job"),
                .refusal(404, "There is no such job"),
            ] + Answer.ofJobs),
        Self(
            .cancel, "DELETE", Self.jobPath, id: "cancelJob",
            "Cancels a job; its streams end with an `error` event of the code CANCELED",
            [
                .success(200, .json(Contract.canceled), "The job is canceled"),
                .refusal(404, "There is no such job"),
                .refusal(409, "The job is completed or has failed"),
            ] + Answer.ofJobs),
    ]

    package static func of(_ operation: Operation) -> ContractOperation? {
        self.all.first { $0.operation == operation }
    }
}
