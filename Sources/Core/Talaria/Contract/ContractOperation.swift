/// The contract as values: endpoints, answers, bodies, events and codes (Docs/contract.md sections 1 to 3). What is not
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
            /// A stream, with the events of the version.
            case events
            /// A refusal, in the form of the version.
            case problem
        }

        package let status: Int
        package let body: Body
        /// One sentence without a full stop.
        package let summary: String
        /// The name of an answer of several operations, without that of the version.
        let name: String?
    }

    /// The body of the request.
    enum Body: Sendable {
        case none
        /// A form with a part for each photo.
        case photos
        case file
        case batch
        case json(ContractObject)
    }

    /// The journeys that make this request. They are of one version.
    let journeys: [Journey]
    package let operation: Operation
    /// With `{jobId}` instead of the job.
    package let path: String
    let id: String
    let summary: String
    let body: Body
    /// In the order of their statuses.
    package let answers: [Answer]

    package var version: APIVersion { self.journeys[0].version }

    package var method: String {
        switch self.operation {
        case .upload, .refresh: "POST"
        case .stream, .results, .status: "GET"
        case .cleanup, .cancel: "DELETE"
        }
    }

    /// In its header; an exchange has the old one in its body.
    var hasToken: Bool {
        self.operation != .upload && self.operation != .refresh && !self.journeys[0].isPublic
    }

    /// Whether an answer with this status is in the contract.
    package func has(status: Int) -> Bool { self.answers.contains { $0.status == status } }

    /// The operations on a job that this one accepts.
    var next: [ContractOperation] {
        guard self.operation == .upload else { return [] }
        return Self.all.filter {
            $0.operation != .upload && $0.operation != .refresh && $0.journeys.contains(self.journeys[0])
        }
    }

    /// The name of an answer in the document; nil for an answer of this operation alone.
    func name(of answer: Answer) -> String? {
        switch self.version {
        case .v2: answer.name.map { "V2" + $0 }
        case .v3: answer.name
        }
    }

    private init(
        _ journeys: [Journey], _ operation: Operation, path: String? = nil, id: String, _ summary: String,
        body: Body = .none, _ answers: [Answer]
    ) {
        let job = "{jobId}"
        let endpoint: Endpoint =
            switch operation {
            case .upload: .upload
            case .stream: .stream(jobId: job)
            case .results: .results(jobId: job)
            case .cleanup: .cleanup(jobId: job)
            case .status, .cancel: .job(jobId: job)
            case .refresh: .refresh
            }
        self.journeys = journeys
        self.operation = operation
        self.path = path ?? journeys[0].path(endpoint)
        self.id = id
        self.summary = summary
        self.body = body
        self.answers = (answers + Answer.ofAll(journeys[0].version)).sorted { $0.status < $1.status }
    }
}

extension ContractOperation.Answer {
    fileprivate static func success(_ status: Int, _ body: Body, _ summary: String) -> Self {
        Self(status: status, body: body, summary: summary, name: nil)
    }

    fileprivate static func refusal(_ status: Int, _ summary: String, name: String? = nil) -> Self {
        Self(status: status, body: .problem, summary: summary, name: name)
    }

    /// Refusals of any request.
    fileprivate static func ofAll(_ version: APIVersion) -> [Self] {
        switch version {
        case .v2:
            Self.ofBothVersions + [
                .refusal(400, "The request is malformed", name: "BadRequest"),
                .refusal(429, "Too many requests; Retry-After states the wait", name: "TooManyRequests"),
            ]
        case .v3:
            Self.ofBothVersions + [
                .refusal(
                    429, "Too many requests; `retryAfterMs` and Retry-After state the wait",
                    name: "TooManyRequests")
            ]
        }
    }

    private static let ofBothVersions = [
        Self.refusal(403, "This server does not serve the caller", name: "Forbidden"),
        Self.refusal(408, "The request did not arrive in time", name: "RequestTimeout"),
        Self.refusal(431, "The header is too large", name: "HeaderTooLarge"),
        Self.refusal(500, "The server has failed", name: "InternalError"),
        Self.refusal(501, "The server cannot do this", name: "NotImplemented"),
        Self.refusal(502, "A provider, or the way to it, has failed", name: "BadGateway"),
        Self.refusal(
            503, "The server is overloaded, or a circuit breaker is open", name: "Unavailable"),
        Self.refusal(504, "A provider did not answer in time", name: "GatewayTimeout"),
    ]

    /// Refusals of requests of v3 for a job, but for the missing job.
    fileprivate static let ofJobs = [
        Self.refusal(
            400, "X-Device-ID is missing or no version 4 UUID, or the request is malformed",
            name: "BadRequest"),
        Self.refusal(401, "The bearer token is missing, wrong or expired", name: "Unauthorized"),
        Self.refusal(410, "The job was cleaned up or has expired", name: "Gone"),
    ]

    /// Refusals of requests of v2 for a job.
    fileprivate static let ofV2Jobs = [
        Self.refusal(401, "The token is missing, wrong or expired", name: "Unauthorized"),
        Self.refusal(404, "There is no such job, or no results, not yet or not any more", name: "NotFound"),
    ]

    fileprivate static let tooLarge = Self.refusal(413, "The body is too large", name: "TooLarge")
}

extension ContractOperation {
    /// All operations, in the order of Docs/contract.md sections 1.1 and 3.2.
    package static let all = Self.v3 + Self.scans + Self.enrichments + Self.imports + Self.others

    private static let v3 = [
        Self(
            [.scan], .upload, id: "uploadPhotos", "Uploads photos of books as one job", body: .photos,
            [
                .success(202, .json(Contract.uploadAccepted), "The photos were accepted"),
                .refusal(
                    400,
                    "X-Device-ID is missing or no version 4 UUID, or the photos are none, too many or other files"
                ),
                .refusal(413, "A photo, or all of them together, are too large"),
            ]),
        Self(
            [.scan], .stream, id: "streamEvents", "Streams the events of a job, from Last-Event-ID on",
            [
                .success(200, .events, "Server-sent events until the end of the job"),
                .refusal(400, "Accept does not name text/event-stream, or the request is malformed"),
                .refusal(401, "The bearer token or X-Device-ID is missing, wrong or expired"),
                .refusal(404, "There is no such job"),
                .refusal(410, "The job was cleaned up or has expired", name: "Gone"),
            ]),
        Self(
            [.scan], .results, id: "getResults", "Returns the books of a completed job",
            [
                .success(200, .json(Contract.results), "The books"),
                .refusal(404, "There is no such job, or it has no results, not yet or not any more"),
            ] + Answer.ofJobs),
        Self(
            [.scan], .cleanup, id: "cleanUpJob", "Removes a job with its photos, token and results",
            [
                .success(204, .none, "The job is removed"),
                .refusal(404, "There is no such job, or it was removed before, which counts as success"),
            ] + Answer.ofJobs),
        Self(
            [.scan], .status, id: "getStatus", "Returns the state of a job, at most once per 2 s and job",
            [
                .success(200, .json(Contract.status), "The state of the job"),
                .refusal(404, "There is no such job"),
            ] + Answer.ofJobs),
        Self(
            [.textEnrichment], .upload, id: "enrichText",
            "Looks up a book by the text that was read from its spine", body: .json(Contract.textRequest),
            [
                .success(200, .json(Contract.enriched), "What was found"),
                .refusal(400, "The request is malformed", name: "BadRequest"), .tooLarge,
                .refusal(404, "There is no look-up by text"), .refusal(405, "There is no look-up by text"),
            ]),
        Self(
            [.scan], .cancel, id: "cancelJob",
            "Cancels a job; its streams end with an `error` event of the code CANCELED",
            [
                .success(200, .json(Contract.canceled), "The job is canceled"),
                .refusal(404, "There is no such job"),
                .refusal(409, "The job is completed or has failed"),
            ] + Answer.ofJobs),
    ]

    private static let scans =
        [
            Self(
                [.bookshelfScan], .upload, id: "uploadShelf", "Uploads photos of a shelf as one job",
                body: .photos,
                [.success(202, .json(Contract.v2Accepted), "The photos were accepted"), .tooLarge])
        ] + Self.job(.bookshelfScan, "Scan", Contract.v2Books)

    private static let enrichments =
        [
            (nil, "enrichBooks"), (Journey.batchEnrichment.otherUploadPath, "enrichBooksByOlderPath"),
        ].map { path, id in
            Self(
                [.batchEnrichment], .upload, path: path, id: id, "Looks up to 100 books up as one job",
                body: .batch,
                [.success(202, .json(Contract.v2Accepted), "The batch was accepted"), .tooLarge])
        } + Self.job(.batchEnrichment, "Enrichment", Contract.v2Books)

    private static let imports =
        [
            Self(
                [.csvImport], .upload, id: "importLibrary", "Imports a library file (CSV) as one job",
                body: .file,
                [.success(202, .json(Contract.v2Accepted), "The file was accepted"), .tooLarge])
        ] + Self.job(.csvImport, "Import", Contract.v2Import)

    private static let others = [
        Self(
            Journey.all(.v2).filter(\.hasJobs), .cleanup, id: "cancelV2Job",
            "Cancels a job of v2 and removes its results",
            [.success(200, .json(Contract.v2Canceled), "The job is canceled, or was over")]
                + Answer.ofV2Jobs),
        Self(
            Journey.all(.v2).filter(\.hasJobs), .refresh, id: "refreshToken",
            "Exchanges the token of a job in the last 30 minutes of its life",
            body: .json(Contract.v2OldToken),
            [.success(200, .json(Contract.v2NewToken), "The new token; the old one is good for 5 minutes")]
                + Answer.ofV2Jobs),
        Self(
            [.bookEnrichment], .upload, id: "enrichBook", "Looks up the book of a barcode",
            body: .json(Contract.v2Barcode),
            [
                .success(200, .json(Contract.v2Book), "The book"),
                .refusal(404, "No provider has the book", name: "UnknownBook"), .tooLarge,
            ]),
    ]

    /// Status, stream and results of a job of v2. A token that is shown is looked at, even where none is needed.
    private static func job(_ journey: Journey, _ name: String, _ results: ContractObject) -> [Self] {
        let refusals = Answer.ofV2Jobs + [.refusal(410, "The job was canceled or has expired", name: "Gone")]
        return [
            Self(
                [journey], .status, id: "get\(name)Status", "Returns the state of the job",
                [.success(200, .json(Contract.v2Status), "The state of the job")] + refusals),
            Self(
                [journey], .stream, id: "stream\(name)",
                "Streams the events of the job, from Last-Event-ID on",
                [.success(200, .events, "Server-sent events until the end of the job")] + refusals),
            Self(
                [journey], .results, id: "get\(name)Results", "Returns the results of the completed job",
                [.success(200, .json(results), "The results")] + refusals),
        ]
    }
}

extension Journey {
    /// What the contract says of one of its requests; nil for a request that it does not have. v2 has one DELETE.
    package func contract(of operation: Operation) -> ContractOperation? {
        let operation = self.version == .v2 ? operation.counted : operation
        return ContractOperation.all.first { $0.operation == operation && $0.journeys.contains(self) }
    }
}
