package import OriginServer
package import SimBase
package import Talaria

/// The configuration of the simulated backend: the values of a scenario's `server:` section. The books are in
/// `Shelf`. The defaults are those of Docs/contract.md appendix, except that pings carry no id and the job time is a
/// range around the observed 12 s (section 2.4).
package struct BackendConfiguration: Hashable, Sendable {
    /// The form of links in the 202 and the `completed` event (Docs/contract.md section 7, C1).
    package enum URLForm: Hashable, Sendable {
        case relative
        /// Links with this base, without a trailing slash: `https://api.oooefam.net`.
        case absolute(base: String)
        /// Links with the `Host` by which the client addresses the server.
        case absoluteToHost
    }

    /// Which id an event has when it is sent again (Docs/contract.md section 2.2).
    package enum ReplayIDs: String, CaseIterable, Hashable, Sendable {
        /// The one it always had.
        case kept
        /// A new id by the time of delivery, with the old `timestamp`.
        case fresh
    }

    /// The line ending of an event stream.
    package enum LineEnds: String, CaseIterable, Hashable, Sendable {
        case lf, crlf, cr
        /// One of the three for each stream, drawn.
        case mixed
    }

    /// The response to a DELETE of a job that no longer exists; success for a client in any case.
    package enum RepeatedCleanup: Int, CaseIterable, Hashable, Sendable {
        case noContent = 204
        case notFound = 404
    }

    /// The members of the books in a `completed` event (Docs/contract.md section 1.3).
    package enum InlineBooks: String, CaseIterable, Hashable, Sendable {
        case lite, full
    }

    package static let intervalMax = OriginLimits.intervalMax

    /// Whether clients use https, as the links of `absoluteToHost` then say.
    package var isSecure = false
    /// The form of what is sent.
    package var dialect = Dialect()
    /// The time from the 202 to the `completed` event; drawn per scan, uniformly.
    package var jobTime: ClosedRange<Interval> = .seconds(8)...(.seconds(16))
    /// The time from the head of a stream to its first ping, and from ping to ping.
    package var ping = Interval.seconds(30)
    /// Pings carry an `id:` line (C9).
    package var pingIDs = false
    /// The time from the 202 until requests with its token get 401 `TOKEN_EXPIRED`. Open streams stay open:
    /// the token is checked for each request.
    package var tokenLifetime = ContractLimit.tokenLifetime
    /// The time for which an event can be replayed, from its first emission (C14).
    package var eventBuffer = Interval.seconds(60)
    package var replayIDs = ReplayIDs.kept
    package var lineEnds = LineEnds.lf
    /// Uploads per device id, in a sliding window; nil for no limit (Docs/contract.md section 1.8).
    package var rateLimit: Quota? = Quota(requests: 10, window: .minutes(20))
    /// Further limits. A request must be within all that count it.
    package var limits: [RateLimitRule] = []
    /// Simulated phones that share an address: phone n has the address n / `phonesPerAddress`. On sockets they all have
    /// one, and in the simulation none.
    package var phonesPerAddress = 1
    /// The time from the `completed` event until the job expires (C21); with the default token lifetime, a
    /// client gets 401 first, then 410.
    package var resultsLifetime = Interval.hours(2)
    /// Jobs of v3 send a preview when their books are identified, and each book by itself (Docs/contract.md section 2.1).
    package var progressive = false
    /// The size of the image of a preview; drawn per scan, uniformly.
    package var previewBytes = 200_000...200_000
    /// A job of v3 that is canceled ends with an event `canceled`, and not with an `error` event of this code.
    package var cancelEvent = false
    /// A `completed` payload of more bytes loses its `books` (Docs/contract.md section 2.3).
    package var completedBytesMax = ContractLimit.completedBytesMax
    package var inlineBooks = InlineBooks.lite
    /// A token is good only together with the device id of its upload; otherwise 401
    /// (Docs/contract.md appendix, "device binding").
    package var strictDevice = false
    /// A stream must be requested with `Accept: text/event-stream`, or gets 400
    /// (Docs/contract.md section 2.6). Otherwise whatever `Accept` says, or its absence, is fine.
    package var strictAccept = false
    /// The form of the answer to a look-up by text (C24).
    package var enrichmentForm = Enrichment.Form.nested
    package var repeatedCleanup = RepeatedCleanup.noContent
    package var urlForm = URLForm.relative
    /// The `retry:` field at the start of every stream; nil sends none. It raises a phone's backoff.
    package var retryField: Interval?
    /// The time from the terminal event of a stream to the end of its connection.
    package var streamLinger = Interval.zero
    /// Photos in one upload.
    package var photosMax = ContractLimit.photosMax
    package var photoBytesMax = ContractLimit.photoBytesMax
    /// All photos of one upload together.
    package var batchBytesMax = ContractLimit.batchBytesMax
    /// Jobs alive, with the uploads that would become one; beyond it uploads get 503 `CIRCUIT_OPEN`. A job
    /// lives until it is cleaned up or expires. One of v2 whose results were served expires when its slot is
    /// needed.
    package var jobsMax = 100_000
    /// Bytes of all documents of v2 that are held; beyond it uploads get 503 `CIRCUIT_OPEN`.
    package var documentBytesMax = 512 << 20
    /// Jobs remembered as gone (410). One forgotten gets 404.
    package var tombstonesMax = 65_536
    /// The imports of v2.
    package var imports = ImportRules()
    /// The enrichment of single books of v2.
    package var enrichments = LookupRules()
    /// Milliseconds since 1970 at `Instant.zero`, for time stamps and event ids. The default is 2026-02-01T12:00:00Z,
    /// the day in the contract's examples.
    package var wallClockAtZero: Int64 = 1_769_947_200_000
    /// Jobs of v2, where their documents disagree.
    package var v2 = V2Rules()

    package init() {}

    /// All limits of requests; those that count uploads by device id come first.
    var rules: [RateLimitRule] {
        let own = self.rateLimit.map { RateLimitRule(quota: $0, scope: .device, requests: .uploads) }
        return (own.map { [$0] } ?? []) + self.limits
    }

    /// Whether one of `limits` admits nothing.
    package var limitRefusesAll: Bool { self.limits.contains { $0.quota.requests == 0 } }

    /// Whether a limit counts the requests of an address.
    package var limitsAddresses: Bool { self.limits.contains { $0.scope == .address } }

    /// The longest window of a limit that counts uploads, and the fewest uploads that one admits; nil without a limit.
    package var uploadLimit: Quota? {
        let quotas = self.rules.filter { $0.requests != .status }.map(\.quota)
        guard let requests = quotas.map(\.requests).min(), let window = quotas.map(\.window).max() else {
            return nil
        }
        return Quota(requests: requests, window: window)
    }

    /// The time for which the results of a completed job are served.
    package func resultsLifetime(of version: APIVersion) -> Interval {
        switch version {
        case .v2: self.v2.resultsLifetime ?? self.resultsLifetime
        case .v3: self.resultsLifetime
        }
    }

    /// The defaults: Docs/contract.md appendix, except that pings carry no id and the job time is a range
    /// around the observed 12 s (section 2.4).
    package static let contract = BackendConfiguration()

    /// Why a backend cannot be like this, or nil when it can.
    package var objection: String? {
        let lengths = [
            ("the job time", self.jobTime.lowerBound), ("the job time", self.jobTime.upperBound),
            ("the ping interval", self.ping), ("the token lifetime", self.tokenLifetime),
            ("the event buffer", self.eventBuffer), ("the results lifetime", self.resultsLifetime),
            ("the retry field", self.retryField ?? .zero), ("the stream's linger", self.streamLinger),
            ("the results lifetime of v2", self.v2.resultsLifetime ?? .zero),
            ("the circuit breaker's cooldown", self.v2.breaker?.cooldown ?? .zero),
        ]
        for (name, length) in lengths where !(.zero...Self.intervalMax).contains(length) {
            return "\(name) must be between 0s and ten years"
        }
        if self.ping < .milliseconds(1) { return "the ping interval must be at least 1ms" }
        for quota in self.rules.map(\.quota) {
            guard quota.requests < 0 || !(.nanoseconds(1)...Self.intervalMax).contains(quota.window) else {
                continue
            }
            return "a rate limit needs a window above zero and a number of requests that is not negative"
        }
        if self.phonesPerAddress < 1 { return "an address is that of at least one phone" }
        if self.photosMax < 1 || self.photoBytesMax < 1 || self.batchBytesMax < 1 {
            return "the limits must allow an upload of one photo of one byte"
        }
        if let breaker = self.v2.breaker,
            breaker.failures < 1 || breaker.successes < 1 || breaker.cooldown <= .zero
        {
            return "a circuit breaker needs at least one failure, one success and a cooldown above zero"
        }
        let previews = PreviewImage.bytesMin...SegmentedReading.imageBytesMax
        if !previews.contains(self.previewBytes.lowerBound)
            || !previews.contains(self.previewBytes.upperBound)
        {
            return "a preview must have \(previews.lowerBound) to \(previews.upperBound) bytes"
        }
        if self.completedBytesMax < 0 || self.jobsMax < 0 || self.tombstonesMax < 0 {
            return "a limit is below zero"
        }
        return nil
    }
}
