import CCurl
import EventLoop
import SimBase

extension Transfer {
    /// Sets the options that never change, once for each handle.
    func configure(for target: CurlTarget) {
        self.easy.set(CURLOPT_NOSIGNAL, 1)
        self.easy.set(CURLOPT_TCP_NODELAY, 1)
        self.easy.set(CURLOPT_PROXY, "")  // Not the environment's either.
        self.easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        self.easy.set(CURLOPT_FOLLOWLOCATION, 0)
        self.easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        self.easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        // A stream on a borrowed connection may be longer than libcurl would keep that idle (118 s).
        self.easy.set(CURLOPT_MAXAGE_CONN, Self.idleSecondsMax)
        // A session kept by a handle would be resumed by whichever phone uses the handle next.
        self.easy.set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        self.easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let file = target.certificateAuthorities { self.easy.set(CURLOPT_CAINFO, file) }
        self.easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(target.connectTimeout.wholeMilliseconds))
        switch target.version {
        case .http1:
            self.easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        case .http2:
            self.easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
            // A phone's second request joins its first connection, as URLSession's does.
            self.easy.set(CURLOPT_PIPEWAIT, 1)
        }
    }

    /// Sets everything that one request brings. Says what is wrong with it, if anything is.
    func prepare(_ request: TransferRequest, line: ConnectionLine, target: CurlTarget, keepsConnection: Bool)
        -> String?
    {
        self.request = request
        self.phone = request.phone
        self.setMethod(request)
        self.easy.set(CURLOPT_BUFFERSIZE, request.receiveBuffer.rawValue)
        self.easy.set(CURLOPT_UPLOAD_BUFFERSIZE, self.sendBufferBytes)
        self.easy.set(CURLOPT_FORBID_REUSE, keepsConnection ? 0 : 1)
        self.connect(request, line, target)
        let offset = RequestTarget.offset(in: request.url, isVerbatim: false)
        guard self.easy.set(url: request.url, target: offset) else { return "a URL that libcurl refuses" }
        return self.setHeaders(request)
    }

    private func setMethod(_ request: TransferRequest) {
        switch request.body {
        case .none:
            if request.method == .head { self.easy.set(CURLOPT_NOBODY, 1) }
            if request.method == .post { self.post([]) }
        case .bytes(let bytes):
            self.post(bytes)
        case .multipart(let parts):
            self.multipart = MultipartBody(parts, of: self.easy)
        case .streamed(let length):
            self.upload = UploadQueue()
            self.easy.set(CURLOPT_POST, 1)
            self.easy.set(CURLOPT_POSTFIELDSIZE_LARGE, size: length ?? -1)
        }
        let implied: TransferRequest.Method
        switch request.body {
        case .none: implied = request.method == .head || request.method == .post ? request.method : .get
        case .bytes, .multipart, .streamed: implied = .post
        }
        if request.method != implied { self.easy.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
    }

    private func post(_ bytes: [UInt8]) {
        self.easy.set(CURLOPT_POST, 1)
        self.easy.set(CURLOPT_POSTFIELDSIZE_LARGE, size: bytes.count)
        // An empty array may have no address, and no address would mean "read from standard input".
        if bytes.isEmpty { self.easy.set(CURLOPT_COPYPOSTFIELDS, "") } else { unsafe self.copyToPost(bytes) }
    }

    @unsafe private func copyToPost(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { buffer in
            _ = unsafe self.easy.set(CURLOPT_COPYPOSTFIELDS, pointer: buffer.baseAddress)
        }
    }

    /// An alias for each line gives it a pool of connections of its own; host, SNI and certificate stay the URL's.
    private func connect(_ request: TransferRequest, _ line: ConnectionLine, _ target: CurlTarget) {
        if let port = request.connectPort {
            self.connectTo = TextList(line.connectTo(port))
            self.easy.set(CURLOPT_CONNECT_TO, self.connectTo)
            // A closed port is certain to be closed on this host only.
            self.resolve(line, port, to: ["127.0.0.1"])
        } else {
            self.easy.set(CURLOPT_CONNECT_TO, line.connectTo)
            // Once looked at, the entry stays in the multi's cache for ever.
            if !line.isResolved { self.resolve(line, target.port, to: target.addresses) }
        }
    }

    private func resolve(_ line: ConnectionLine, _ port: UInt16, to hosts: [String]) {
        let addresses = hosts.map { $0.contains(":") ? "[\($0)]" : $0 }
        self.resolve = TextList("\(line.alias):\(port):\(addresses.joined(separator: ","))")
        self.easy.set(CURLOPT_RESOLVE, self.resolve)
    }

    private func setHeaders(_ request: TransferRequest) -> String? {
        if let flaw = request.flaw { return flaw }
        var (hasAccept, hasExpect, hasType, bytes) = (false, false, false, Self.ownHeaderBytes)
        for field in request.headers {
            bytes += HeaderLines.size(of: field)
            hasAccept = hasAccept || field.isNamed("Accept")
            hasExpect = hasExpect || field.isNamed("Expect")
            hasType = hasType || field.isNamed("Content-Type")
        }
        var lines = HeaderLines(bytes: bytes)
        for field in request.headers { lines.append(field) }
        if !hasAccept { lines.append("Accept:") }
        // Without this, bodies above 1 MB wait a second for a 100 that no backend here sends.
        if !hasExpect, request.hasBody { lines.append("Expect:") }
        switch request.body {
        case .bytes: if !hasType { lines.append("Content-Type:") }
        case .none: if request.method == .post, !hasType { lines.append("Content-Type:") }
        case .streamed(let length):
            if !hasType { lines.append("Content-Type:") }
            // HTTP/2, which has no chunks, leaves it out again.
            if length == nil { lines.append(Self.chunked) }
        case .multipart: break
        }
        self.headers = lines
        self.easy.set(CURLOPT_HTTPHEADER, self.headers)
        return nil
    }

    private static let idleSecondsMax = 365 * 86_400
    private static let chunked: StaticString = "Transfer-Encoding: chunked"
    /// Room for the lines that are added to those of a request: four at most, none longer than this one.
    private static let ownHeaderBytes = 4 * HeaderLines.size(of: Transfer.chunked)
}

/// What the text of a URL says without being read as one.
package enum RequestTarget {
    /// The host with its port and the target of a URL; nil where there is more to be read. `isVerbatim`: the target is sent as
    /// it is written, whatever libcurl would make of it.
    package static func parts(
        of url: String, isVerbatim: Bool
    ) -> (isSecure: Bool, host: Substring, target: Substring)? {
        let isSecure = url.hasPrefix("https://")
        guard isSecure || url.hasPrefix("http://"), let offset = Self.offset(in: url, isVerbatim: isVerbatim)
        else { return nil }
        let start = url.utf8.index(url.startIndex, offsetBy: isSecure ? 8 : 7)
        let end = url.utf8.index(url.startIndex, offsetBy: offset)
        let authority = url[start..<end]
        guard !authority.isEmpty, !authority.utf8.contains(UInt8(ascii: "@")) else { return nil }
        // The scheme's own port is left out (RFC 9110 section 4.2.3).
        let port = isSecure ? ":443" : ":80"
        let host = authority.hasSuffix(port) ? authority.dropLast(port.utf8.count) : authority
        return (isSecure, host, url[end...])
    }

    /// The offset of the path with its query in a URL; nil if there is none, and for everything that libcurl may refuse, decode or
    /// leave out.
    /// `isVerbatim`: not for what libcurl would only change in the path and the query.
    static func offset(in url: String, isVerbatim: Bool) -> Int? {
        // As memory: to go through the view of a text costs four times as much.
        let offset = unsafe url.utf8.withContiguousStorageIfAvailable {
            unsafe Self.offset(in: $0, isVerbatim: isVerbatim)
        }
        return offset ?? nil
    }

    @unsafe private static func offset(in url: UnsafeBufferPointer<UInt8>, isVerbatim: Bool) -> Int? {
        var slashes = 0
        var (target, last) = (nil as Int?, UInt8(0))
        for index in url.indices {
            let byte = unsafe url[index]
            let isExact = isVerbatim && target != nil
            switch byte {
            case UInt8(ascii: "/"):
                slashes += 1
                if slashes == 3 { target = index }
            // It begins a query, and a dot behind a slash may be of a segment that is resolved.
            case UInt8(ascii: "?") where target == nil: return nil
            case UInt8(ascii: ".") where target != nil && !isVerbatim && last == UInt8(ascii: "/"):
                return nil
            case UInt8(ascii: "%") where !isExact, UInt8(ascii: "\\") where !isExact: return nil
            case UInt8(ascii: "#"): return nil
            case 0x21...0x7E: break
            default: return nil
            }
            last = byte
        }
        return last == UInt8(ascii: "?") && !isVerbatim ? nil : target
    }
}

/// The state that a pool keeps for one phone.
struct PhoneLines {
    /// The first is used where libcurl chooses among the phone's connections by itself.
    var lines: [ConnectionLine]
    /// Its running exchanges.
    var transfers: [UInt32] = []
}

/// A name by which libcurl tells one connection, or the connections of one phone, from all others.
final class ConnectionLine {
    let alias: String
    /// Sends requests to the alias at the target's port. Borrowed by every transfer of the line.
    let connectTo: TextList
    /// Whether the multi's cache of names knows the alias.
    var isResolved = false
    /// Whether the line has an exchange, or a client has its connection.
    var isTaken = false

    init(phone: Int, number: Int, port: UInt16) {
        self.alias =
            number == 0 ? CurlPool.alias(ofPhone: phone) : "line-\(number).\(CurlPool.alias(ofPhone: phone))"
        self.connectTo = TextList(Self.connectTo(self.alias, port))
    }

    func connectTo(_ port: UInt16) -> String { Self.connectTo(self.alias, port) }

    private static func connectTo(_ alias: String, _ port: UInt16) -> String { "::\(alias):\(port)" }
}
