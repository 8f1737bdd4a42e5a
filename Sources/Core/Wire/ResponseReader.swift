internal import SimBase

/// An event of a connection's bytes for a client, in order: a head, any number of body pieces, the end.
package enum ResponseEvent: Hashable, Sendable {
    /// The final head; 1xx heads are passed over.
    case head(status: Int, HeaderFields)
    /// A piece of the body, never empty; a slice of the bytes that were received, not a copy.
    case body(ArraySlice<UInt8>)
    case end
}

/// Why a response cannot be read.
package enum ResponseError: Error, Hashable, Sendable, CaseIterable {
    case badStatusLine
    case badHeader
    case headTooLong
    case badContentLength
    case unsupportedTransferCoding
    case badChunk
    /// The connection ended inside the response.
    case truncated
    /// Bytes after the end of the response.
    case excess
    /// 101 without a request for it: what follows is not HTTP.
    case switchedProtocols
}

/// Reads HTTP/1.1 responses (RFC 9112), one after the other, from bytes in any pieces. Bodies are passed on,
/// never kept.
package struct ResponseReader: Sendable {
    /// The longest head with its line ends, and the most that all 1xx heads before it may have.
    package static let headBytesMax = 128 * 1_024
    private static let chunkLineBytesMax = 1_024

    private enum State: Sendable {
        /// Between responses, or in the first line of one. Leaves to `headers`.
        case statusLine
        /// Leaves to a body, or to `statusLine`.
        case headers(status: Int, isHTTP10: Bool)
        /// Leaves to `statusLine`.
        case body(remaining: Int)
        /// The body ends with the connection.
        case untilClose
        /// Leaves to `chunkData` or `trailers`.
        case chunkSize
        /// Leaves to `chunkEnd`.
        case chunkData(remaining: Int)
        /// At the line end after a chunk's data. Leaves to `chunkSize`.
        case chunkEnd
        /// Leaves to `statusLine`.
        case trailers
    }

    private var state = State.statusLine
    private var lines = LineCollector()
    private var headers = HeaderFields()
    private var headBytes = 0
    /// Bytes of the 1xx heads before the final one.
    private var interimBytes = 0
    /// Whether the next response is to a HEAD: it has no body, whatever its fields say (RFC 9112 section 6.3).
    package var isForHead = false
    /// Whether the next response is to a request for another protocol. The head of a 101 is then an event
    /// like any other, and what follows, in the other protocol, its body (RFC 9110 section 15.2.2).
    package var isForUpgrade = false
    /// Whether the last final head was of HTTP/1.0.
    package private(set) var isHTTP10 = false
    /// Whether the connection may carry another exchange after this response.
    package private(set) var keepsAlive = true

    package init() {}

    /// Whether anything of a response has come and not all of it.
    package var isInsideResponse: Bool {
        switch self.state {
        case .statusLine: !self.lines.isEmpty
        case .headers, .body, .untilClose, .chunkSize, .chunkData, .chunkEnd, .trailers: true
        }
    }

    /// Reads on, at most to the end of one response; nothing may come after it.
    package mutating func receive(
        _ bytes: ArraySlice<UInt8>, into events: inout [ResponseEvent]
    ) throws(ResponseError) {
        var position = bytes.startIndex
        while position < bytes.endIndex {
            guard try self.step(bytes, &position, into: &events) else { continue }
            self.state = .statusLine
            self.headBytes = 0
            self.interimBytes = 0
            events.append(.end)
            guard position == bytes.endIndex else { throw .excess }
            return
        }
    }

    /// The connection ended. The end of a body that is delimited by it; an error inside any other response.
    package mutating func finish(into events: inout [ResponseEvent]) throws(ResponseError) {
        switch self.state {
        case .untilClose:
            self.state = .statusLine
            events.append(.end)
        case .statusLine where !self.isInsideResponse: break
        case .statusLine, .headers, .body, .chunkSize, .chunkData, .chunkEnd, .trailers: throw .truncated
        }
    }

    /// Takes what one state can take; tells whether the response ended with it.
    private mutating func step(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int, into events: inout [ResponseEvent]
    ) throws(ResponseError) -> Bool {
        switch self.state {
        case .statusLine:
            guard let line = try self.statusLine(bytes, &position) else { return false }
            self.state = .headers(
                status: try Self.status(of: line), isHTTP10: line[line.startIndex + 7] == UInt8(ascii: "0"))
            self.headers = HeaderFields()
            return false
        case .headers(let status, let isHTTP10):
            guard let line = try self.line(bytes, &position) else { return false }
            return try self.readHeader(line, status, isHTTP10, into: &events)
        case .body(let remaining):
            let piece = bytes[position...].prefix(remaining)
            position = piece.endIndex
            events.append(.body(piece))
            self.state = .body(remaining: remaining - piece.count)
            return piece.count == remaining
        case .untilClose:
            events.append(.body(bytes[position...]))
            position = bytes.endIndex
            return false
        case .chunkSize:
            try self.readChunkSize(bytes, &position)
            return false
        case .chunkData(let remaining):
            let piece = bytes[position...].prefix(remaining)
            position = piece.endIndex
            events.append(.body(piece))
            self.state = piece.count == remaining ? .chunkEnd : .chunkData(remaining: remaining - piece.count)
            return false
        case .chunkEnd:
            try self.readChunkEnd(bytes, &position)
            return false
        case .trailers:
            guard let line = try self.line(bytes, &position) else { return false }
            return line.isEmpty
        }
    }

    private mutating func readHeader(
        _ line: ArraySlice<UInt8>, _ status: Int, _ isHTTP10: Bool, into events: inout [ResponseEvent]
    ) throws(ResponseError) -> Bool {
        guard line.isEmpty else {
            try self.append(line)
            return false
        }
        guard status >= 200 || status == 101 && self.isForUpgrade else {
            guard status != 101 else { throw .switchedProtocols }
            self.interimBytes += self.headBytes
            guard self.interimBytes <= Self.headBytesMax else { throw .headTooLong }
            self.headBytes = 0
            self.state = .statusLine
            return false
        }
        self.headBytes = 0
        self.isHTTP10 = isHTTP10
        return try self.begin(status, into: &events)
    }

    private mutating func readChunkSize(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int
    ) throws(ResponseError) {
        if self.lines.isEmpty, let size = Self.plainChunkSize(bytes, &position) {
            self.state = .chunkData(remaining: size)
            return
        }
        guard let line = try self.chunkLine(bytes, &position) else { return }
        let size = try Self.chunkSize(line)
        self.state = size == 0 ? .trailers : .chunkData(remaining: size)
    }

    private mutating func readChunkEnd(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int
    ) throws(ResponseError) {
        if self.lines.isEmpty, Self.isLineEnd(bytes, position) {
            position += 2
            self.state = .chunkSize
            return
        }
        guard let line = try self.chunkLine(bytes, &position) else { return }
        guard line.isEmpty else { throw .badChunk }
        self.state = .chunkSize
    }

    /// The head is complete. Tells whether the response is.
    private mutating func begin(
        _ status: Int, into events: inout [ResponseEvent]
    ) throws(ResponseError) -> Bool {
        // HTTP/1.0 keeps a connection only if it says so (RFC 9112 section 9.3).
        self.keepsAlive =
            self.isHTTP10
            ? self.headers.list("Connection", contains: "keep-alive")
            : !self.headers.list("Connection", contains: "close")
        let body = try self.bodyState(status)
        events.append(.head(status: status, self.headers))
        if let body { self.state = body }
        return body == nil
    }

    /// What is read after the head; nil without a body (RFC 9112 section 6.3). A head that says this wrongly is no head.
    private mutating func bodyState(_ status: Int) throws(ResponseError) -> State? {
        if status == 101 {
            self.keepsAlive = false
            return .untilClose
        }
        if status == 204 || status == 304 || self.isForHead { return nil }
        if let coding = self.headers["Transfer-Encoding"] {
            guard ASCII.equalIgnoringCase(coding, "chunked") else { throw .unsupportedTransferCoding }
            return .chunkSize
        }
        let lengths = self.headers.values("Content-Length")
        guard let text = lengths.first else {
            self.keepsAlive = false
            return .untilClose
        }
        // Several that differ are two readings of where the response ends (RFC 9112 section 6.3).
        guard let length = Int(text), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            lengths.allSatisfy({ $0 == text })
        else { throw .badContentLength }
        return length == 0 ? nil : .body(remaining: length)
    }

    private mutating func append(_ line: ArraySlice<UInt8>) throws(ResponseError) {
        do throws(LineFlaw) {
            let field = try FieldLine(line)
            self.headers.append(name: field.name, value: field.value)
        } catch { throw .badHeader }
    }

    private mutating func line(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int
    ) throws(ResponseError) -> ArraySlice<UInt8>? {
        let room = Self.headBytesMax - self.headBytes
        guard room >= 2 else { throw .headTooLong }
        do throws(LineFlaw) {
            guard let line = try self.lines.next(in: bytes, at: &position, limit: room - 2) else {
                return nil
            }
            self.headBytes += line.count + 2
            return line
        } catch { throw error == .tooLong ? .headTooLong : .badHeader }
    }

    /// The first line. What begins otherwise is refused before its end comes, which may never.
    private mutating func statusLine(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int
    ) throws(ResponseError) -> ArraySlice<UInt8>? {
        let line = try self.line(bytes, &position)
        guard line != nil || self.lines.mayBegin(with: "HTTP/1.") else { throw .badStatusLine }
        return line
    }

    private mutating func chunkLine(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int
    ) throws(ResponseError) -> ArraySlice<UInt8>? {
        do throws(LineFlaw) {
            return try self.lines.next(in: bytes, at: &position, limit: Self.chunkLineBytesMax)
        } catch { throw .badChunk }
    }

    /// `HTTP/1.1 200 OK`; the phrase may be missing.
    private static func status(of line: ArraySlice<UInt8>) throws(ResponseError) -> Int {
        guard line.starts(with: "HTTP/1.".utf8), line.count >= 12, line[line.startIndex + 8] == ASCII.space
        else { throw .badStatusLine }
        var status = 0
        for byte in line[(line.startIndex + 9)..<(line.startIndex + 12)] {
            guard let digit = ASCII.digit(byte) else { throw .badStatusLine }
            status = status * 10 + Int(digit)
        }
        guard status >= 100, line.count == 12 || line[line.startIndex + 12] == ASCII.space else {
            throw .badStatusLine
        }
        return status
    }

    /// The size of a chunk that is not the last, as it is nearly always written, whole and without an extension: goes behind
    /// its line. Nil leaves anything else to be read as a line.
    private static func plainChunkSize(_ bytes: ArraySlice<UInt8>, _ position: inout Int) -> Int? {
        var (offset, size) = (position, 0)
        while offset < bytes.endIndex, offset - position < 15, let digit = Hexadecimal.nibble(bytes[offset]) {
            size = size << 4 | Int(digit)
            offset += 1
        }
        guard size > 0, Self.isLineEnd(bytes, offset) else { return nil }
        position = offset + 2
        return size
    }

    private static func isLineEnd(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> Bool {
        offset + 1 < bytes.endIndex && bytes[offset] == ASCII.carriageReturn
            && bytes[offset + 1] == ASCII.lineFeed
    }

    private static func chunkSize(_ line: ArraySlice<UInt8>) throws(ResponseError) -> Int {
        let digits = line.prefix { Hexadecimal.nibble($0) != nil }
        guard (1...15).contains(digits.count),
            digits.endIndex == line.endIndex || line[digits.endIndex] == 0x3B
        else { throw .badChunk }
        return digits.reduce(0) { $0 << 4 | Int(Hexadecimal.nibble($1) ?? 0) }
    }
}
