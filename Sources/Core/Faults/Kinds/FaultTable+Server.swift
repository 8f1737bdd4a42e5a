import JSON
import SimBase
import Talaria

extension FaultTable {
    /// The faults of the backend.
    static let server: [FaultKindEntry] = [
        FaultKindEntry(
            .rateLimit, "rate-limit", .server, .endsExchange, on: [.upload],
            // A quota is a state of the server, not an accident of one scan: it holds for every request.
            count: .eachAttempt,
            fields: [
                .required(
                    "quota", .quota, example: "1 per 4s", "number of uploads per device and time"),
                .standard("per", .choice(["device"]), "device", "scope of the quota"),
                .optional(
                    "retry-after", .duration, example: "2s",
                    "delay that the 429 requests (default: the rest of the quota's window)"),
            ],
            does: "answers 429 to uploads beyond a quota",
            example: "{do: rate-limit, quota: 1 per 4s, retry-after: 2s}"),
        FaultKindEntry(
            .httpError, "http-error", .server, [.endsExchange, .refusesJobRequests],
            on: [.upload, .stream, .results, .cleanup, .status, .refresh],
            fields: [
                .required("status", .integer(400...599), example: "503", "status of the response"),
                .optional(
                    "code", .code, example: "CIRCUIT_OPEN",
                    "code of the problem document (default: the contract's code for the status)"),
                .optional(
                    "retryable", .toggle, example: "on",
                    "`retryable` of the problem document (default: the contract's value for the code)"),
                .optional("retry-after", .duration, example: "1s", "delay that the response requests"),
                .standard(
                    "retry-after-in", .choice(RetryAfterLocation.allCases.map(\.rawValue)), "both",
                    "where the delay is: in the header `Retry-After`, in `retryAfterMs` of the body, both or neither"
                ),
            ],
            does: "answers with an error",
            example: "{do: http-error, on: upload, status: 503, retry-after: 1s, chance: 20%}"),
        FaultKindEntry(
            .stripBooks, "strip-books", .server, .changesStream, on: [.stream],
            fields: [
                .standard(
                    "as", .choice(StrippedForm.allCases.map(\.rawValue)), "absent",
                    "what replaces the books in the completed event")
            ],
            does: "removes the books from the completed event",
            example: "{do: strip-books, as: empty, chance: 30%}"),
        FaultKindEntry(
            .truncateResults, "truncate-results", .server, .endsExchange, on: [.results],
            does: "truncates the JSON of the results, with a matching Content-Length",
            example: "{do: truncate-results, chance: 30%}"),
        FaultKindEntry(
            .reorderResults, "reorder-results", .server, [], on: [.results], count: .eachAttempt,
            does: "sends the books of the results in another order, which each answer has of its own",
            example: "{do: reorder-results, chance: 50%}"),
        FaultKindEntry(
            .expireToken, "expire-token", .server, [.changesStream, .changesJob, .refusesJobRequests],
            on: [.stream, .status], orElse: .stream, after: [.time, .events],
            does: "revokes the job's token and ends its open streams with FIN",
            example: "{do: expire-token, after: 1s, chance: 10%}"),
        FaultKindEntry(
            .jobGone, "job-gone", .server, [.endsExchange, .changesJob, .refusesJobRequests],
            on: [.stream, .results, .status],
            fields: [
                .standard("status", .choice(["404", "410"]), "410", "status of the response")
            ],
            does: "removes the job and answers later requests with 404 or 410",
            example: "{do: job-gone, on: stream, status: 404, chance: 10%}"),
        FaultKindEntry(
            .retryableError, "retryable-error", .server, [.changesStream, .changesJob], on: [.stream],
            after: [.time, .events],
            fields: [
                .standard("code", .code, "PROVIDER_TIMEOUT", "the code of the event")
            ],
            does: "ends the job with a retryable error event",
            example: "{do: retryable-error, after: 2 events, chance: 10%}"),
        FaultKindEntry(
            .finalError, "final-error", .server, [.changesStream, .changesJob], on: [.stream],
            after: [.time, .events],
            fields: [
                .standard("code", .code, "INVALID_FILE", "the code of the event")
            ],
            does: "ends the job with an error event that is not retryable",
            example: "{do: final-error, after: 1 events, chance: 5%}"),
        FaultKindEntry(
            .degraded, "degraded", .server, .changesStream, on: [.stream],
            fields: [
                .standard("books", .share, "100%", "share of the books whose enrichment is degraded")
            ],
            does: "sends enrichment_degraded events for books and leaves out their enrichment",
            example: "{do: degraded, books: 50%, chance: 30%}"),
        FaultKindEntry(
            .slowStage, "slow-stage", .server, [.changesStream, .changesJob], on: [.stream],
            fields: [
                .standard(
                    "stage", .choice(ScanPhase.allCases.map(\.rawValue)), "enriching",
                    "the stage of the job"),
                .required("by", .durations, example: "2s..6s", "added duration of the stage"),
            ],
            does: "slows down one stage of the job",
            example: "{do: slow-stage, stage: identifying, by: 2s..6s, chance: 20%}"),
        FaultKindEntry(
            .unknownEvent, "unknown-event", .server, .changesStream, on: [.stream],
            after: [.time, .events],
            fields: [
                .optional(
                    "event", .choice(UnknownEvent.allCases.map(\.rawValue)), example: "processing",
                    "the type of the event, which another version of the backend has; `message`: an event without a name (default: a type that no version has)"
                )
            ],
            does: "sends an event of an unknown type",
            example: "{do: unknown-event, after: 1 events, chance: 50%}"),
        FaultKindEntry(
            .badJSON, "bad-json", .server, [.changesStream, .garblesEvents], on: [.stream],
            after: [.time, .events],
            fields: [
                .standard(
                    "in", .choice(BadJSONTarget.allCases.map(\.rawValue)), "extra",
                    "which event has the invalid data: an extra event, a progress event or the completed event"
                )
            ],
            does: "sends an event whose data is not JSON",
            example: "{do: bad-json, in: completed, chance: 20%}"),
        FaultKindEntry(
            .noMessage, "no-message", .server, [.changesStream, .garblesEvents, .changesEvents],
            on: [.stream],
            does: "sends progress events without their message",
            example: "{do: no-message, chance: 50%}"),
        FaultKindEntry(
            .splitData, "split-data", .server, [.changesStream, .changesEvents], on: [.stream],
            does: "sends the data of each event in several lines, which a client joins",
            example: "{do: split-data, chance: 50%}"),
        FaultKindEntry(
            .latePing, "late-ping", .server, .changesStream, on: [.stream],
            fields: [
                .required("by", .duration, example: "800ms", "added delay of each ping")
            ],
            does: "sends pings late",
            example: "{do: late-ping, by: 800ms, chance: 50%}"),
        FaultKindEntry(
            .noPing, "no-ping", .server, .changesStream, on: [.stream],
            does: "sends no pings, so a quiet job looks like a dead connection",
            example: "{do: no-ping, chance: 30%}"),
        FaultKindEntry(
            .twoTerminals, "two-terminals", .server, .changesStream, on: [.stream],
            does: "sends a second terminal event after the first",
            example: "{do: two-terminals, chance: 50%}"),
        FaultKindEntry(
            .endWithoutTerminal, "end-without-terminal", .server, .changesStream, on: [.stream],
            does: "ends the stream with FIN where its terminal event would be",
            example: "{do: end-without-terminal, chance: 30%}"),
        FaultKindEntry(
            .ignoreLastEventID, "ignore-last-event-id", .server, [], on: [.stream],
            count: .eachAttempt,
            does: "ignores Last-Event-ID and sends the stream from the start",
            example: "{do: ignore-last-event-id, chance: 50%}"),
        FaultKindEntry(
            .forgetEvents, "forget-events", .server, [.changesStream, .changesJob], on: [.stream],
            after: [.time, .events],
            does: "drops the job's event buffer: only the terminal event can be replayed, without its books",
            example: "{do: forget-events, after: 2 events, chance: 30%}"),
    ]
}
