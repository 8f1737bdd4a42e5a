package import Faults
internal import SimBase
package import Talaria

// The door of the fault gateway: what phones ask and what a foreign backend answers comes in, effects go out. As with
// `Backend`, the driver owns sockets, links and clocks.

/// The head of the upstream's answer.
package struct UpstreamHead: Hashable, Sendable {
    package var status: Int
    /// Without the fields that are of one connection only.
    package var headers: [HeaderLine]
    /// What `Content-Length` says.
    package var length: Int?

    package init(status: Int, headers: [HeaderLine], length: Int?) {
        self.status = status
        self.headers = headers
        self.length = length
    }

    func first(_ name: String) -> String? {
        let wanted = name.lowercased()
        return self.headers.first { $0.name.lowercased() == wanted }?.value
    }

    var mediaType: String {
        let type = self.first("Content-Type")?.split(separator: ";").first.map(String.init) ?? ""
        return type.lowercased().trimmed
    }
}

/// How the upstream failed. The raw values are what a phone and the log are told.
package enum UpstreamFailure: String, Error, CaseIterable, Hashable, Sendable {
    case nameNotResolved = "name-not-resolved"
    case connectRefused = "connect-refused"
    case connectFailed = "connect-failed"
    case connectTimedOut = "connect-timed-out"
    case tlsFailed = "tls-failed"
    case descriptorsExhausted = "descriptors-exhausted"
    /// Closed before a byte of its answer.
    case connectionDied = "connection-died"
    case connectionReset = "connection-reset"
    /// Closed inside its answer.
    case truncated
    case notHTTP = "not-http"
    case replyTimedOut = "reply-timed-out"
    case redirect
    case html
    /// An answer that must be rewritten is longer than may be held.
    case tooLarge = "too-large"
    /// A method that is not passed on.
    case notForwarded = "not-forwarded"
    case internalError = "internal-error"

    /// 502 or 504, by who is to blame as far as one can tell.
    var code: ProblemCode {
        switch self {
        case .connectTimedOut, .replyTimedOut: .providerTimeout
        case .nameNotResolved, .connectRefused, .connectFailed, .tlsFailed, .descriptorsExhausted,
            .connectionDied, .connectionReset, .truncated, .notHTTP, .internalError:
            .networkError
        case .redirect, .html, .tooLarge: .providerError
        case .notForwarded: .featureNotAvailable
        }
    }

    var text: String {
        switch self {
        case .nameNotResolved: "The upstream's name could not be resolved."
        case .connectRefused: "The upstream refused the connection."
        case .connectFailed: "The upstream could not be connected to."
        case .connectTimedOut: "The upstream did not take the connection in time."
        case .tlsFailed: "The upstream's certificate or handshake is not acceptable."
        case .descriptorsExhausted: "The gateway has no descriptor left."
        case .connectionDied: "The upstream closed the connection before it answered."
        case .connectionReset: "The upstream reset the connection before it answered."
        case .truncated: "The upstream's answer ended before its end."
        case .notHTTP: "What the upstream answered is not HTTP."
        case .replyTimedOut: "The upstream did not answer in time."
        case .redirect: "The upstream redirects, which is not followed."
        case .html: "The upstream answered with a page of HTML."
        case .tooLarge: "The upstream's answer is too large."
        case .notForwarded: "The gateway does not pass on this method."
        case .internalError: "The gateway failed."
        }
    }
}

/// What happens to the gateway.
package enum GatewayEvent: Sendable {
    /// `authority`: the `Host` by which the phone calls the gateway, for links in bodies.
    case requested(
        ExchangeID, BackendRequest, Caller, connection: UInt64, authority: String?, faults: [ArmedFault])
    /// The request has gone to the upstream to its last byte.
    case sent(ExchangeID)
    case replied(ExchangeID, UpstreamHead)
    case received(ExchangeID, [UInt8])
    /// The answer is complete, or never will be.
    case ended(ExchangeID, UpstreamFailure?)
    /// The phone is gone, or a fault ended the exchange.
    case aborted(ExchangeID)
    case woke
}

/// What is changed of a request on its way to the upstream.
package enum ResumePoint: Hashable, Sendable {
    case asSent
    case replaced(String)
    case removed
}

/// What the gateway wants done.
package enum GatewayEffect: Sendable {
    /// What the simulated backend would want, too: a whole reply, an event stream, an observation.
    case answer(BackendEffect)
    /// The request goes to the upstream, its body as it comes.
    case forward(ExchangeID, ResumePoint)
    /// The head of an answer that passes; without a length it goes out in chunks.
    case passHead(ExchangeID, UpstreamHead)
    case passBody(ExchangeID, [UInt8])
    case passEnd(ExchangeID)
    /// The answer ends towards the phone as it did at the upstream: not complete.
    case breakOff(ExchangeID, CutEnding)
    /// Nothing more is wanted of the upstream.
    case letGo(ExchangeID)
    /// The upstream failed, for the log.
    case failed(ExchangeID, UpstreamFailure)
}

extension String {
    fileprivate var trimmed: String {
        String(self.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
