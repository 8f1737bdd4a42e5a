import JSON
import SimBase

extension FaultTable {
    /// What a backend may do.
    static let server: [FaultKindEntry] = [
        FaultKindEntry(
            "rate-limit", .server, on: [.upload],
            // A quota is a state of the server, not an accident of one scan: it holds for every request.
            count: .eachAttempt,
            fields: [
                .required(
                    "quota", .quota, example: "1 per 4s", "how many uploads a device may make in which time"),
                .standard("per", .choice(["device"]), "device", "whose requests are counted together"),
                .optional(
                    "retry-after", .duration, example: "2s",
                    "what the 429 tells the phone to wait; the rest of the quota's window unless told"),
            ],
            does: "answers 429 to uploads beyond a quota",
            example: "{do: rate-limit, quota: 1 per 4s, retry-after: 2s}"),
        FaultKindEntry(
            "http-error", .server, on: [.upload, .stream, .results, .cleanup],
            fields: [
                .required("status", .integer(400...599), example: "503", "the status of the answer"),
                .optional(
                    "code", .code, example: "CIRCUIT_OPEN",
                    "the code of the problem document; the contract's for the status unless told"),
                .optional(
                    "retryable", .toggle, example: "on",
                    "what the problem document says; the contract's for the code unless told"),
                .optional("retry-after", .duration, example: "1s", "how long the phone is told to wait"),
                .standard(
                    "retry-after-in", .choice(RetryAfterPlace.allCases.map(\.rawValue)), "both",
                    "where it is told: the header `Retry-After`, `retryAfterMs` in the body, both or neither"),
            ],
            does: "answers with an error in place of what was asked for",
            example: "{do: http-error, on: upload, status: 503, retry-after: 1s, chance: 20%}"),
        FaultKindEntry(
            "strip-books", .server, on: [.stream],
            fields: [
                .standard(
                    "as", .choice(StrippedForm.allCases.map(\.rawValue)), "absent",
                    "what the completed event has in place of its books")
            ],
            does: "takes the books out of the completed event",
            example: "{do: strip-books, as: empty, chance: 30%}"),
        FaultKindEntry(
            "truncate-results", .server, on: [.results],
            does: "cuts the JSON of the results short, under a length that agrees",
            example: "{do: truncate-results, chance: 30%}"),
        FaultKindEntry(
            "expire-token", .server, on: [.stream], after: [.time, .events],
            does: "revokes the job's token and ends its open streams with FIN",
            example: "{do: expire-token, after: 1s, chance: 10%}"),
        FaultKindEntry(
            "job-gone", .server, on: [.stream, .results],
            fields: [
                .standard("status", .choice(["404", "410"]), "410", "what the phone hears")
            ],
            does: "removes the job, and answers 404 or 410 from then on",
            example: "{do: job-gone, on: stream, status: 404, chance: 10%}"),
        FaultKindEntry(
            "retryable-error", .server, on: [.stream], after: [.time, .events],
            fields: [
                .standard("code", .code, "PROVIDER_TIMEOUT", "the code of the event")
            ],
            does: "ends the job with an error event that invites to try again",
            example: "{do: retryable-error, after: 2 events, chance: 10%}"),
        FaultKindEntry(
            "final-error", .server, on: [.stream], after: [.time, .events],
            fields: [
                .standard("code", .code, "INVALID_FILE", "the code of the event")
            ],
            does: "ends the job with an error event that refuses the scan for good",
            example: "{do: final-error, after: 1 events, chance: 5%}"),
        FaultKindEntry(
            "degraded", .server, on: [.stream],
            fields: [
                .standard("books", .share, "100%", "the share of the books whose enrichment is degraded")
            ],
            does: "sends enrichment_degraded events for books, which come without their enrichment",
            example: "{do: degraded, books: 50%, chance: 30%}"),
        FaultKindEntry(
            "slow-stage", .server, on: [.stream],
            fields: [
                .standard(
                    "stage", .choice(ScanPhase.allCases.map(\.rawValue)), "enriching",
                    "the stage of the job"),
                .required("by", .durations, example: "2s..6s", "how much longer the stage takes"),
            ],
            does: "makes one stage of the job slow",
            example: "{do: slow-stage, stage: identifying, by: 2s..6s, chance: 20%}"),
        FaultKindEntry(
            "unknown-event", .server, on: [.stream], after: [.time, .events],
            does: "sends an event that no contract knows",
            example: "{do: unknown-event, after: 1 events, chance: 50%}"),
        FaultKindEntry(
            "bad-json", .server, on: [.stream], after: [.time, .events],
            fields: [
                .standard(
                    "in", .choice(BadJSONPlace.allCases.map(\.rawValue)), "extra",
                    "whether an event more, a progress event or the completed event has data that are no JSON"
                )
            ],
            does: "sends an event whose data are no JSON",
            example: "{do: bad-json, in: completed, chance: 20%}"),
        FaultKindEntry(
            "no-message", .server, on: [.stream],
            does: "sends progress without its text",
            example: "{do: no-message, chance: 50%}"),
        FaultKindEntry(
            "late-ping", .server, on: [.stream],
            fields: [
                .required("by", .duration, example: "800ms", "how much later each ping is")
            ],
            does: "sends pings late",
            example: "{do: late-ping, by: 800ms, chance: 50%}"),
        FaultKindEntry(
            "no-ping", .server, on: [.stream],
            does: "sends no pings: a quiet job looks like a dead connection",
            example: "{do: no-ping, chance: 30%}"),
        FaultKindEntry(
            "two-terminals", .server, on: [.stream],
            does: "sends a second terminal event after the first",
            example: "{do: two-terminals, chance: 50%}"),
        FaultKindEntry(
            "end-without-terminal", .server, on: [.stream],
            does: "ends the stream with FIN where its terminal event would be",
            example: "{do: end-without-terminal, chance: 30%}"),
        FaultKindEntry(
            "ignore-last-event-id", .server, on: [.stream],
            count: .eachAttempt,
            does: "starts the stream over whatever the phone has seen",
            example: "{do: ignore-last-event-id, chance: 50%}"),
        FaultKindEntry(
            "forget-events", .server, on: [.stream], after: [.time, .events],
            does: "loses the job's event buffer: only the terminal event can be had again, without its books",
            example: "{do: forget-events, after: 2 events, chance: 30%}"),
    ]
}
