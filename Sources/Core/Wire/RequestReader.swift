internal import SimBase

/// An event of a connection's bytes for a server, in order: a head, any number of body pieces, the end.
package enum RequestEvent: Hashable, Sendable {
    case head(RequestHead)
    /// A piece of the body, never empty; a slice of the bytes that were received, not a copy.
    case body(ArraySlice<UInt8>)
    case end
}

/// Reads HTTP/1.1 requests (RFC 9112) from bytes in any pieces. Bodies are passed on, never kept.
///
/// A call of `receive` ends at the latest at the end of a request. Bytes after it (pipelining) stay in the
/// reader; after the response, `receive([])` continues with them. While `hasLeftOver` is true, do not read
/// from the socket.
package struct RequestReader: Sendable {
    package struct Limits: Hashable, Sendable {
        /// The longest request line, without CRLF; above it 414.
        package var requestLineBytesMax: Int
        /// The longest head and the longest trailer section, line ends included; above it 431.
        package var headBytesMax: Int
        package var headerCountMax: Int
        /// The longest body, known or counted; above it 413.
        package var bodyBytesMax: Int
        /// The longest chunk-size line with its extensions, without CRLF.
        package var chunkLineBytesMax: Int
        /// The most pipelined bytes kept while a request is being answered. The one limit that hangs on when bytes
        /// come: who waits for an answer never reaches it.
        package var leftOverBytesMax: Int

        package init(
            requestLineBytesMax: Int, headBytesMax: Int, headerCountMax: Int, bodyBytesMax: Int,
            chunkLineBytesMax: Int, leftOverBytesMax: Int
        ) {
            precondition(requestLineBytesMax > 0 && headBytesMax > 0, "a reader that may keep nothing")
            precondition(headerCountMax >= 0 && bodyBytesMax >= 0, "a limit below zero")
            precondition(chunkLineBytesMax > 0 && leftOverBytesMax >= 0, "a limit below zero")
            self.requestLineBytesMax = requestLineBytesMax
            self.headBytesMax = headBytesMax
            self.headerCountMax = headerCountMax
            self.bodyBytesMax = bodyBytesMax
            self.chunkLineBytesMax = chunkLineBytesMax
            self.leftOverBytesMax = leftOverBytesMax
        }

        /// 8 KiB a request line (RFC 9112 section 3 recommends 8,000), 32 KiB a head of 100 fields, 64 MiB a body.
        package static let standard = Limits(
            requestLineBytesMax: 8_192, headBytesMax: 32_768, headerCountMax: 100, bodyBytesMax: 64 << 20,
            chunkLineBytesMax: 1_024, leftOverBytesMax: 1 << 20)
    }

    private enum State {
        /// Between requests, or in the first line of one. Leaves to `headers`.
        case requestLine
        /// Leaves to `body`, `chunkSize` or, without a body, to `requestLine` or `closed`.
        case headers
        /// Leaves to `requestLine` or `closed`.
        case body(remaining: Int)
        /// Leaves to `chunkData` or, after the last chunk, to `trailers`.
        case chunkSize
        /// Leaves to `chunkEnd`.
        case chunkData(remaining: Int)
        /// At the CR after a chunk's data. Leaves to `chunkEndLineFeed`.
        case chunkEnd
        /// At the LF after a chunk's data. Leaves to `chunkSize`.
        case chunkEndLineFeed
        /// Leaves to `requestLine` or `closed`.
        case trailers
        /// The last request declared itself the last; what follows is ignored.
        case closed
        case failed(RequestError)
    }

    private let limits: Limits
    private var state = State.requestLine
    private var lines = LineCollector()
    private var leftOver: [UInt8] = []
    private var requestLine: RequestLine?
    private var headers = HeaderFields()
    /// Bytes of the head or of the trailers so far, line ends included.
    private var headBytes = 0
    private var fieldCount = 0
    private var bodyBytes = 0
    private var keepsAlive = true

    package init(limits: Limits) { self.limits = limits }

    /// Whether bytes of a next request wait after one that ended.
    package var hasLeftOver: Bool { !self.leftOver.isEmpty }

    /// Takes the bytes behind a request that asked for another protocol, and got it.
    package mutating func takeLeftOver() -> [UInt8] {
        defer { self.leftOver = [] }
        return self.leftOver
    }

    /// Whether the reader is in the middle of a request.
    package var isInsideRequest: Bool {
        switch self.state {
        case .requestLine: !self.lines.isEmpty
        case .headers, .body, .chunkSize, .chunkData, .chunkEnd, .chunkEndLineFeed, .trailers: true
        case .closed, .failed: false
        }
    }

    /// Reads on, at most to the end of one request, and appends what was understood to `events`. After an error,
    /// which does not undo the events before it, every call throws the same again.
    package mutating func receive(
        _ bytes: [UInt8], into events: inout [RequestEvent]
    ) throws(RequestError) {
        try self.receive(bytes[...], into: &events)
    }

    /// Reads on, at most to the end of one request, and appends what was understood to `events`. After an error,
    /// which does not undo the events before it, every call throws the same again.
    package mutating func receive(
        _ bytes: ArraySlice<UInt8>, into events: inout [RequestEvent]
    ) throws(RequestError) {
        if case .failed(let error) = self.state { throw error }
        do throws(RequestError) {
            guard !self.leftOver.isEmpty else {
                try self.read(bytes, into: &events)
                return
            }
            var joined: [UInt8] = []
            swap(&joined, &self.leftOver)
            joined.append(contentsOf: bytes)
            try self.read(joined[...], into: &events)
        } catch {
            self.state = .failed(error)
            self.leftOver = []
            throw error
        }
    }

    /// Passes over so many bytes of a body whose content does not matter, short of its last byte. They must be inside a
    /// body of known length: any other is read byte by byte.
    package mutating func skip(_ count: Int) throws(RequestError) {
        if case .failed(let error) = self.state { throw error }
        guard case .body(let remaining) = self.state, self.leftOver.isEmpty, (0..<remaining).contains(count)
        else { preconditionFailure("only bytes inside a body can be passed over") }
        self.state = .body(remaining: remaining - count)
    }

    /// The stream ended; that inside a request is an error.
    package mutating func finish() throws(RequestError) {
        if case .failed(let error) = self.state { throw error }
        guard !self.isInsideRequest, self.leftOver.isEmpty else {
            self.state = .failed(.truncated)
            throw .truncated
        }
        self.state = .closed
    }

    private mutating func read(
        _ bytes: ArraySlice<UInt8>, into events: inout [RequestEvent]
    ) throws(RequestError) {
        var position = bytes.startIndex
        while position < bytes.endIndex {
            guard try self.step(bytes, &position, into: &events) else { continue }
            // The request ended.
            self.state = self.keepsAlive ? .requestLine : .closed
            events.append(.end)
            guard self.keepsAlive else { return }
            let rest = bytes[position...]
            guard rest.count <= self.limits.leftOverBytesMax else { throw .tooMuchPipelined }
            self.leftOver.append(contentsOf: rest)
            return
        }
    }

    /// Takes what one state can take; tells whether the request ended with it.
    private mutating func step(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int, into events: inout [RequestEvent]
    ) throws(RequestError) -> Bool {
        switch self.state {
        case .requestLine:
            try self.readRequestLine(bytes, &position)
            return false
        case .headers:
            guard try self.readHeaderLine(bytes, &position), let line = self.requestLine else { return false }
            return try self.endHead(line, into: &events)
        case .body(let remaining):
            let count = Self.takeBody(bytes, &position, most: remaining, into: &events)
            self.state = .body(remaining: remaining - count)
            return count == remaining
        case .chunkSize:
            guard let size = try self.readChunkSize(bytes, &position) else { return false }
            self.state = size == 0 ? .trailers : .chunkData(remaining: size)
            return false
        case .chunkData(let remaining):
            let count = Self.takeBody(bytes, &position, most: remaining, into: &events)
            self.state = count == remaining ? .chunkEnd : .chunkData(remaining: remaining - count)
            return false
        case .chunkEnd:
            guard bytes[position] == ASCII.carriageReturn else { throw .badChunkEnd }
            position += 1
            self.state = .chunkEndLineFeed
            return false
        case .chunkEndLineFeed:
            guard bytes[position] == ASCII.lineFeed else { throw .badChunkEnd }
            position += 1
            self.state = .chunkSize
            return false
        case .trailers:
            guard try self.readHeaderLine(bytes, &position) else { return false }
            self.forgetHeaders()
            return true
        case .closed:
            position = bytes.endIndex
            return false
        case .failed(let error):
            throw error
        }
    }

    /// The empty line after the headers; tells whether the request ended with it.
    private mutating func endHead(
        _ line: RequestLine, into events: inout [RequestEvent]
    ) throws(RequestError) -> Bool {
        let head = try RequestHead(line, headers: self.headers, bodyBytesMax: self.limits.bodyBytesMax)
        self.requestLine = nil
        self.forgetHeaders()
        self.bodyBytes = 0
        self.keepsAlive = head.keepsAlive
        events.append(.head(head))
        switch head.body {
        case .none, .length(0): return true
        case .length(let length): self.state = .body(remaining: length)
        case .chunked: self.state = .chunkSize
        }
        return false
    }

    /// - Returns: The number of bytes that were taken.
    private static func takeBody(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int, most: Int, into events: inout [RequestEvent]
    ) -> Int {
        let piece = bytes[position...].prefix(most)
        position = piece.endIndex
        events.append(.body(piece))
        return piece.count
    }

    private mutating func forgetHeaders() {
        self.headers = HeaderFields()
        self.headBytes = 0
        self.fieldCount = 0
    }

    private mutating func readRequestLine(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int
    ) throws(RequestError) {
        let line: ArraySlice<UInt8>?
        do throws(LineFlaw) {
            line = try self.lines.next(in: bytes, at: &position, limit: self.limits.requestLineBytesMax)
        } catch { throw RequestError(error, tooLong: .requestLineTooLong) }
        guard let line else { return }
        self.headBytes += line.count + 2
        guard self.headBytes <= self.limits.headBytesMax else { throw .headTooLong }
        // Empty lines before a request are skipped (RFC 9112 section 2.2); they count as head bytes.
        guard !line.isEmpty else { return }
        self.requestLine = try RequestLine(line)
        self.state = .headers
    }

    /// Reads one field line into `headers`; true at the empty line that ends them.
    private mutating func readHeaderLine(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int
    ) throws(RequestError) -> Bool {
        do throws(LineFlaw) {
            let room = self.limits.headBytesMax - self.headBytes
            guard room >= 2 else { throw .tooLong }
            guard let line = try self.lines.next(in: bytes, at: &position, limit: room - 2) else {
                return false
            }
            if line.isEmpty { return true }
            self.headBytes += line.count + 2
            let field = try FieldLine(line)
            self.headers.append(name: field.name, value: field.value)
            self.fieldCount += 1
        } catch { throw RequestError(error, tooLong: .headTooLong) }
        guard self.fieldCount <= self.limits.headerCountMax else { throw .tooManyHeaders }
        return false
    }

    /// `chunk-size [ ; extensions ] CRLF` (RFC 9112 section 7.1); extensions are ignored.
    private mutating func readChunkSize(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int
    ) throws(RequestError) -> Int? {
        let line: ArraySlice<UInt8>?
        do throws(LineFlaw) {
            line = try self.lines.next(in: bytes, at: &position, limit: self.limits.chunkLineBytesMax)
        } catch { throw RequestError(error, tooLong: .chunkLineTooLong) }
        guard let line else { return nil }
        let digits = line.prefix { Hexadecimal.nibble($0) != nil }
        let extensions = line[digits.endIndex...].drop { $0 == ASCII.space || $0 == ASCII.tab }
        guard !digits.isEmpty, extensions.isEmpty || extensions.first == 0x3B else { throw .badChunkSize }
        guard FieldLine.isValue(extensions) else { throw .badHeaderValue }
        let room = self.limits.bodyBytesMax - self.bodyBytes
        var size = 0
        for byte in digits {
            let (product, overflow) = size.multipliedReportingOverflow(by: 16)
            guard !overflow, let digit = Hexadecimal.nibble(byte) else { throw .badChunkSize }
            let (sum, carried) = product.addingReportingOverflow(Int(digit))
            guard !carried else { throw .badChunkSize }
            size = sum
        }
        guard size <= room else { throw .bodyTooLarge }
        self.bodyBytes += size
        return size
    }
}
