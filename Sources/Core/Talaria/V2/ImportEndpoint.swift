/// The paths of the imports of v2 (Docs/contract.md section 3.2), with the older forms of results and of canceling.
package enum ImportEndpoint: Hashable, Sendable {
    case upload
    case job(id: String)
    case stream(id: String)
    case results(id: String)
    case cancel(id: String)
    /// An older form, which takes POST.
    case cancelByPost(id: String)

    package static let imports = "/api/v2/imports"
    /// What the id of an import begins with.
    package static let idPrefix = "import_"

    package var path: String {
        switch self {
        case .upload: Self.imports
        case .job(let id): "\(Self.imports)/\(id)"
        case .stream(let id): "\(Self.imports)/\(id)/stream"
        case .results(let id): "\(Self.imports)/\(id)/results"
        case .cancel(let id): "/v1/jobs/\(id)"
        case .cancelByPost(let id): "/v1/csv/cancel/\(id)"
        }
    }

    /// The methods that the path takes.
    package var methods: [String] {
        switch self {
        case .upload, .cancelByPost: ["POST"]
        case .job, .stream, .results: ["GET"]
        case .cancel: ["DELETE"]
        }
    }

    /// Nil for any other path.
    package init?(path: String) {
        if path == Self.imports {
            self = .upload
        } else if let (id, end) = Self.split(path, behind: Self.imports + "/") {
            if end == nil {
                self = .job(id: id)
            } else if end == "stream" {
                self = .stream(id: id)
            } else if end == "results" {
                self = .results(id: id)
            } else {
                return nil
            }
        } else if let (id, end) = Self.split(path, behind: "/v1/jobs/") {
            guard end == nil || end == "results" else { return nil }
            self = end == nil ? .cancel(id: id) : .results(id: id)
        } else if let (id, end) = Self.split(path, behind: "/api/v2/jobs/"), end == "cancel" {
            self = .cancel(id: id)
        } else if let (id, end) = Self.split(path, behind: "/v1/csv/cancel/"), end == nil {
            self = .cancelByPost(id: id)
        } else {
            return nil
        }
    }

    /// The id behind a folder, and what follows it behind a slash; nil unless the id can be one of a job.
    private static func split(_ path: String, behind folder: String) -> (id: String, end: Substring?)? {
        guard path.hasPrefix(folder) else { return nil }
        let parts = path.dropFirst(folder.count).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let id = parts.first, Endpoint.isJobID(String(id)) else { return nil }
        return (String(id), parts.count > 1 ? parts[1] : nil)
    }
}

/// The numbers of an upload of a library file (Docs/contract.md sections 3.2 and 7, C27 and C34).
package enum ImportLimits {
    /// The part of the multipart body.
    package static let part = "file"
    /// 8 MB are 8 MiB.
    package static let fileBytesMax = 8 << 20
    /// The file with what multipart adds.
    package static let bodyBytesMax = Self.fileBytesMax + 65_536
}
