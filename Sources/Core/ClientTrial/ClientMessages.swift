internal import OriginServer
import SimBase
import Talaria
package import Wire

/// A request of a client, as its head says.
package struct ClientRequest: Hashable, Sendable {
    package var method: String
    /// Without a query.
    package var path: String
    package var query: String?
    package var device: String?
    package var userAgent: String?
    package var authorization: String?
    package var accept: String?
    package var lastEventID: String?
    package var contentLength: Int?

    package init(_ head: RequestHead) {
        self.method = head.method
        self.path = head.path
        self.query = head.query
        self.device = head.headers[HeaderName.deviceID]
        self.userAgent = head.headers["User-Agent"]
        self.authorization = head.headers[HeaderName.authorization]
        self.accept = head.headers["Accept"]
        self.lastEventID = head.headers[HeaderName.lastEventID].flatMap { $0.isEmpty ? nil : $0 }
        if case .length(let length) = head.body { self.contentLength = length }
    }

    /// The operation of the contract; nil if none is meant.
    var meaning: (operation: Talaria.Operation, journey: Journey, job: String?)? {
        guard let place = JourneyPath(path: self.path),
            let operation = place.operation(method: self.method)
        else { return nil }
        return (operation, place.journey, place.endpoint.jobID)
    }

    /// The method and the path, for a report: a query may have a token.
    var line: String { "\(self.method.bounded) \(self.path.bounded)" }

    /// The digest of its bearer token; nil without one.
    var token: UInt64? {
        guard let authorization = self.authorization else { return nil }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return Digest.of(String(parts[1]))
    }

    /// The names and values of its query.
    var parameters: [(name: String, value: String)] {
        (self.query ?? "").split(separator: "&").map { part in
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = halves.count > 1 ? String(halves[1]) : ""
            return (String(halves[0]), PercentEncoding.decoded(value) ?? value)
        }
    }
}

/// The body of an upload, or why it cannot be read.
package struct ClientUpload: Hashable, Sendable {
    package struct Part: Hashable, Sendable {
        package var name: String
        package var bytes: Int
        /// The first bytes.
        package var prefix: [UInt8]

        package init(name: String, bytes: Int, prefix: [UInt8]) {
            self.name = name
            self.bytes = bytes
            self.prefix = prefix
        }

        var isPhoto: Bool {
            self.prefix.starts(with: [0xFF, 0xD8])
                || self.prefix.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        }
    }

    package var parts: [Part]
    /// Nil for a body that can be read.
    package var fault: String?

    package init(parts: [Part], fault: String? = nil) {
        self.parts = parts
        self.fault = fault
    }

    /// Distinguishes photos by the beginnings and the lengths of their parts.
    var identity: UInt64 {
        var digest = Digest()
        for part in self.parts {
            digest.absorbInWords(part.prefix)
            digest.absorb(UInt64(part.bytes))
        }
        return digest.value
    }
}

/// The head of an answer, as it was sent to a client.
package struct ClientAnswer: Hashable, Sendable {
    package var status: Int
    /// In lower case, without parameters.
    package var mediaType: String
    package var retryAfter: String?

    package init(status: Int, mediaType: String, retryAfter: String?) {
        self.status = status
        self.mediaType = mediaType
        self.retryAfter = retryAfter
    }

    var isSuccess: Bool { (200...299).contains(self.status) }
}

/// How an exchange with a client ended.
package enum ClientEnd: Hashable, Sendable {
    /// With the whole answer.
    case whole
    /// Before that, by the server, which has closed the connection in order.
    case closed
    /// Before that, by a reset or a silence of the server: what was sent last need not have been read.
    case reset
    /// Before that, by the client.
    case left
}
