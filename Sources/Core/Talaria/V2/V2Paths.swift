/// The paths of one journey of v2 (Docs/contract.md section 3.2). Its cleanup is the DELETE by which a client cancels. A class,
/// so that passing it on counts one reference.
final class V2Paths: Sendable {
    let journey: Journey
    /// The path of the upload.
    let upload: String
    /// Another path of it, which older clients use.
    let otherUpload: String?
    /// The folder of its jobs; nil for a journey without jobs.
    let jobs: String?
    /// What the ids of its jobs begin with: the paths below `/v1/jobs` are those of all journeys.
    let jobPrefix: String?
    /// Whether its jobs can be canceled in two more ways, which older clients use.
    let hasOtherCancels: Bool

    private init(
        journey: Journey, upload: String, otherUpload: String? = nil, jobs: String? = nil,
        jobPrefix: String? = nil, hasOtherCancels: Bool = false
    ) {
        self.journey = journey
        self.upload = upload
        self.otherUpload = otherUpload
        self.jobs = jobs
        self.jobPrefix = jobPrefix
        self.hasOtherCancels = hasOtherCancels
    }

    private static let allJobs = "/v1/jobs/"
    private static let canceledJobs = "/api/v2/jobs/"
    private static let canceledByPost = "/v1/csv/cancel/"

    static let all = [
        V2Paths(
            journey: .bookshelfScan, upload: "/api/batch-scan", jobs: "/api/v2/scans/", jobPrefix: "scan_"),
        V2Paths(
            journey: .batchEnrichment, upload: "/api/batch-enrich", otherUpload: "/v1/enrichment/batch",
            jobs: "/api/v2/enrichments/", jobPrefix: "enrichment_"),
        V2Paths(
            journey: .csvImport, upload: "/api/v2/imports", jobs: "/api/v2/imports/", jobPrefix: "import_",
            hasOtherCancels: true),
        V2Paths(journey: .bookEnrichment, upload: EnrichmentRequest.path),
    ]

    static func of(_ journey: Journey) -> V2Paths? { self.all.first { $0.journey == journey } }

    func path(_ endpoint: Endpoint) -> String {
        // Without jobs there is no other path.
        guard let jobs else { return self.upload }
        return switch endpoint {
        case .upload: self.upload
        case .job(let id): jobs + id
        case .stream(let id): jobs + id + "/stream"
        case .results(let id): jobs + id + "/results"
        case .cleanup(let id): Self.allJobs + id
        case .refresh: TokenRefresh.path
        }
    }

    /// Nil for any other path, and for an id that none of its jobs has.
    func endpoint(_ path: String) -> Endpoint? {
        if path == self.upload || path == self.otherUpload { return .upload }
        guard let jobs else { return nil }
        if let (id, end) = self.split(path, behind: jobs) {
            switch end {
            case nil: return .job(jobId: id)
            case "stream"?: return .stream(jobId: id)
            case "results"?: return .results(jobId: id)
            default: return nil
            }
        }
        if self.hasOtherCancels {
            if let (id, end) = self.split(path, behind: Self.canceledJobs), end == "cancel" {
                return .cleanup(jobId: id)
            }
            if let (id, end) = self.split(path, behind: Self.canceledByPost), end == nil {
                return .cleanup(jobId: id)
            }
        }
        guard let (id, end) = self.split(path, behind: Self.allJobs) else { return nil }
        switch end {
        case nil: return .cleanup(jobId: id)
        case "results"?: return .results(jobId: id)
        default: return nil
        }
    }

    func isCancelByPost(_ path: String) -> Bool {
        self.hasOtherCancels && path.hasPrefix(Self.canceledByPost)
    }

    /// The id behind a folder, and what follows it behind a slash.
    private func split(_ path: String, behind folder: String) -> (id: String, end: Substring?)? {
        guard path.hasPrefix(folder), let jobPrefix else { return nil }
        let parts = path.dropFirst(folder.count)
            .split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let id = parts.first.map(String.init), id.hasPrefix(jobPrefix), Endpoint.isJobID(id) else {
            return nil
        }
        return (id, parts.count > 1 ? parts[1] : nil)
    }
}
