import SimBase
import Talaria
import Wire

/// One value of a client profile, as it is shown to people.
package struct ProfileValue: Sendable {
    /// The name of the value, as the key of a scenario would be: `stream.idle-timeout`.
    package let name: String
    package let meaning: String
    /// The sections of Docs/contract.md or Docs/design.md that the contract's value comes from.
    package let source: String
    package let text: @Sendable (ClientProfile) -> String

    private init(
        _ name: String, _ meaning: String, _ source: String,
        _ text: @escaping @Sendable (ClientProfile) -> String
    ) {
        self.name = name
        self.meaning = meaning
        self.source = source
        self.text = text
    }

    /// Every value, in the order of the properties of `ClientProfile`.
    package static let all: [ProfileValue] = [
        ProfileValue("identity.upload", "device id of uploads", Self.identity) {
            $0.identity.upload.rawValue
        },
        ProfileValue("identity.stream", "device id of streams", Self.identity) {
            $0.identity.stream.rawValue
        },
        ProfileValue("identity.results", "device id of requests for results", Self.identity) {
            $0.identity.results.rawValue
        },
        ProfileValue("identity.cleanup", "device id of DELETE requests", Self.identity) {
            $0.identity.cleanup.rawValue
        },
        ProfileValue(
            "upload.shows-code", "code of a refusal, as the user sees it", "contract 4.11, Q21, design 6"
        ) {
            Self.text($0.upload.showsCode)
        },
        ProfileValue("upload.user-agent", "User-Agent of uploads", "contract 4.2, step 8") {
            $0.upload.userAgent
        },
        ProfileValue("upload.problems", "body of a 4xx or 5xx", "contract 1.7 and 5, GAP-1") {
            $0.upload.problems.rawValue
        },
        ProfileValue("upload.is-repeated", "uploads after a failure", "contract 4.3, design 6") {
            Self.text($0.upload.isRepeated)
        },
        ProfileValue("upload.retries-max", "uploads again after failures in a row", "design 6") {
            $0.upload.retriesMax.map(String.init) ?? "unlimited"
        },
        ProfileValue("upload.repeats-limited", "upload again after a 429", "contract 1.8, design 6") {
            Self.text($0.upload.repeatsLimited)
        },
        ProfileValue("upload.photos", "photos of one scan", "contract 1.1 and 4.2, step 8") {
            Self.text($0.upload.photos)
        },
        ProfileValue("upload.regions", "scans of the regions of one photo", "contract 4.2, step 2b") {
            Self.text($0.upload.regions)
        },
        ProfileValue("upload.part", "name of the part that is the photo", "contract 1.1 and 7, C27") {
            $0.upload.part
        },
        ProfileValue("upload.answer", "form of the 202", "contract 1.2") { $0.upload.answer.rawValue },
        ProfileValue("waits.prefers-header", "Retry-After before retryAfterMs", "contract 1.7 and 1.8") {
            Self.text($0.waits.prefersHeader)
        },
        ProfileValue("waits.uses-header", "Retry-After of a problem without a wait", "contract 4.3") {
            Self.text($0.waits.usesHeader)
        },
        ProfileValue("waits.is-set-anew", "earlier end of the wait by a later 429", "contract 4.6, design 6")
        {
            Self.text($0.waits.isSetAnew)
        },
        ProfileValue("waits.rate-limit-default", "wait after a 429 without a time", "contract 4.3") {
            Self.text($0.waits.rateLimitDefault)
        },
        ProfileValue("stream.slots", "uploads and streams of a phone at once", "contract 8") {
            String($0.stream.slots)
        },
        ProfileValue("stream.resumes", "Last-Event-ID after a loss", "contract 2.2 and 5, GAP-5") {
            Self.text($0.stream.resumes)
        },
        ProfileValue("stream.after-loss", "failure of a stream below HTTP", "contract 4.4, design 6") {
            $0.stream.afterLoss.rawValue
        },
        ProfileValue("stream.after-end", "end of a stream without a terminal event", "contract 4.4, design 6")
        {
            $0.stream.afterEnd.rawValue
        },
        ProfileValue("stream.statuses", "status other than 200 of a stream", "contract 4.4, design 6") {
            $0.stream.statuses.rawValue
        },
        ProfileValue("stream.reader", "lines of an event stream", "contract 4.11, Q1 and Q4") {
            $0.stream.reader.rawValue
        },
        ProfileValue("stream.attempts-max", "failures of the streams of one job", "design 6") {
            $0.stream.attemptsMax.map(String.init) ?? "unlimited"
        },
        ProfileValue("stream.resets-backoff", "backoff after an event", "design 6") {
            Self.text($0.stream.resetsBackoff)
        },
        ProfileValue("stream.resolves-relative-address", "relative sseUrl", "contract 1.2 and 7, C1") {
            Self.text($0.stream.resolvesRelativeAddress)
        },
        ProfileValue("stream.connect-timeout", "time for the head of a stream", "design 6") {
            Self.text($0.stream.connectTimeout)
        },
        ProfileValue("stream.idle-timeout", "silence of a stream that counts as a loss", "design 6") {
            Self.text($0.stream.idleTimeout)
        },
        ProfileValue(
            "stream.slot-hold", "slot of a completed scan after its DELETE", "contract 4.12, design 6"
        ) {
            $0.stream.slotHold.map(Self.text) ?? "none"
        },
        ProfileValue("events.ping", "ping", "contract 2.1 and 5, GAP-7") { $0.events.ping.rawValue },
        ProfileValue("events.enrichment-degraded", "enrichment_degraded", "contract 2.1 and 5, GAP-6") {
            $0.events.enrichmentDegraded.rawValue
        },
        ProfileValue("events.unknown", "unknown event", "contract 4.5 and 5") {
            $0.events.unknown.rawValue
        },
        ProfileValue("events.result", "result event", "contract 2.1 and 4.5") { $0.events.result.rawValue },
        ProfileValue("events.progress-without-message", "progress without a message", "contract 4.5") {
            $0.events.progressWithoutMessage.rawValue
        },
        ProfileValue("events.failure", "failure of the parser at an event", "contract 4.5") {
            $0.events.failure.rawValue
        },
        ProfileValue(
            "events.overlay", "time without events after a warning or an error", "contract 4.5, design 6"
        ) {
            Self.text($0.events.overlay)
        },
        ProfileValue("events.error", "data of an error event", "contract 2.1 and 5, GAP-4") {
            $0.events.error.rawValue
        },
        ProfileValue("events.error-retries-max", "automatic retries after retryable errors", "contract 5") {
            $0.events.errorRetriesMax.map(String.init) ?? "unlimited"
        },
        ProfileValue("events.error-retry-delay", "wait before an automatic retry", "contract 5") {
            Self.text($0.events.errorRetryDelay)
        },
        ProfileValue("events.statuses", "values of a status", "contract 1.6 and 5, GAP-9") {
            $0.events.statuses.rawValue
        },
        ProfileValue("events.order", "order of events", "contract 2.2 and 2.7") {
            $0.events.order.rawValue
        },
        ProfileValue("events.document", "version of the OpenAPI document", "contract 5, GAP-13") {
            $0.events.document.rawValue
        },
        ProfileValue("events.data", "place of an event's name and members", "contract 2.1") {
            $0.events.data.rawValue
        },
        ProfileValue("results.uses-inline-books", "books in a completed event", "contract 5, GAP-3") {
            Self.text($0.results.usesInlineBooks)
        },
        ProfileValue("results.is-fallback", "results when a completed event has no books", "contract 2.3") {
            Self.text($0.results.isFallback)
        },
        ProfileValue("results.is-repeated", "results after a failure", "contract 4.5, design 6") {
            Self.text($0.results.isRepeated)
        },
        ProfileValue("results.needs-address", "results only with resultsUrl and a token", "contract 4.5") {
            Self.text($0.results.needsAddress)
        },
        ProfileValue(
            "results.rejects-unknown-status", "unknown enrichmentStatus spoils a list", "contract 1.3 and 4.5"
        ) {
            Self.text($0.results.rejectsUnknownStatus)
        },
        ProfileValue("results.format", "format= of a request for results", "contract 1.3 and 5, GAP-8") {
            $0.results.format ?? "none"
        },
        ProfileValue("results.envelope", "place of the books in the body", "contract 1.3 and 5, GAP-2") {
            $0.results.envelope.rawValue
        },
        ProfileValue("results.keeps-enrichment-status", "enrichmentStatus of a book", "contract 5, GAP-14") {
            Self.text($0.results.keepsEnrichmentStatus)
        },
        ProfileValue("status.polling", "status of a job instead of its stream", "contract 1.4 and 4.13") {
            $0.status.polling.rawValue
        },
        ProfileValue("status.interval", "time from a status to its next request", "contract 1.4") {
            Self.text($0.status.interval)
        },
        ProfileValue("status.requests-max", "requests for the status of one job", "contract 4.13") {
            String($0.status.requestsMax)
        },
        ProfileValue("status.failures-max", "failures of these in a row", "contract 4.13") {
            String($0.status.failuresMax)
        },
        ProfileValue("token.expiry", "401 on stream and results", "contract 2.5 and 5, GAP-11") {
            $0.token.expiry.rawValue
        },
        ProfileValue("token.uploads-max", "uploads again for a 401 or a vanished job", "design 6") {
            String($0.token.uploadsMax)
        },
        ProfileValue("cleanup.is-made", "DELETE after the books are durable", "contract 1.1, row 4") {
            Self.text($0.cleanup.isMade)
        },
        ProfileValue(
            "cleanup.is-made-after-failure", "DELETE of a job without books", "contract 1.1, row 4, design 6"
        ) {
            Self.text($0.cleanup.isMadeAfterFailure)
        },
        ProfileValue("cleanup.requests-max", "requests of one DELETE", "contract 4.2, step 13, design 6") {
            String($0.cleanup.requestsMax)
        },
        ProfileValue("failed-scans", "a scan that is not tried any further", "contract 4.11, Q20, design 6") {
            $0.failedScans.rawValue
        },
        ProfileValue("failure-overlay", "time from a failure to the DELETE", "contract 4.11, Q20, design 6") {
            Self.text($0.failureOverlay)
        },
        ProfileValue("queue.storage", "unsettled scans in the storage", "contract 4.6 and 4.7, design 6") {
            $0.queue.storage.rawValue
        },
        ProfileValue("queue.drain", "upload of what was taken offline", "contract 4.7, design 6") {
            $0.queue.drain.rawValue
        },
        ProfileValue("background", "streams of an app in the background", "contract 4.8, design 6") {
            $0.background.rawValue
        },
        ProfileValue("request-timeout", "time for any other answer", "contract 4.2, step 8") {
            Self.text($0.requestTimeout)
        },
        ProfileValue("backoff.base", "first backoff", "design 6") { Self.text($0.backoff.base) },
        ProfileValue("backoff.cap", "longest backoff", "design 6") { Self.text($0.backoff.cap) },
        ProfileValue("backoff.has-jitter", "full jitter of the backoff", "contract 4.4, design 6") {
            Self.text($0.backoff.hasJitter)
        },
        ProfileValue("path-return-jitter", "jitter when the path returns", "design 6") {
            Self.text($0.pathReturnJitter)
        },
    ]

    private static let identity = "contract 1.1, 4.9 and 5, GAP-10"

    private static func text(_ isOn: Bool) -> String { isOn ? "on" : "off" }

    private static func text(_ range: ClosedRange<Int>) -> String {
        range.count == 1 ? String(range.lowerBound) : "\(range.lowerBound)..\(range.upperBound)"
    }

    private static func text(_ time: Interval) -> String {
        let milliseconds = time.wholeMilliseconds
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000)s" : "\(milliseconds)ms"
    }
}
