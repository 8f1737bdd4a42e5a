import Backend
import Plan
import SimBase
import Talaria

extension ServerReader {
    private static let time = ValueForm.duration(max: BackendConfiguration.intervalMax)
    private static let count = ValueForm.integer(1...10_000_000)

    static let keys = ScenarioKeys<ServerSettings>(
        what: "a server",
        rows: [
            .init(
                "dialect", Self.dialectSchema,
                "form of what the backend sends; sets the defaults of the other keys",
                read: Self.readDialect, write: { Self.text($0.backend.dialect) }),
            .init(
                "books", Self.books.schema, "books that the backend finds in a photo",
                read: Self.readBooks, write: { Self.books.write($0.books) }),
            .init(
                "statuses", \.statuses, Self.statuses,
                "shares of the books by `enrichmentStatus`; the rest is that of the dialect"),
            .init(
                "confidence", \.confidence, .thousandthsOrAuto,
                "confidence of a book, drawn; `auto`: that of the dialect"),
            .init(
                "job-time", \.backend.jobTime, .durations(max: BackendConfiguration.intervalMax),
                "time from the 202 to the end of the job, drawn for each scan"),
            .init(
                "ping", \.backend.ping,
                Self.time.checked(ValueError("the ping interval must be at least 1ms")) {
                    $0 >= .milliseconds(1)
                },
                "time from ping to ping of a stream"),
            .init("ping-ids", \.backend.pingIDs, .toggle, "whether pings have an id"),
            .init(
                "token-lifetime", \.backend.tokenLifetime, Self.time,
                "time from the 202 until the token of the job has expired"),
            .init(
                "event-buffer", \.backend.eventBuffer, Self.time,
                "time for which an event can be sent again after a resume"),
            .init(
                "replay-ids", \.backend.replayIDs, .word,
                "whether an event that is sent again keeps its id or has a new one"),
            .init(
                "line-ends", \.backend.lineEnds, .word,
                "line ending of event streams; mixed: one of the three for each stream"),
            .init(
                "rate-limit", \.backend.rateLimit, .quotaOrOff,
                "uploads of a device per time; more are answered with 429"),
            .init(
                "limits", Self.limitsSchema,
                "further limits; a request that exceeds one is answered with 429 and counts for none",
                read: Self.readLimits, write: { Self.text($0.backend.limits) }),
            .init(
                "phones-per-address", \.backend.phonesPerAddress, Self.count,
                "phones of a run that share an address, for limits per address"),
            .init(
                "results-lifetime", \.backend.resultsLifetime, Self.time,
                "time from the completed event until the job has expired"),
            .init(
                "completed-size-max", \.backend.completedBytesMax, .size,
                "size of a completed event beyond which it loses its books"),
            .init(
                "inline", \.backend.inlineBooks, .word,
                "members of the books in a completed event: those of `format=lite` or of `format=full`"),
            .init(
                "progressive", \.backend.progressive, .toggle,
                "whether jobs of v3 send `segmented`, `book_progress` and `result` events besides `progress`"),
            .init(
                "preview", \.backend.previewBytes, .sizes,
                "size of the image of a `segmented` event, drawn for each scan; at most 1MB"),
            .init(
                "cancel-event", \.backend.cancelEvent, .toggle,
                "whether a job of v3 that was canceled ends with a `canceled` event instead of an `error` event"
            ),
            .init(
                "strict-device", \.backend.strictDevice, .toggle,
                "a token is valid only with the device id of its upload"),
            .init(
                "strict-accept", \.backend.strictAccept, .toggle,
                "a stream must be requested with `Accept: text/event-stream`, or is answered with 400"),
            .init(
                "repeated-cleanup", \.backend.repeatedCleanup,
                .words(BackendConfiguration.RepeatedCleanup.allCases.map { (String($0.rawValue), $0) }),
                "status of the answer to a DELETE of a job that is gone"),
            .init(
                "enrichment-body", \.backend.enrichmentForm, .word,
                "text-enrichment: form of the answer, with the members under `enrichment` or at the top"),
            .init(
                "links", \.backend.urlForm, Self.links,
                "form of the links in answers: relative, absolute, or a base URL"),
            .init(
                "retry", \.backend.retryField, .durationOrOff(max: BackendConfiguration.intervalMax),
                "the `retry:` field of streams, which raises the backoff of a client"),
            .init(
                "stream-linger", \.backend.streamLinger, Self.time,
                "how long the connection of a stream stays open after its terminal event"),
            .init("photos-max", \.backend.photosMax, Self.count, "maximum number of photos of an upload"),
            .init("photo-size-max", \.backend.photoBytesMax, .size, "maximum size of a photo"),
            .init(
                "batch-size-max", \.backend.batchBytesMax, .size, "maximum size of all photos of an upload"),
            .init(
                "jobs-max", \.backend.jobsMax, Self.count,
                "jobs that live at once; more uploads are answered with 503"),
            .init(
                "tombstones-max", \.backend.tombstonesMax, Self.count,
                "jobs that are remembered as gone (410); one that is forgotten is answered with 404"),
            .init("v2", \.backend.v2, Self.v2, "how v2 is served where its documents disagree"),
            .init(
                "circuit-breaker", Self.breakerSchema,
                "refuses uploads of v2 for a while after failures of a provider (default: off)",
                read: Self.readBreaker, write: { $0.backend.v2.breaker.map(Self.breaker.text) ?? "off" }),
        ])

    static let statuses = ScenarioKeys<StatusShares>(
        what: "`statuses`",
        rows: [
            .init("success", \.success, .shareOrNone, "books that were found"),
            .init("pending", \.pending, .shareOrNone, "books whose look-up has not ended"),
            .init("not_found", \.notFound, .shareOrNone, "books that no provider has"),
            .init("error", \.error, .shareOrNone, "books whose look-up failed"),
            .init("review_needed", \.reviewNeeded, .shareOrNone, "books that were found, with doubts"),
            .init(
                "circuit_open", \.circuitOpen, .shareOrNone,
                "books that were not looked up; an `enrichment_degraded` event tells of each"),
        ])

    static let v2 = ScenarioKeys<V2Rules>(
        what: "`v2`",
        rows: [
            // Without a lifetime of their own, results live as long as those of v3.
            .init(
                "results-lifetime", \.resultsLifetime, Self.time.optional(),
                "time from the completed event until the results are gone (default: that of v3)"),
            .init(
                "stream-auth", \.streamToken, .word,
                "where a stream has its token: in the header, in the query, or in either"),
            .init(
                "event-names", \.eventNames, .word,
                "names and data of events; dotted: those that books-v3 expects"),
            .init(
                "progress", \.progress, .word,
                "whether a stream is told of each change of its job, or looks for the last one"),
            .init(
                "websocket-url", \.webSocketURL, .word,
                "whether the answer to an upload names the WebSocket of the job: not, beside the event stream, or alone"
            ),
            .init("envelope", \.envelope, .word, "whether answers have `success`"),
            .init("tokens", \.tokens, .word, "the names of the token in the answer to an upload"),
            .init("books-key", \.booksKey, .word, "the member of results that has the books"),
            .init(
                "authors", \.authors, .word,
                "authors of a book: `author`, a list of names, or a list of objects beside `work` and `edition`"
            ),
        ])

    static let breaker = ScenarioKeys<CircuitBreakerRules>(
        what: "a circuit breaker",
        rows: [
            .init(
                "failures", \.failures, .integer(1...10_000),
                "jobs in a row that a provider has failed, which open the circuit (default: 5)"),
            .init(
                "successes", \.successes, .integer(1...10_000),
                "jobs that complete after the cooldown, which close it (default: 2)"),
            .init(
                "cooldown", \.cooldown, .positive("the cooldown", max: BackendConfiguration.intervalMax),
                "time for which uploads are refused (default: 60s)"),
        ])
}
