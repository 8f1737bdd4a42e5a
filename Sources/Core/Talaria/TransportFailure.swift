/// The failure of a request below HTTP.
package enum TransportFailure: String, CaseIterable, Hashable, Sendable {
    case nameNotResolved = "name-not-resolved"
    case connectRefused = "connect-refused"
    case connectTimedOut = "connect-timed-out"
    case tls
    /// The connection died: reset, or closed before any reply.
    case reset
    /// The body ended before it was complete.
    case closedEarly = "closed-early"
    case timedOut = "timed-out"
    case descriptorsExhausted = "descriptors-exhausted"
    /// The response is not HTTP.
    case malformed
    case noPath = "no-path"
    /// The address is on another server and was not asked.
    case foreignURL = "foreign-url"
    case other
}
