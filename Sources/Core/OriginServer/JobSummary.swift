package import SimBase

/// The state of a job, for the status page.
package struct JobSummary: Hashable, Sendable {
    package var id: String
    package var owner: Caller
    package var state: String
    package var accepted: Instant
    /// The expiry of the token; nil if only a foreign backend knows it.
    package var tokenExpires: Instant?
    package var isTokenRevoked: Bool
    /// Events so far; is nil if they are not counted.
    package var events: Int?
    package var streams: Int

    package init(
        id: String, owner: Caller, state: String, accepted: Instant, tokenExpires: Instant?,
        isTokenRevoked: Bool, events: Int?, streams: Int
    ) {
        self.id = id
        self.owner = owner
        self.state = state
        self.accepted = accepted
        self.tokenExpires = tokenExpires
        self.isTokenRevoked = isTokenRevoked
        self.events = events
        self.streams = streams
    }
}
