/// What a phone has a backend do, and by which endpoints (Docs/contract.md sections 1.1 and 3.2).
package enum Journey: String, CaseIterable, Hashable, Sendable {
    /// Photos of books, by the endpoints of v3.
    case scan
    /// Photos of books, by those of v2.
    case bookshelfScan = "bookshelf-scan"
    /// Books whose metadata are looked up, by those of v2.
    case batchEnrichment = "batch-enrichment"

    /// Whether its answers have the envelope of v2, and its streams the events of v2.
    package var isV2: Bool {
        switch self {
        case .scan: false
        case .bookshelfScan, .batchEnrichment: true
        }
    }

    /// Whether its upload is photos, and not a document.
    package var hasPhotos: Bool {
        switch self {
        case .scan, .bookshelfScan: true
        case .batchEnrichment: false
        }
    }

    /// The path of one of its endpoints, without a query.
    package func path(_ endpoint: Endpoint) -> String {
        guard let paths = V2Paths.of(self) else { return endpoint.path }
        return paths.path(endpoint)
    }

    /// What the ids of its jobs begin with.
    package var jobPrefix: String { V2Paths.of(self)?.jobPrefix ?? "" }
}

/// A path of the API: an endpoint, and whose it is.
package struct JourneyPath: Hashable, Sendable {
    package let journey: Journey
    package let endpoint: Endpoint

    package init(_ journey: Journey, _ endpoint: Endpoint) {
        self.journey = journey
        self.endpoint = endpoint
    }

    /// Nil for a path of no journey.
    package init?(path: String) {
        if let endpoint = Endpoint(path: path) {
            self.init(.scan, endpoint)
            return
        }
        guard V2Envelope.isPath(path) else { return nil }
        for paths in V2Paths.all {
            guard let endpoint = paths.endpoint(path) else { continue }
            self.init(paths.journey, endpoint)
            return
        }
        return nil
    }

    package var path: String { self.journey.path(self.endpoint) }
}
