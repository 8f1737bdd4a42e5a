// What requests have (Docs/contract.md section 1.1).

extension Contract {
    /// The name of the parts of an upload that are photos.
    package static let photoField = "photos[]"
    package static let photoTypes = ["image/jpeg", "image/png"]
    package static let uploadType = "multipart/form-data"
    package static let eventStreamType = "text/event-stream"
    package static let jsonType = "application/json"

    /// The values of `format` of the results.
    package static let resultsFormats = ["lite", "full"]

    /// The names of the query parameters of an operation.
    package static func queryParameters(of operation: Operation) -> [String] {
        switch operation {
        case .results: ["format"]
        case .upload, .stream, .cleanup, .status, .cancel: []
        }
    }
}
