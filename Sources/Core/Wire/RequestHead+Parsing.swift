/// `METHOD SP target SP HTTP/digit.digit` (RFC 9112 section 3).
struct RequestLine: Sendable {
    var method: String
    var target: String
    var path: String
    var query: String?
    var version: RequestHead.Version

    init(_ line: ArraySlice<UInt8>) throws(RequestError) {
        guard let first = line.firstIndex(of: ASCII.space),
            let second = line[(first + 1)...].firstIndex(of: ASCII.space)
        else { throw .badRequestLine }
        let (method, target) = (line[..<first], line[(first + 1)..<second])
        let version = line[(second + 1)...]
        guard !version.contains(ASCII.space), ASCII.isToken(method), !target.isEmpty,
            target.allSatisfy({ $0 > ASCII.space && $0 < 0x7F })
        else { throw .badRequestLine }
        self.version = try Self.version(version)
        self.method = ASCII.text(method)
        self.target = ASCII.text(target)
        let local = try Self.local(target, method: self.method)
        let mark = local.firstIndex(of: 0x3F) ?? local.endIndex
        let path = ASCII.text(local[..<mark])
        self.path = path.isEmpty ? "/" : path
        self.query = mark < local.endIndex ? ASCII.text(local[(mark + 1)...]) : nil
    }

    private static func version(_ text: ArraySlice<UInt8>) throws(RequestError) -> RequestHead.Version {
        let start = text.startIndex
        guard text.count == 8, text.starts(with: "HTTP/".utf8), text[start + 6] == 0x2E,
            let major = ASCII.digit(text[start + 5]), let minor = ASCII.digit(text[start + 7])
        else { throw .badRequestLine }
        guard major == 1 else { throw .unsupportedVersion }
        return minor == 0 ? .http10 : .http11
    }

    /// The part of a target that names a resource of this server (RFC 9112 section 3.2).
    private static func local(
        _ target: ArraySlice<UInt8>, method: String
    ) throws(RequestError) -> ArraySlice<UInt8> {
        if target.first == 0x2F { return target }
        if method == "CONNECT" || (method == "OPTIONS" && target.elementsEqual([0x2A])) { return target }
        let text = ASCII.text(target.prefix(8))
        for scheme in ["http://", "https://"]
        where text.utf8.count >= scheme.utf8.count
            && ASCII.equalIgnoringCase(String(text.prefix(scheme.utf8.count)), scheme)
        {
            let rest = target.dropFirst(scheme.utf8.count)
            let end = rest.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? rest.endIndex
            guard end > rest.startIndex else { throw .badRequestLine }
            return rest[end...]
        }
        throw .badRequestLine
    }
}

extension RequestHead {
    init(_ line: RequestLine, headers: HeaderFields, bodyBytesMax: Int) throws(RequestError) {
        let hosts = headers.count(of: "Host")
        guard hosts <= 1 else { throw .repeatedHost }
        guard hosts == 1 || line.version == .http10 else { throw .missingHost }
        let framing = try BodyFraming(headers, version: line.version, bodyBytesMax: bodyBytesMax)
        var expectsContinue = false
        for expectation in headers.list("Expect") where line.version == .http11 {
            guard ASCII.equalIgnoringCase(expectation, "100-continue") else { throw .unmetExpectation }
            expectsContinue = framing != .none && framing != .length(0)
        }
        let keepsAlive =
            switch line.version {
            case .http10:
                headers.list("Connection", contains: "keep-alive")
                    && !headers.list("Connection", contains: "close")
            case .http11: !headers.list("Connection", contains: "close")
            }
        self.init(
            method: line.method, target: line.target, path: line.path, query: line.query,
            version: line.version,
            headers: headers, body: framing, expectsContinue: expectsContinue, keepsAlive: keepsAlive)
    }
}

extension BodyFraming {
    /// RFC 9112 section 6.3, with every ambiguity refused.
    init(
        _ headers: HeaderFields, version: RequestHead.Version, bodyBytesMax: Int
    ) throws(RequestError) {
        let lengths = headers.values("Content-Length")
        guard headers.count(of: "Transfer-Encoding") > 0 else {
            self = try Self.length(lengths, bodyBytesMax: bodyBytesMax)
            return
        }
        guard lengths.isEmpty else { throw .lengthAndChunked }
        let codings = headers.list("Transfer-Encoding")
        guard codings.allSatisfy({ ASCII.equalIgnoringCase($0, "chunked") }) else {
            throw .unsupportedTransferCoding
        }
        // Twice chunked is an error, and HTTP/1.0 has no chunks at all (RFC 9112 section 6.1).
        guard codings.count == 1, version == .http11 else { throw .badTransferEncoding }
        self = .chunked
    }

    private static func length(_ values: [String], bodyBytesMax: Int) throws(RequestError) -> BodyFraming {
        guard !values.isEmpty else { return .none }
        var length: Int64?
        for value in values {
            let members = Array(value.utf8).split(separator: 0x2C, omittingEmptySubsequences: false)
            for member in members {
                guard let next = Self.number(ASCII.trimmed(member)) else { throw .badContentLength }
                guard length == nil || length == next else { throw .conflictingContentLengths }
                length = next
            }
        }
        guard let length, length <= Int64(bodyBytesMax) else { throw .bodyTooLarge }
        return .length(Int(length))
    }

    /// Decimal digits and nothing else; a number too large for the type is the largest one.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in digits {
            guard let digit = ASCII.digit(byte) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carried) = product.addingReportingOverflow(digit)
            value = overflow || carried ? .max : sum
        }
        return value
    }
}
