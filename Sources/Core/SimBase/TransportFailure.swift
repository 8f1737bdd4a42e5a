/// The failure of a request below HTTP.
package enum TransportFailure: String, CaseIterable, Hashable, Sendable {
    case nameNotResolved = "name-not-resolved"
    case connectRefused = "connect-refused"
    /// Other failures to connect, such as an unreachable network.
    case connectFailed = "connect-failed"
    case connectTimedOut = "connect-timed-out"
    /// Certificate or handshake.
    case tls
    /// RST, or a broken pipe.
    case reset
    /// The connection closed, without RST, before a byte of the response.
    case closedBeforeReply = "closed-before-reply"
    /// The connection closed inside the response.
    case closedEarly = "closed-early"
    case timedOut = "timed-out"
    /// The process has no descriptor left (EMFILE).
    case descriptorsExhausted = "descriptors-exhausted"
    /// The response is not HTTP, or exceeds a limit.
    case malformed
    case noPath = "no-path"
    /// The address is on another server and was not asked.
    case foreignURL = "foreign-url"
    /// A bug of this program or of a library: out of memory, a bad option.
    case other
}
