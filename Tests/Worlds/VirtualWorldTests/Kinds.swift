import Faults
import SimBase
import Testing

/// One fault of every kind, as it would be written in a scenario.
enum Kinds {
    struct Sample: Sendable, CustomTestStringConvertible {
        var name: String
        var faults: [FaultSpec]

        var testDescription: String { self.name }
    }

    private static func one(
        _ name: String, _ kind: FaultKind, on target: FaultTarget, window: FaultWindow = .always,
        after trigger: FaultTrigger = .atOnce, count: FaultCount = .oncePerScan, chance: Odds = .percent(50),
        with others: [FaultSpec] = []
    ) -> Sample {
        Sample(
            name: name,
            faults: [
                Bench.fault(
                    kind, on: target, id: name, chance: chance, window: window, after: trigger, count: count)
            ] + others)
    }

    private static let loses = Bench.fault(
        .close(.betweenEvents, .reply), on: .stream, id: "loses", after: .afterEvents(3...3))

    private static func span(_ at: Int64, _ length: Int64) -> FaultWindow {
        FaultWindow(at: .milliseconds(at), length: .milliseconds(length))
    }

    static let server: [Sample] = [
        one(
            "rate-limit", .rateLimit(quota: Quota(requests: 1, window: .seconds(2)), retryAfter: nil),
            on: .upload, count: .eachAttempt, chance: .always),
        one(
            "http-error",
            .httpError(
                HTTPFault(
                    status: 503, code: nil, retryable: nil, retryAfter: .seconds(1), retryAfterLocation: .both
                )),
            on: .upload),
        one(
            "http-error-429",
            .httpError(
                HTTPFault(
                    status: 429, code: nil, retryable: nil, retryAfter: .milliseconds(700),
                    retryAfterLocation: .body)), on: .results,
            with: [Bench.fault(.stripBooks(.null), on: .stream, id: "strip")]),
        one(
            "http-error-cleanup",
            .httpError(
                HTTPFault(
                    status: 500, code: nil, retryable: nil, retryAfter: nil, retryAfterLocation: .neither)),
            on: .cleanup),
        one("strip-books", .stripBooks(.absent), on: .stream),
        one("strip-books-empty", .stripBooks(.empty), on: .stream),
        one("strip-books-renamed", .stripBooks(.renamed), on: .stream),
        one(
            "truncate-results", .truncateResults, on: .results,
            with: [Bench.fault(.stripBooks(.absent), on: .stream, id: "strip")]),
        one(
            "reorder-results", .reorderResults, on: .results, count: .eachAttempt,
            with: [Bench.fault(.stripBooks(.absent), on: .stream, id: "strip")]),
        one(
            "expire-token", .expireToken, on: .stream,
            after: .afterTime(.milliseconds(300)...(.milliseconds(600)))),
        one("job-gone-404", .jobGone(status: 404), on: .stream),
        one(
            "job-gone-410", .jobGone(status: 410), on: .results,
            with: [Bench.fault(.stripBooks(.absent), on: .stream, id: "strip")]),
        one(
            "retryable-error", .retryableError(code: "PROVIDER_TIMEOUT"), on: .stream,
            after: .afterEvents(2...2)),
        one("final-error", .finalError(code: "INVALID_FILE"), on: .stream, after: .afterEvents(1...1)),
        one("degraded", .degraded(books: .percent(50)), on: .stream, chance: .always),
        one("slow-stage", .slowStage(.enriching, by: .seconds(1)...(.seconds(3))), on: .stream),
        one("unknown-event", .unknownEvent(nil), on: .stream, after: .afterEvents(1...1)),
        one("bad-json", .badJSON(.extra), on: .stream, after: .afterEvents(1...1)),
        one("bad-json-progress", .badJSON(.progress), on: .stream),
        one("bad-json-completed", .badJSON(.completed), on: .stream),
        one("no-message", .eventShape(.noMessage), on: .stream),
        one("split-data", .eventShape(.splitData), on: .stream),
        one("late-ping", .latePing(by: .milliseconds(300)), on: .stream),
        one("no-ping", .noPing, on: .stream, chance: .always),
        one("two-terminals", .twoTerminals, on: .stream),
        one("end-without-terminal", .endWithoutTerminal, on: .stream),
        one("ignore-last-event-id", .ignoreLastEventID, on: .stream, count: .eachAttempt, with: [Self.loses]),
        one("forget-events", .forgetEvents, on: .stream, after: .afterEvents(2...2), with: [Self.loses]),
    ]

    static let link: [Sample] =
        ["reset", "close", "silence"].flatMap { ending -> [Sample] in
            func kind(_ cut: Cut, _ side: ExchangeSide) -> FaultKind {
                switch ending {
                case "reset": .reset(cut, side)
                case "close": .close(cut, side)
                default: .silence(cut, side)
                }
            }
            return [
                one("\(ending)-upload-request", kind(.afterBytes(4_096), .request), on: .upload),
                one("\(ending)-upload-reply", kind(.betweenEvents, .reply), on: .upload),
                one(
                    "\(ending)-in-event", kind(.insideEvent, .reply), on: .stream, after: .afterEvents(1...4)),
                one("\(ending)-in-utf8", kind(.insideUTF8, .reply), on: .stream, after: .afterEvents(1...3)),
                one(
                    "\(ending)-in-line-end", kind(.insideLineEnd, .reply), on: .stream,
                    after: .afterEvents(1...4)),
                one(
                    "\(ending)-after-time", kind(.betweenEvents, .reply), on: .stream,
                    after: .afterTime(.milliseconds(200)...(.milliseconds(700)))),
                one(
                    "\(ending)-results", kind(.afterBytes(300), .reply), on: .results,
                    with: [Bench.fault(.stripBooks(.absent), on: .stream, id: "strip")]),
                one("\(ending)-cleanup", kind(.betweenEvents, .reply), on: .cleanup),
            ]
        } + [
            one("end-cleanly", .endCleanly(.insideEvent), on: .stream, after: .afterEvents(1...4)),
            one("end-cleanly-between", .endCleanly(.betweenEvents), on: .stream, after: .afterEvents(1...4)),
            one("slice", .slice(bytes: 1...9), on: .stream, count: .eachAttempt),
            one(
                "delay", .delay(by: .milliseconds(50)...(.milliseconds(200))), on: .link, count: .eachAttempt),
            one("bandwidth", .bandwidth(bitsPerSecond: 480_000), on: .upload, count: .eachAttempt),
            one("loss", .loss(.percent(10)), on: .link, count: .eachAttempt, chance: .always),
            one("refuse", .refuse, on: .upload),
            one("refuse-stream", .refuse, on: .stream),
        ]

    static let phone: [Sample] = [
        one("offline", .phone(.offline), on: .link, window: span(900, 1_500)),
        one("handover", .phone(.handover), on: .link, window: span(900, 300)),
        one("background", .phone(.background), on: .app, window: span(900, 2_000)),
        one("kill", .phone(.kill), on: .app, window: span(1_200, 500), chance: .always),
        one(
            "kill-in-flush", .phone(.kill), on: .app, window: span(0, 500), after: .afterRecords(2...12),
            chance: .always),
        one(
            "kill-at-step", .phone(.kill), on: .app, window: span(0, 500), after: .afterStep(.book),
            chance: .always),
        one("reinstall", .phone(.reinstall), on: .app, window: span(1_200, 500)),
        one("clock-skew", .phone(.clockSkew(by: .seconds(-300))), on: .app, window: span(0, 60_000)),
        one("storage-full", .phone(.storageFull), on: .app, window: span(600, 900)),
        one(
            "storage-full-in-flush", .phone(.storageFull), on: .app, window: span(0, 900),
            after: .afterRecords(2...9), chance: .always
        ),
    ]

    static let all = Self.server + Self.link + Self.phone
    /// Some of each layer.
    static let few = [
        Self.server[0], Self.server[8], Self.link[2], Self.link[16], Self.link[24], Self.phone[3],
    ]
}
