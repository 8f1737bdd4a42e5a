/// Why a request cannot be served. The connection is closed after the reply, since its next bytes mean nothing.
package enum RequestError: Error, Hashable, Sendable, CaseIterable {
    case badRequestLine
    case requestLineTooLong
    case unsupportedVersion
    case headTooLong
    case tooManyHeaders
    case badHeaderName
    /// A NUL or another control character in a field or chunk line.
    case badHeaderValue
    case foldedHeader
    case bareLineFeed
    case bareCarriageReturn
    /// HTTP/1.1 without `Host` (RFC 9112 section 3.2).
    case missingHost
    case repeatedHost
    case badContentLength
    case conflictingContentLengths
    /// Both `Content-Length` and `Transfer-Encoding`: the shape of request smuggling.
    case lengthAndChunked
    case unsupportedTransferCoding
    case badTransferEncoding
    case badChunkSize
    case badChunkEnd
    case chunkLineTooLong
    case bodyTooLarge
    case unmetExpectation
    /// More pipelined bytes than `leftOverBytesMax` while earlier requests wait.
    case tooMuchPipelined
    /// The stream ended inside a request.
    case truncated

    /// The status that answers it.
    package var status: Int {
        switch self {
        case .badRequestLine, .badHeaderName, .badHeaderValue, .foldedHeader, .bareLineFeed,
            .bareCarriageReturn,
            .missingHost, .repeatedHost, .badContentLength, .conflictingContentLengths, .lengthAndChunked,
            .badTransferEncoding, .badChunkSize, .badChunkEnd, .chunkLineTooLong, .tooMuchPipelined,
            .truncated:
            400
        case .bodyTooLarge: 413
        case .requestLineTooLong: 414
        case .unmetExpectation: 417
        case .headTooLong, .tooManyHeaders: 431
        case .unsupportedTransferCoding: 501
        case .unsupportedVersion: 505
        }
    }

    init(_ flaw: LineFlaw, tooLong: RequestError) {
        self =
            switch flaw {
            case .tooLong: tooLong
            case .bareLineFeed: .bareLineFeed
            case .bareCarriageReturn: .bareCarriageReturn
            case .folded: .foldedHeader
            case .badName: .badHeaderName
            case .badValue: .badHeaderValue
            }
    }
}
