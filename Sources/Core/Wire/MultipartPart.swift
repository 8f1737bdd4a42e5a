/// The summary of a part of a multipart body: never its bytes.
package struct PartSummary: Hashable, Sendable {
    /// The field's name, such as `photos[]`.
    package var name: String
    package var filename: String?
    /// The part's `Content-Type` as sent.
    package var contentType: String?
    package var byteCount: Int
    /// The part's first bytes, at most `MultipartReader.Limits.prefixBytesMax`, to recognize its type.
    package var prefix: [UInt8]
}

/// Why a multipart body cannot be read. Parts are counted from 0.
package enum MultipartError: Error, Hashable, Sendable {
    /// The content type is not `multipart/form-data`.
    case notFormData
    /// No boundary, or one that RFC 2046 section 5.1.1 does not allow.
    case noBoundary
    case malformed(part: Int, MultipartFlaw)
    case partHeadTooLong(Int)
    case partTooLarge(Int)
    case tooManyParts
    /// The body ended before its closing delimiter.
    case truncated
}

/// A defect of a multipart body.
package enum MultipartFlaw: Hashable, Sendable {
    /// Something other than `--` or spaces and CRLF after a boundary.
    case delimiterLine
    /// A header line without name or CRLF, folded, or with control characters.
    case headerLine
    /// No `Content-Disposition`, or one that is not `form-data` or cannot be read.
    case disposition
    /// A `Content-Disposition` without `name` (RFC 7578 section 4.2).
    case noName
}
