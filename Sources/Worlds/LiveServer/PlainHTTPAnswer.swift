import SimBase
import Wire

/// The response to a request without TLS on a port for TLS.
enum PlainHTTPAnswer {
    private static let text = "This port is for TLS. Use https:// instead of http://.\n"

    static let bytes: [UInt8] = {
        var headers = HeaderFields()
        headers.append("Content-Type", "text/plain; charset=utf-8")
        headers.append("Connection", "close")
        var bytes: [UInt8] = []
        ResponseWriter.reply(status: 400, headers: headers, body: Array(Self.text.utf8), into: &bytes)
        return bytes
    }()
}
