/// Reads a `multipart/form-data` body (RFC 7578, RFC 2046) from bytes that come in any pieces, keeping of each part
/// only its name, its length and its first bytes.
package struct MultipartReader: Sendable {
    package struct Limits: Hashable, Sendable {
        package var partsMax: Int
        /// The longest set of headers of a part, line ends included.
        package var headBytesMax: Int
        package var partBytesMax: Int
        /// The number of a part's first bytes that are kept.
        package var prefixBytesMax: Int

        package init(partsMax: Int, headBytesMax: Int, partBytesMax: Int, prefixBytesMax: Int) {
            precondition(partsMax >= 0 && partBytesMax >= 0 && prefixBytesMax >= 0, "a limit below zero")
            precondition(headBytesMax > 0, "a reader that may keep nothing")
            self.partsMax = partsMax
            self.headBytesMax = headBytesMax
            self.partBytesMax = partBytesMax
            self.prefixBytesMax = prefixBytesMax
        }

        /// 16 parts of 64 MiB, 8 KiB of headers each, 64 bytes kept.
        package static let standard = Limits(
            partsMax: 16, headBytesMax: 8_192, partBytesMax: 64 << 20, prefixBytesMax: 64)
    }

    private enum State {
        /// Before the first delimiter. Leaves to `delimiter`.
        case preamble
        /// Right after a boundary. Leaves to `padding`, `lineEnd` or `closing`.
        case delimiter
        /// Spaces after a boundary. Leaves to `lineEnd`.
        case padding
        /// Behind the CR of a boundary's line. Leaves to `headers`.
        case lineEnd
        /// Behind a boundary and one hyphen. Leaves to `closed`.
        case closing
        /// Leaves to `content`.
        case headers
        /// Leaves to `delimiter`.
        case content
        /// Behind the closing delimiter; what follows is ignored.
        case closed
        case failed(MultipartError)
    }

    private let limits: Limits
    private let delimiter: MultipartDelimiter
    private var state = State.preamble
    private var lines = LineCollector()
    /// The last bytes read, fewer than the delimiter has: a delimiter may begin in them.
    private var tail: [UInt8]
    /// The number of bytes at the start of `tail` that are not part of the content: the CRLF put before it,
    /// so that a delimiter is also found at its start.
    private var borrowed: Int
    private var headBytes = 0
    private var headers = HeaderFields()
    private var parts: [PartSummary] = []

    /// The boundary of a `Content-Type` value.
    package static func boundary(contentType: String) throws(MultipartError) -> String {
        guard let parsed = ParameterizedValue(contentType) else { throw .noBoundary }
        guard ASCII.equalIgnoringCase(parsed.value, "multipart/form-data") else { throw .notFormData }
        guard let boundary = parsed.parameters["boundary"], Self.isBoundary(boundary) else {
            throw .noBoundary
        }
        return boundary
    }

    /// 1 to 70 of the characters of RFC 2046 section 5.1.1, the last not a space.
    private static func isBoundary(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count) && text.utf8.last != ASCII.space
            && Array(text.utf8).allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                case 0x20, 0x27, 0x28, 0x29, 0x2B, 0x2C, 0x2D, 0x2E, 0x2F, 0x3A, 0x3D, 0x3F, 0x5F: true
                default: false
                }
            }
    }

    package init(boundary: String, limits: Limits) throws(MultipartError) {
        guard Self.isBoundary(boundary) else { throw .noBoundary }
        self.limits = limits
        self.delimiter = MultipartDelimiter(boundary: boundary)
        self.tail = [ASCII.carriageReturn, ASCII.lineFeed]
        self.borrowed = 2
    }

    package mutating func receive(_ bytes: [UInt8]) throws(MultipartError) {
        try self.receive(bytes[...])
    }

    /// Reads on. After an error every call throws the same again.
    package mutating func receive(_ bytes: ArraySlice<UInt8>) throws(MultipartError) {
        do throws(MultipartError) {
            var position = bytes.startIndex
            while position < bytes.endIndex { try self.step(bytes, &position) }
        } catch {
            self.state = .failed(error)
            throw error
        }
    }

    /// Counts bytes whose content does not matter. They must be inside a part's content, and none of them belongs to a
    /// delimiter.
    package mutating func skip(_ count: Int) throws(MultipartError) {
        switch self.state {
        case .content: break
        case .failed(let error): throw error
        case .preamble, .delimiter, .padding, .lineEnd, .closing, .headers, .closed:
            preconditionFailure("only bytes of a part can be passed over")
        }
        do throws(MultipartError) {
            // What was undecided cannot have begun a delimiter.
            try self.count(self.tail[...])
            self.tail = []
            guard let part = self.parts.indices.last else { return }
            self.parts[part].byteCount += count
            guard self.parts[part].byteCount <= self.limits.partBytesMax else { throw .partTooLarge(part) }
        } catch {
            self.state = .failed(error)
            throw error
        }
    }

    /// The body ended.
    ///
    /// - Returns: The parts in their order.
    package mutating func finish() throws(MultipartError) -> [PartSummary] {
        switch self.state {
        case .closed: return self.parts
        case .failed(let error): throw error
        case .preamble, .delimiter, .padding, .lineEnd, .closing, .headers, .content:
            self.state = .failed(.truncated)
            throw .truncated
        }
    }

    private mutating func step(_ bytes: ArraySlice<UInt8>, _ position: inout Int) throws(MultipartError) {
        switch self.state {
        case .preamble, .content:
            guard try self.search(bytes, &position) else { return }
            self.state = .delimiter
        case .delimiter, .padding, .lineEnd, .closing:
            try self.followBoundary(bytes[position])
            position += 1
        case .headers:
            try self.readHeaderLine(bytes, &position)
        case .closed:
            position = bytes.endIndex
        case .failed(let error):
            throw error
        }
    }

    private mutating func followBoundary(_ byte: UInt8) throws(MultipartError) {
        switch (self.state, byte) {
        case (.delimiter, ASCII.hyphen): self.state = .closing
        case (.closing, ASCII.hyphen): self.state = .closed
        case (.delimiter, ASCII.space), (.delimiter, ASCII.tab), (.padding, ASCII.space),
            (.padding, ASCII.tab):
            self.state = .padding
        case (.delimiter, ASCII.carriageReturn), (.padding, ASCII.carriageReturn): self.state = .lineEnd
        case (.lineEnd, ASCII.lineFeed):
            guard self.parts.count < self.limits.partsMax else { throw .tooManyParts }
            self.headBytes = 0
            self.headers = HeaderFields()
            self.state = .headers
        default:
            throw .malformed(part: self.parts.count, .delimiterLine)
        }
    }

    // MARK: Headers

    private mutating func readHeaderLine(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int
    ) throws(MultipartError) {
        do throws(LineFlaw) {
            let room = self.limits.headBytesMax - self.headBytes
            guard room >= 2 else { throw .tooLong }
            guard let line = try self.lines.next(in: bytes, at: &position, limit: room - 2) else { return }
            self.headBytes += line.count + 2
            guard line.isEmpty else {
                let field = try FieldLine(line)
                self.headers.append(name: field.name, value: field.value)
                return
            }
        } catch {
            throw error == .tooLong
                ? .partHeadTooLong(self.parts.count) : .malformed(part: self.parts.count, .headerLine)
        }
        try self.beginPart()
    }

    private mutating func beginPart() throws(MultipartError) {
        guard let text = self.headers["Content-Disposition"], let disposition = ParameterizedValue(text),
            ASCII.equalIgnoringCase(disposition.value, "form-data")
        else { throw .malformed(part: self.parts.count, .disposition) }
        guard let name = disposition.parameters["name"] else {
            throw .malformed(part: self.parts.count, .noName)
        }
        self.parts.append(
            PartSummary(
                name: name, filename: disposition.parameters["filename"],
                contentType: self.headers["Content-Type"], byteCount: 0, prefix: []))
        self.tail = [ASCII.carriageReturn, ASCII.lineFeed]
        self.borrowed = 2
        self.state = .content
    }

    // MARK: Content

    /// Searches for the next delimiter and counts the bytes before it; returns true if it was found.
    private mutating func search(
        _ bytes: ArraySlice<UInt8>, _ position: inout Int
    ) throws(MultipartError) -> Bool {
        let undecided = self.delimiter.count - 1
        let held = self.tail.count
        if held > 0 {
            // A delimiter that begins in the tail ends in the next bytes.
            self.tail.append(contentsOf: bytes[position...].prefix(undecided))
            let window = self.tail[...]
            if let found = self.delimiter.first(in: window), found < held {
                position += found + self.delimiter.count - held
                self.tail = []
                try self.count(window[..<found])
                return true
            }
            guard bytes.endIndex - position >= undecided else {
                position = bytes.endIndex
                self.tail = Array(window.suffix(undecided))
                try self.count(window.dropLast(undecided))
                return false
            }
            self.tail = []
            try self.count(window[..<held])
        }
        let rest = bytes[position...]
        if let found = self.delimiter.first(in: rest) {
            position = found + self.delimiter.count
            try self.count(rest[..<found])
            return true
        }
        position = rest.endIndex
        self.tail = Array(rest.suffix(undecided))
        try self.count(rest.dropLast(undecided))
        return false
    }

    /// Adds bytes that are known to be content.
    private mutating func count(_ bytes: ArraySlice<UInt8>) throws(MultipartError) {
        let own = bytes.dropFirst(self.borrowed)
        self.borrowed -= bytes.count - own.count
        guard case .content = self.state, let part = self.parts.indices.last else { return }
        let missing = self.limits.prefixBytesMax - self.parts[part].prefix.count
        if missing > 0 { self.parts[part].prefix.append(contentsOf: own.prefix(missing)) }
        self.parts[part].byteCount += own.count
        guard self.parts[part].byteCount <= self.limits.partBytesMax else { throw .partTooLarge(part) }
    }
}
