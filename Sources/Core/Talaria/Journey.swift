/// What a phone has a backend do, and by which endpoints (Docs/contract.md sections 1.1 and 3.2).
package enum Journey: String, CaseIterable, Hashable, Sendable {
    /// Photos of books, by the endpoints of v3.
    case scan
    /// Photos of books, by those of v2.
    case bookshelfScan = "bookshelf-scan"
    /// Books whose metadata are looked up, by those of v2.
    case batchEnrichment = "batch-enrichment"
    /// A library file whose rows become books, by those of v2.
    case csvImport = "csv-import"
    /// A barcode whose book is looked up at once, without a job, by v2.
    case bookEnrichment = "book-enrichment"
    /// A book that the phone has read by itself, and whose metadata are looked up at once, without a job, by v3.
    case textEnrichment = "text-enrichment"

    /// Nil for an event that no client of the journey knows. Some know v2 by dotted names.
    package func kind(ofEvent name: String) -> EventKind? {
        switch self.version {
        case .v2: EventKind(v2Name: name) ?? DottedEventName.kind(of: name)
        case .v3: EventKind(eventName: name)
        }
    }

    /// The version of its endpoints, which decides the form of its answers and streams.
    package var version: APIVersion {
        switch self {
        case .scan, .textEnrichment: .v3
        case .bookshelfScan, .batchEnrichment, .csvImport, .bookEnrichment: .v2
        }
    }

    /// The journeys of a version.
    package static func all(_ version: APIVersion) -> [Journey] {
        self.allCases.filter { $0.version == version }
    }

    /// The body of an upload.
    package enum Payload: Hashable, Sendable {
        /// A form with a part for each photo.
        case photos
        /// A JSON object.
        case json
        /// A form whose one part is a file.
        case file

        package var contentType: StaticString {
            switch self {
            case .photos: "image/jpeg"
            case .json: "application/json"
            case .file: "text/csv"
            }
        }
    }

    package var payload: Payload {
        switch self {
        case .scan, .bookshelfScan: .photos
        case .batchEnrichment, .bookEnrichment, .textEnrichment: .json
        case .csvImport: .file
        }
    }

    /// Whether its upload is photos, and not a document.
    package var hasPhotos: Bool { self.payload == .photos }

    /// Whether the user takes a photo for it: one that is uploaded, or one that the phone reads by itself.
    package var takesPhotos: Bool { self.hasPhotos || self == .textEnrichment }

    /// Whether what a job says of itself is for everybody (Docs/contract.md section 3.2). A token that is shown is looked at all
    /// the same.
    package var isPublic: Bool {
        switch self {
        case .scan, .bookshelfScan, .batchEnrichment, .bookEnrichment, .textEnrichment: false
        case .csvImport: true
        }
    }

    /// Whether its results are books.
    package var findsBooks: Bool {
        switch self {
        case .scan, .bookshelfScan, .batchEnrichment, .bookEnrichment, .textEnrichment: true
        case .csvImport: false
        }
    }

    /// Whether an upload becomes a job with a stream and results. Without one, the answer to the upload is all.
    package var hasJobs: Bool {
        switch self {
        case .scan, .bookshelfScan, .batchEnrichment, .csvImport: true
        case .bookEnrichment, .textEnrichment: false
        }
    }

    /// Whether its jobs can be followed by WebSocket as well (Docs/contract.md section 3.4).
    package var canBeFollowedByWebSocket: Bool { self.hasJobs && self.version == .v2 }

    /// The path of one of its endpoints, without a query.
    package func path(_ endpoint: Endpoint) -> String {
        if self == .textEnrichment, endpoint == .upload { return TextRequest.path }
        guard let paths = V2Paths.of(self) else { return endpoint.path }
        return paths.path(endpoint)
    }

    /// Another path of its upload, which older clients use; nil if there is none.
    package var otherUploadPath: String? { V2Paths.of(self)?.otherUpload }

    /// What the ids of its jobs begin with.
    package var jobPrefix: String { V2Paths.of(self)?.jobPrefix ?? "" }
}

/// A path of the API: an endpoint, and whose it is.
package struct JourneyPath: Hashable, Sendable {
    package let journey: Journey
    package let endpoint: Endpoint
    /// A path of older clients, by which a job is canceled with POST.
    package private(set) var isCancelByPost = false
    /// The WebSocket of its job, and not its event stream.
    package private(set) var isSocket = false
    /// The operation of a path that is none of the contract (`PathMap`).
    package private(set) var foreignOperation: Operation?

    package init(_ journey: Journey, _ endpoint: Endpoint) {
        self.journey = journey
        self.endpoint = endpoint
    }

    /// A path that is none of the contract. It stands for its job, so that faults of a job act on all that have the path.
    init(foreign path: String, as operation: Operation) {
        let endpoint: Endpoint =
            switch operation {
            case .upload: .upload
            case .stream: .stream(jobId: path)
            case .results: .results(jobId: path)
            case .cleanup: .cleanup(jobId: path)
            case .status, .cancel: .job(jobId: path)
            case .refresh: .refresh
            }
        self.init(.scan, endpoint)
        self.foreignOperation = operation
    }

    /// The journey whose job is named by the query of a WebSocket; that of any other path. Nil for a path of no journey.
    package init?(path: String, query: String?) {
        guard path == ProgressSocket.path else {
            self.init(path: path)
            return
        }
        guard let job = ProgressSocket.field("jobId", in: query).map(String.init), Endpoint.isJobID(job),
            let paths = V2Paths.all.first(where: { $0.jobPrefix.map { job.hasPrefix($0) } ?? false })
        else { return nil }
        self.init(paths.journey, .stream(jobId: job))
        self.isSocket = true
    }

    /// A path with its query, if it has one.
    package init?(target: String) {
        let path = Endpoint.path(ofTarget: target)
        let hasQuery = path.utf8.count < target.utf8.count
        let query =
            hasQuery ? String(decoding: target.utf8.dropFirst(path.utf8.count + 1), as: UTF8.self) : nil
        self.init(path: path, query: query)
    }

    /// Nil for a path of no journey.
    package init?(path: String) {
        if let endpoint = Endpoint(path: path) {
            self.init(.scan, endpoint)
            return
        }
        if path == TextRequest.path {
            self.init(.textEnrichment, .upload)
            return
        }
        if path == TokenRefresh.path {
            // Its body says of which journey.
            self.init(.bookshelfScan, .refresh)
            return
        }
        guard APIVersion(path: path) == .v2 else { return nil }
        for paths in V2Paths.all {
            guard let endpoint = paths.endpoint(path) else { continue }
            self.init(paths.journey, endpoint)
            self.isCancelByPost = paths.isCancelByPost(path)
            return
        }
        return nil
    }

    package var path: String {
        self.isSocket ? ProgressSocket.path : self.journey.path(self.endpoint)
    }
}
