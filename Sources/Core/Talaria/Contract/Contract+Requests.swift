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
        case .upload, .stream, .cleanup, .status, .cancel, .refresh: []
        }
    }

    /// The name of the parts of an upload.
    package static func partName(of journey: Journey) -> String {
        switch journey {
        case .scan: self.photoField
        case .bookshelfScan: "photos"
        case .csvImport: ImportLimits.part
        case .batchEnrichment, .bookEnrichment, .textEnrichment: ""
        }
    }

    /// The content types of these parts.
    package static func partTypes(of journey: Journey) -> [String] {
        journey.payload == .file ? [self.fileType] : self.photoTypes
    }

    /// The type of a library file.
    private static let fileType = "text/csv"
}
