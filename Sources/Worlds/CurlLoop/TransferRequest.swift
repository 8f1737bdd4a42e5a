package import SimBase
import Wire

/// One HTTP exchange to be made for a phone.
///
/// Nothing is added to it but `Host`, `Content-Length` and, for multipart bodies, `Content-Type`: libcurl's own
/// `Accept`, `Expect` and `Content-Type` are switched off unless they are among `headers`.
package struct TransferRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
        case options = "OPTIONS"
    }

    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// `multipart/form-data`, in this order.
        case multipart([Part])
        /// Fed while it is sent; without a length it goes out in chunks. See `CurlPool.feed`.
        case streamed(length: Int?)
    }

    package struct Part: Sendable {
        /// The form field.
        package var name: String
        package var filename: String?
        package var contentType: String?
        package var content: PhotoSource

        package init(name: String, filename: String?, contentType: String?, content: PhotoSource) {
            self.name = name
            self.filename = filename
            self.contentType = contentType
            self.content = content
        }
    }

    /// The amount of data received at a time: each open stream has a buffer of this size.
    package enum ReceiveBuffer: Int, Sendable {
        /// 1 KiB, for event streams: 13 KB a phone instead of 16.
        case stream = 1_024
        /// 16 KiB.
        case reply = 16_384
    }

    /// Whether it is sent with a body, an empty one included.
    package var hasBody: Bool {
        switch self.body {
        case .none: self.method == .post
        case .bytes, .multipart, .streamed: true
        }
    }

    /// The phone's index in the pool, from 0. Its connections are its own.
    package var phone: Int
    package var method: Method
    /// `http` or `https`; the host is that of the pool's target.
    package var url: String
    package var headers: [HeaderField]
    package var body: Body
    package var receiveBuffer: ReceiveBuffer
    /// Connect to this port of loopback, on a new connection, instead of the target (the `refuse` fault).
    package var connectPort: UInt16?
    /// The scheduled start of the exchange; only for the statistics.
    package var scheduled: Instant?

    package init(
        phone: Int, method: Method, url: String, headers: [HeaderField], body: Body,
        receiveBuffer: ReceiveBuffer,
        connectPort: UInt16? = nil, scheduled: Instant? = nil
    ) {
        self.phone = phone
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.receiveBuffer = receiveBuffer
        self.connectPort = connectPort
        self.scheduled = scheduled
    }
}

extension TransferRequest {
    /// Whether it asks for another protocol on its connection (RFC 9110 section 7.8). `ClientPool` makes it, never libcurl.
    package var asksForUpgrade: Bool {
        self.headers.contains { $0.isNamed("Upgrade") }
            && HeaderFields(self.headers).list("Connection", contains: "Upgrade")
    }

    /// Why it cannot be sent as it is; nil if it can.
    package var flaw: String? {
        for field in self.headers {
            guard Self.isOneLine(field.name), Self.isOneLine(field.value), !field.name.isEmpty else {
                return "a header that is not one line"
            }
        }
        return nil
    }

    private static func isOneLine(_ text: String) -> Bool {
        !text.contains { $0.equal(UInt8(ascii: "\r")) | $0.equal(UInt8(ascii: "\n")) | $0.equal(0) }
    }
}

/// Bytes that never change and may be shared by any number of uploads on any thread: one photo.
package final class SharedBytes: Sendable {
    package let bytes: [UInt8]
    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// An upload's content: a few bytes of its own, then a shared immutable buffer. Neither is copied.
package struct PhotoSource: Sendable {
    package let head: [UInt8]
    /// The offset in `shared` at which the content continues after `head`.
    package let sharedFrom: Int
    package let shared: SharedBytes?

    package init(head: [UInt8], shared: SharedBytes?, from sharedFrom: Int = 0) {
        precondition(sharedFrom >= 0 && sharedFrom <= shared?.bytes.count ?? 0, "a part of the shared bytes")
        self.head = head
        self.shared = shared
        self.sharedFrom = sharedFrom
    }

    package var count: Int { self.head.count + (self.shared?.bytes.count ?? 0) - self.sharedFrom }
}
