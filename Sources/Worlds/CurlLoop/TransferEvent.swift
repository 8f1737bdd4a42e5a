package import SimBase
package import Wire

/// A running exchange. Never reused, so a late event of an abandoned one is recognized.
package struct TransferID: Hashable, Sendable {
    /// Its place among the exchanges of a client, and how many that has had before.
    package let slot: UInt32
    package let generation: UInt32

    package init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    /// One number for both.
    package var number: UInt64 { UInt64(self.generation) << 32 | UInt64(self.slot) }
}

/// The receiver of an exchange's events, called on the loop's thread and never from inside libcurl: it can
/// call any function of the pool. There are no calls after `end` or `cancel`. After `end` or `cancel` there
/// is nothing more.
package protocol TransferDelegate: AnyObject {
    /// The final response head; 1xx heads are skipped.
    func transfer(_ transfer: TransferID, of phone: Int, replied head: ResponseHead, at moment: Instant)

    /// Bytes of the body, at least one. The array is reused: take what you need before you return.
    func transfer(_ transfer: TransferID, of phone: Int, received bytes: [UInt8], at moment: Instant)

    /// libcurl has taken of a streamed body, or the peer of what was transmitted to it; so many bytes wait.
    func transfer(_ transfer: TransferID, of phone: Int, bodyLeft bytes: Int, at moment: Instant)

    /// The exchange is over; the id means nothing any more.
    func transfer(_ transfer: TransferID, of phone: Int, ended end: TransferEnd, at moment: Instant)
}

extension TransferDelegate {
    package func transfer(_ transfer: TransferID, of phone: Int, bodyLeft bytes: Int, at moment: Instant) {}
}

/// A response head.
package struct ResponseHead: Hashable, Sendable {
    package var status: Int
    /// The fields in the order of arrival, including duplicates.
    package var headers: HeaderFields

    package init(status: Int, headers: HeaderFields) {
        self.status = status
        self.headers = headers
    }
}

/// The end of an exchange.
package struct TransferEnd: Sendable {
    /// Nil when the response is complete.
    package var failure: TransferFailure?
    package var stats: TransferStats

    package init(failure: TransferFailure?, stats: TransferStats) {
        self.failure = failure
        self.stats = stats
    }
}

/// Why an exchange was not completed.
package struct TransferFailure: Error, Hashable, Sendable {
    package var kind: TransportFailure
    /// The connection had an exchange before and died before the first byte of the answer. Most clients, libcurl among them,
    /// then send the request a second time by themselves. Here it is not sent, and `kind` is `closedBeforeReply`.
    package var isResendRefused: Bool
    /// libcurl's CURLcode; 0 without libcurl.
    package var code: Int32
    /// errno of the failed connect, or 0.
    package var systemCode: Int32
    package var message: String

    package init(
        kind: TransportFailure, isResendRefused: Bool, code: Int32, systemCode: Int32, message: String
    ) {
        self.kind = kind
        self.isResendRefused = isResendRefused
        self.code = code
        self.systemCode = systemCode
        self.message = message
    }
}

/// Measurements of one exchange. Instants are of the loop's clock.
package struct TransferStats: Hashable, Sendable {
    /// The scheduled time in the request.
    package var scheduled: Instant?
    /// The time at which `start` was called.
    package var started: Instant
    /// The time at which there was a connection and the request was about to be sent; nil if there never was.
    package var sent: Instant?
    /// The final response head was complete.
    package var replied: Instant?
    package var nameLookup: Interval
    /// TCP connect complete, from the start.
    package var connect: Interval
    /// TLS complete, from the start; zero without TLS.
    package var appConnect: Interval
    package var bytesSent: Int64
    package var bytesReceived: Int64
    /// False when a connection of the phone was reused.
    package var isNewConnection: Bool
    /// Nil without a connection.
    package var localPort: UInt16?
    /// 10, 11, 20 or 30; 0 without a response.
    package var httpVersion: Int
    /// Whether the phones' own client has read bytes behind the end of the answer.
    package var hasExcess = false

    package init(
        scheduled: Instant?, started: Instant, sent: Instant?, replied: Instant?, nameLookup: Interval,
        connect: Interval, appConnect: Interval, bytesSent: Int64, bytesReceived: Int64,
        isNewConnection: Bool, localPort: UInt16?, httpVersion: Int
    ) {
        self.scheduled = scheduled
        self.started = started
        self.sent = sent
        self.replied = replied
        self.nameLookup = nameLookup
        self.connect = connect
        self.appConnect = appConnect
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.isNewConnection = isNewConnection
        self.localPort = localPort
        self.httpVersion = httpVersion
    }
}
