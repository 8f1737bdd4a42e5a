@testable import Wire

extension MultipartReader.Limits {
    /// Tight enough to be reached by hand-written bodies.
    static let tight = MultipartReader.Limits(
        partsMax: 2, headBytesMax: 60, partBytesMax: 20, prefixBytesMax: 4)
}

/// What a reader makes of a body with the boundary `b0undary`.
func parts(
    _ pieces: [[UInt8]], boundary: String = "b0undary", limits: MultipartReader.Limits = .standard
) -> Result<[PartSummary], MultipartError> {
    do throws(MultipartError) {
        var reader = try MultipartReader(boundary: boundary, limits: limits)
        for piece in pieces { try reader.receive(piece) }
        return .success(try reader.finish())
    } catch {
        return .failure(error)
    }
}

func part(
    _ name: String, filename: String? = nil, contentType: String? = nil, _ content: String
) -> PartSummary {
    PartSummary(
        name: name, filename: filename, contentType: contentType, byteCount: content.utf8.count,
        prefix: Array(content.utf8.prefix(64)))
}
