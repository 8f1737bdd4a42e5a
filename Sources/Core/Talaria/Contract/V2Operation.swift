/// What the contract says of one request of v2 (Docs/contract.md section 3.2).
struct V2Operation: Sendable {
    typealias Answer = ContractOperation.Answer

    enum Body: Sendable {
        case none
        /// A form with one part of this name; several where it is photos.
        case photos
        case file
        case batch
        case json(ContractObject)
    }

    let method: String
    /// With `{jobId}` instead of the job.
    let path: String
    let id: String
    let summary: String
    let body: Body
    let hasToken: Bool
    /// In the order of their statuses.
    let answers: [Answer]

    /// The ids of the operations on a job that this one accepts.
    var next: [String] {
        let name: String
        switch self.body {
        case .photos: name = "Scan"
        case .batch: name = "Enrichment"
        case .file: name = "Import"
        case .none, .json: return []
        }
        return ["get\(name)Status", "stream\(name)", "get\(name)Results", "cancelV2Job"]
    }

    private init(
        _ method: String, _ path: String, id: String, _ summary: String, body: Body = .none,
        hasToken: Bool = false, _ answers: [Answer]
    ) {
        self.method = method
        self.path = path
        self.id = id
        self.summary = summary
        self.body = body
        self.hasToken = hasToken
        self.answers = (answers + Self.refusals).sorted { $0.status < $1.status }
    }

    // MARK: Answers

    /// Refusals of any request.
    private static let refusals = [
        Answer(400, .v2Error, "The request is malformed", name: "V2BadRequest"),
        Answer(403, .v2Error, "This server does not serve the caller", name: "V2Forbidden"),
        Answer(408, .v2Error, "The request did not arrive in time", name: "V2RequestTimeout"),
        Answer(429, .v2Error, "Too many requests; Retry-After states the wait", name: "V2TooManyRequests"),
        Answer(431, .v2Error, "The header is too large", name: "V2HeaderTooLarge"),
        Answer(500, .v2Error, "The server has failed", name: "V2InternalError"),
        Answer(501, .v2Error, "The server cannot do this", name: "V2NotImplemented"),
        Answer(502, .v2Error, "A provider, or the way to it, has failed", name: "V2BadGateway"),
        Answer(
            503, .v2Error, "The server is overloaded, or a circuit breaker is open", name: "V2Unavailable"),
        Answer(504, .v2Error, "A provider did not answer in time", name: "V2GatewayTimeout"),
    ]

    private static let tooLarge = Answer(413, .v2Error, "The body is too large", name: "V2TooLarge")
    private static let unauthorized = Answer(
        401, .v2Error, "The token is missing, wrong or expired", name: "V2Unauthorized")
    private static let notFound = Answer(
        404, .v2Error, "There is no such job, or no results, not yet or not any more", name: "V2NotFound")
    private static let gone = Answer(410, .v2Error, "The job was canceled or has expired", name: "V2Gone")

    // MARK: Operations

    static let all: [V2Operation] =
        Self.scans + Self.enrichments + Self.imports + [
            V2Operation(
                "DELETE", "/v1/jobs/{jobId}", id: "cancelV2Job",
                "Cancels a job of v2 and removes its results",
                hasToken: true,
                [
                    Answer(200, .json(Contract.v2Canceled), "The job is canceled, or was over"),
                    Self.unauthorized,
                    Self.notFound,
                ]),
            V2Operation(
                "POST", EnrichmentRequest.path, id: "enrichBook", "Looks up the book of a barcode",
                body: .json(Contract.v2Barcode),
                [
                    Answer(200, .json(Contract.v2Book), "The book"),
                    Answer(404, .v2Error, "No provider has the book", name: "V2UnknownBook"), Self.tooLarge,
                ]),
        ]

    private static let scans =
        [
            V2Operation(
                "POST", "/api/batch-scan", id: "uploadShelf", "Uploads photos of a shelf as one job",
                body: .photos,
                [Answer(202, .json(Contract.v2Accepted), "The photos were accepted"), Self.tooLarge])
        ] + Self.job("/api/v2/scans", "Scan", hasToken: true, Contract.v2Books)

    private static let enrichments =
        [("/api/batch-enrich", "enrichBooks"), ("/v1/enrichment/batch", "enrichBooksByOlderPath")].map {
            V2Operation(
                "POST", $0.0, id: $0.1, "Looks up to 100 books up as one job", body: .batch,
                [Answer(202, .json(Contract.v2Accepted), "The batch was accepted"), Self.tooLarge])
        } + Self.job("/api/v2/enrichments", "Enrichment", hasToken: true, Contract.v2Books)

    private static let imports =
        [
            V2Operation(
                "POST", "/api/v2/imports", id: "importLibrary",
                "Imports a library file (CSV) as one job",
                body: .file,
                [Answer(202, .json(Contract.v2Accepted), "The file was accepted"), Self.tooLarge])
        ] + Self.job("/api/v2/imports", "Import", hasToken: false, Contract.v2Import)

    /// Status, stream and results of a job.
    private static func job(
        _ folder: String, _ name: String, hasToken: Bool, _ results: ContractObject
    ) -> [V2Operation] {
        // A token that is shown is looked at, even where none is needed.
        let refusals = [Self.notFound, Self.unauthorized, Self.gone]
        return [
            V2Operation(
                "GET", folder + "/{jobId}", id: "get\(name)Status", "Returns the state of the job",
                hasToken: hasToken,
                [Answer(200, .json(Contract.v2Status), "The state of the job")] + refusals),
            V2Operation(
                "GET", folder + "/{jobId}/stream", id: "stream\(name)",
                "Streams the events of the job, from Last-Event-ID on", hasToken: hasToken,
                [Answer(200, .v2Events, "Server-sent events until the end of the job")] + refusals),
            V2Operation(
                "GET", folder + "/{jobId}/results", id: "get\(name)Results",
                "Returns the results of the completed job", hasToken: hasToken,
                [Answer(200, .json(results), "The results")] + refusals),
        ]
    }
}

extension Journey {
    /// What the contract says of an operation of v2; nil for v3.
    func v2Operation(_ operation: Operation) -> V2Operation? {
        guard self.isV2 else { return nil }
        let job = "{jobId}"
        let (method, endpoint): (String, Endpoint) =
            switch operation {
            case .upload: ("POST", .upload)
            case .stream: ("GET", .stream(jobId: job))
            case .results: ("GET", .results(jobId: job))
            case .status: ("GET", .job(jobId: job))
            case .cleanup, .cancel: ("DELETE", .cleanup(jobId: job))
            }
        let path = self.path(endpoint)
        return V2Operation.all.first { $0.method == method && $0.path == path }
    }

    /// Whether an answer with this status is in the contract; nil for an operation that is not.
    package func hasAnswer(_ status: Int, to operation: Operation) -> Bool? {
        guard self.isV2 else { return ContractOperation.of(operation)?.has(status: status) }
        return self.v2Operation(operation).map { $0.answers.contains { $0.status == status } }
    }

    /// The content type of a refusal.
    package var problemType: String { self.isV2 ? Contract.jsonType : Problem.contentType }
}
