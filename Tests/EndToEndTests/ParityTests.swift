import Foundation
import Testing

extension SideBySide {
    /// One small plan for every kind of fault, in both worlds: over sockets, libcurl and real time, and on the simulated
    /// clock. What phones, backend and faults observe must be the same, in the same order, times aside. What may differ
    /// all the same is written down in Docs/design.md section 1 and in `Story.said`.
    @Suite struct ParityTests {
        @Test func `every kind of fault has a plan`() throws {
            let page = try String(
                contentsOf: Package.root.appending(path: "Docs/faults.md"), encoding: .utf8)
            let kinds = page.split(separator: "\n").filter { $0.hasPrefix("### ") }.map { $0.dropFirst(4) }
            #expect(kinds.count > 30)
            for kind in kinds {
                let isThere = Script.all.contains { script in
                    script.faults.contains { $0.hasPrefix("do: \(kind)") }
                }
                #expect(isThere, "\(kind)")
            }
        }

        /// Many scripts at once: each is a group of one phone, which nothing but its own faults concerns.
        @Test(arguments: Script.parts.indices) func `both worlds tell the same story`(part: Int) async throws
        {
            let scripts = Script.parts[part].scripts
            let scratch = try Scratch()
            let scenario = scratch.folder.appending(path: "parity.scenario")
            try Script.parts[part].scenario.write(to: scenario, atomically: true, encoding: .utf8)
            let simulated = try await Self.simulate(scenario, in: scratch)
            var open = Set(scripts.indices)
            var differences: [String] = []
            // A live run on a busy machine may be late for a window of its script. It is made again.
            for _ in 1...3 where !open.isEmpty {
                let process = try RunProcess([scenario.path, "--trace"])
                let outcome = try await process.end(seconds: 90)
                try #require(outcome.hasPassed, "\(outcome)")
                let live = try Story.all(process.report)
                differences = []
                for phone in open.sorted() {
                    let difference = Story.difference(live[phone] ?? [:], simulated[phone] ?? [:])
                    if let difference {
                        differences.append("\(scripts[phone].name), \(difference)")
                    } else {
                        open.remove(phone)
                    }
                }
            }
            #expect(differences == [])
            // The comparison has compared something: every script has an upload at least in both.
            for phone in scripts.indices {
                #expect(
                    simulated[phone]?.values.joined().contains { said in
                        ["accepted", "lookup-answered", "reading-kept"].contains {
                            said.contains("\"\($0)\"")
                        }
                    } == true,
                    "\(scripts[phone].name)")
            }
        }

        /// With photos of the size that the live ones have: how long a phone waits for an upload depends on it.
        private static func simulate(_ scenario: URL, in scratch: Scratch) async throws -> [Int: Story] {
            let plan = scratch.folder.appending(path: "parity.plan.json")
            let first = try await Subprocess.run(
                Binary.path,
                [
                    "simulate", scenario.path, "--save-plan", plan.path, "--output",
                    scratch.folder.appending(path: "first").path, "--quiet",
                ], seconds: 60)
            try #require(first.code == 0, "\(first)")
            let text = try String(contentsOf: plan, encoding: .utf8)
            let sized = text.replacing(/\[[0-9, ]{20,}\]/, with: "[\(Script.photoBytes)]")
                .replacing(/"photo": [0-9]+/, with: "\"photo\": 0")
            try sized.write(to: plan, atomically: true, encoding: .utf8)
            let report = RunReport(folder: scratch.folder.appending(path: "second"))
            let second = try await Subprocess.run(
                Binary.path,
                ["replay", plan.path, "--trace", "--output", report.folder.path, "--quiet"], seconds: 60)
            try #require(second.code == 0, "\(second)")
            return try Story.all(report)
        }
    }
}

/// What one phone meets.
private struct Script {
    var name: String
    var faults: [String]
    /// Keys of its group, with their values.
    var keys = ""
    /// When it captures first, in milliseconds; nil for any time.
    var start: Int?

    static let photoBytes = 25_000

    static let all: [Script] = Self.parts.flatMap(\.scripts)

    static let parts = [
        Part(Self.server + Self.plainBooks),
        Part(
            Self.phone + ["reset", "close"].flatMap(Self.endings) + Self.books,
            server: ", v2: {event-names: dotted}"),
        // A phone notices these only by its deadlines. The breaker concerns none of them: it guards v2.
        Part(
            Self.endings("silence") + Self.circuit,
            server: ", circuit-breaker: {failures: 2, successes: 3, cooldown: 3s}"),
        Part(Self.link + Self.status + Self.statusOfV2),
        Part(Self.journeys(["bookshelf-scan", "batch-enrichment"])),
        Part(Self.journeys(["csv-import"]) + Self.olderBooks),
        // Streams of v2 look for changes after 500 ms, 1250 ms and 2375 ms; with five books nothing else happens then.
        Part(Self.lookups + Self.barcodes + Self.polled, books: 5, server: ", dialect: bendv3"),
        Part(Self.texts + Self.reviews),
        // A WebSocket that is opened again gets the state of that moment: no step of a job may come close to it.
        Part(Self.sockets(["bookshelf-scan", "batch-enrichment"]), jobSeconds: 8),
        Part(Self.sockets(["csv-import"]) + Self.closes + Self.frames, jobSeconds: 8),
        // A run in which no scan completes fails.
        Part(Self.cancels + [Script(name: "nobody-cancels", faults: [])]),
    ]

    private static let strip = "do: strip-books"

    private static let server =
        [Script(name: "nothing", faults: [])]
        + [
            ("rate-limit", ["do: rate-limit, quota: 1 per 3s, retry-after: 1s"]),
            ("http-error-upload", ["do: http-error, on: upload, status: 503, retry-after: 400ms"]),
            ("http-error-stream", ["do: http-error, on: stream, status: 503, retry-after: 400ms"]),
            ("http-error-results", ["do: http-error, on: results, status: 503, retry-after: 400ms", strip]),
            ("http-error-cleanup", ["do: http-error, on: cleanup, status: 503, retry-after: 400ms"]),
            ("strip-absent", ["do: strip-books, as: absent"]), ("strip-null", ["do: strip-books, as: null"]),
            ("strip-empty", ["do: strip-books, as: empty"]),
            ("strip-renamed", ["do: strip-books, as: renamed"]),
            ("truncate-results", ["do: truncate-results", strip]),
            ("reorder-results", ["do: reorder-results", strip]),
            ("expire-token", ["do: expire-token, after: 2 events"]),
            ("job-gone-404", ["do: job-gone, on: stream, status: 404"]),
            ("job-gone-410", ["do: job-gone, on: results, status: 410", strip]),
            ("retryable-error", ["do: retryable-error, after: 2 events"]),
            ("final-error", ["do: final-error, after: 1 events"]),
            ("degraded", ["do: degraded, books: 50%"]),
            ("slow-stage", ["do: slow-stage, stage: identifying, by: 1s"]),
            ("unknown-event", ["do: unknown-event, after: 1 events"]),
            ("bad-json-extra", ["do: bad-json, in: extra"]),
            ("bad-json-progress", ["do: bad-json, in: progress"]),
            ("bad-json-completed", ["do: bad-json, in: completed"]), ("no-message", ["do: no-message"]),
            ("split-data", ["do: split-data"]),
            ("event-without-name", ["do: unknown-event, event: message"]),
            ("late-ping", ["do: late-ping, by: 200ms"]), ("no-ping", ["do: no-ping"]),
            ("two-terminals", ["do: two-terminals"]), ("end-without-terminal", ["do: end-without-terminal"]),
            ("ignore-last-event-id", ["do: ignore-last-event-id", "do: reset, after: 3 events"]),
            (
                "forget-events",
                ["do: forget-events, after: 3 events", "do: reset, after: 3 events, cut: inside-event"]
            ),
        ].map { Script(name: $0.0, faults: $0.1) }

    private static let link = [
        ("slice", "do: slice, on: stream, bytes: 1..9"), ("delay", "do: delay, on: link, by: 20ms..40ms"),
        ("bandwidth", "do: bandwidth, on: upload, rate: 4Mbps"), ("loss", "do: loss, on: link, share: 5%"),
        ("refuse-upload", "do: refuse, on: upload"), ("refuse-stream", "do: refuse, on: stream"),
        ("end-cleanly-inside", "do: end-cleanly, after: 2 events"),
        ("end-cleanly-between", "do: end-cleanly, after: 2 events, cut: between-events"),
    ].map { Script(name: $0.0, faults: [$0.1]) }

    /// Between two steps of the first job, which are a second apart there.
    private static let phone = [
        ("offline", "do: offline, at: 1600ms, for: 500ms"), ("handover", "do: handover, at: 1600ms"),
        ("background", "do: background, at: 1600ms, for: 500ms"),
        ("kill", "do: kill, at: 1600ms, for: 500ms"),
        ("reinstall", "do: reinstall, at: 1600ms, for: 500ms"),
        ("clock-skew", "do: clock-skew, at: 100ms, by: -5m"),
        ("storage-full", "do: storage-full, at: 700ms, for: 900ms"),
    ].map { Script(name: $0.0, faults: [$0.1]) }

    /// Phones that poll: the first request comes half a second after the end of the job.
    private static let status =
        [
            ("nothing", []),
            ("503", ["do: http-error, on: status, status: 503, retry-after: 400ms"]),
            ("429", ["do: http-error, on: status, status: 429, retry-after: 3s"]),
            ("expire-token", ["do: expire-token, on: status"]), ("job-gone", ["do: job-gone, on: status"]),
            ("reset", ["do: reset, on: status, after: 40B"]), ("close", ["do: close, on: status"]),
            ("silence", ["do: silence, on: status"]), ("refuse", ["do: refuse, on: status"]),
            ("slice", ["do: slice, on: status, bytes: 1..9"]),
            ("offline", ["do: offline, at: 1600ms, for: 500ms"]),
            ("kill", ["do: kill, at: 1600ms, for: 500ms"]),
        ].map {
            Script(
                name: "status-\($0.0)", faults: $0.1,
                keys: ", status-polling: always, status-interval: 2500ms")
        } + [
            Script(
                name: "status-after-loss", faults: ["do: reset, on: stream, after: 2 events"],
                keys: ", status-polling: after-loss")
        ]

    /// The same with the journeys of v2.
    private static let statusOfV2 = ["bookshelf-scan", "batch-enrichment", "csv-import"].flatMap {
        journey -> [Script] in
        [
            ("nothing", []),
            ("503", ["do: http-error, on: status, status: 503, retry-after: 400ms"]),
            ("429", ["do: http-error, on: status, status: 429, retry-after: 3s"]),
            ("expire-token", ["do: expire-token, on: status"]), ("job-gone", ["do: job-gone, on: status"]),
            ("reset", ["do: reset, on: status, after: 40B"]), ("silence", ["do: silence, on: status"]),
            ("kill", ["do: kill, at: 1600ms, for: 500ms"]),
        ].map {
            Script(
                name: "status-\(journey)-\($0.0)", faults: $0.1,
                keys: ", journey: \(journey), status-polling: always, status-interval: 2500ms")
        }
    }

    /// Streams that the server lets look for changes, as bendv3 does, and the app that polls at such a server.
    private static let polled = ["bookshelf-scan", "batch-enrichment", "csv-import"].flatMap {
        journey -> [Script] in
        [
            ("nothing", []), ("retryable-error", ["do: retryable-error, after: 1 events"]),
            ("end-without-terminal", ["do: end-without-terminal"]),
            ("bad-json-completed", ["do: bad-json, in: completed"]),
            ("results-502", ["do: http-error, on: results, status: 502"]),
        ].map { Script(name: "polled-\(journey)-\($0.0)", faults: $0.1, keys: ", journey: \(journey)") } + [
            Script(
                name: "polling-app-\(journey)", faults: ["do: http-error, on: status, status: 503"],
                keys: ", profile: swiftwing-polling, journey: \(journey), status-interval: 2500ms")
        ]
    }

    /// Two jobs that a provider fails open the circuit half a second after one another. What is uploaded while it is open is
    /// refused, and comes when the 3 s are over. The second import is the third job to complete then, 400 ms after the second one and
    /// 1 s before the next one, and closes it.
    private static let circuit: [Script] = {
        let failing = "do: retryable-error, after: 1 events, code: PROVIDER_ERROR, at: 0s, for: 3s"
        let slow = "do: slow-stage, stage: enriching, by: 1400ms"
        let scripts: [(name: String, keys: String, start: Int, faults: [String])] = [
            ("batch", ", journey: batch-enrichment", 1_000, [failing]),
            ("barcodes", ", journey: batch-enrichment, batch-form: barcodes", 1_500, [failing]),
            ("import", ", journey: csv-import", 2_000, [slow]),
            ("look-up", ", journey: book-enrichment", 2_500, []),
            ("shelf", ", journey: bookshelf-scan", 3_000, [slow]),
        ]
        return scripts.map {
            Script(name: "circuit-\($0.name)", faults: $0.faults, keys: $0.keys, start: $0.start)
        }
    }()

    /// The books-v3 app, which knows events with dotted names only. Scripts that it follows for ever (a job that is gone, a
    /// token that is over) have no end that could be compared.
    private static let books = ["bookshelf-scan", "batch-enrichment"].flatMap { journey -> [Script] in
        Self.booksFaults.map {
            Script(
                name: "books-\(journey)-\($0.0)", faults: $0.1,
                keys: ", profile: books-v3, journey: \(journey)")
        }
    }

    /// Its older stream client and its handler.
    private static let olderBooks = [("old", "books-v3-old"), ("handler", "books-v3-handler")].flatMap {
        name, profile in
        ["bookshelf-scan", "csv-import"].flatMap { Self.streamScripts(name, profile, journey: $0) }
    }

    /// The app itself where events have the names of the contract.
    private static let plainBooks = Self.streamScripts(
        "plain", "books-v3, books-quirk-8: off", journey: "csv-import")

    private static func streamScripts(_ name: String, _ profile: String, journey: String) -> [Script] {
        Self.booksStreamFaults.map {
            Script(
                name: "\(name)-\(journey)-\($0.0)", faults: $0.1,
                keys: ", profile: \(profile), journey: \(journey)")
        }
    }

    private static let booksStreamFaults: [(String, [String])] = [
        ("nothing", []),
        ("stream-503", ["do: http-error, on: stream, status: 503, retry-after: 400ms"]),
        ("retryable-error", ["do: retryable-error, after: 1 events"]),
        ("bad-json-completed", ["do: bad-json, in: completed"]),
        ("end-without-terminal", ["do: end-without-terminal"]),
        ("reset", ["do: reset, after: 2 events, cut: inside-event"]),
        ("silence", ["do: silence, after: 2 events, cut: between-events"]),
        ("kill", ["do: kill, at: 1600ms, for: 500ms"]),
    ]

    private static let booksFaults =
        Self.booksStreamFaults + [
            ("upload-503", ["do: http-error, on: upload, status: 503, retry-after: 400ms"]),
            ("upload-429", ["do: rate-limit, quota: 1 per 3s, retry-after: 1s"]),
            ("results-502", ["do: http-error, on: results, status: 502"]),
            ("final-error", ["do: final-error, after: 1 events"]),
            ("unknown-event", ["do: unknown-event, after: 1 events"]),
            ("two-terminals", ["do: two-terminals"]), ("reset-upload", ["do: reset, on: upload"]),
            ("slice", ["do: slice, on: stream, bytes: 1..9"]), ("refuse", ["do: refuse, on: upload"]),
        ]

    /// Faults of each layer on the journeys of v2.
    private static func journeys(_ names: [String]) -> [Script] {
        names.flatMap { journey in
            Self.journeyFaults.map {
                Script(name: "\(journey)-\($0.0)", faults: $0.1, keys: ", journey: \(journey)")
            }
        }
    }

    /// The same by WebSocket, which has no Last-Event-ID. An event that comes while a socket is opened again does not come later: the
    /// second step of a job is followed by a long one.
    private static func sockets(_ names: [String]) -> [Script] {
        names.flatMap { journey in
            Self.journeyFaults.filter { $0.0 != "ignore-last-event-id" }.map {
                let faults = $0.1.map {
                    $0.replacing("after: 2 events", with: "after: 1 events")
                        .replacing("inside-event", with: "between-events")
                        // From 2.9 s to 3.9 s no job has a step, and on a busy machine steps are late by as much as the uploads are.
                        .replacing("at: 1600ms", with: "at: 3250ms")
                }
                return Self.socket("\(journey)-\($0.0)", faults, journey: journey)
            }
        }
    }

    private static func socket(_ name: String, _ faults: [String], journey: String) -> Script {
        // The time of an import is that of its rows.
        let library = journey == "csv-import" ? ", library: {rows: 1500}" : ""
        return Script(
            name: "ws-\(name)", faults: faults,
            keys: ", journey: \(journey), transport: websocket\(library)")
    }

    /// Codes that are the end, that ask for another connection at once, and after 5 s.
    private static let closes = [1_000, 1_001, 1_008, 1_011, 4_000].map {
        code in
        Self.socket(
            "close-\(code)", ["do: ws-close, code: \(code), after: 1 events"], journey: "bookshelf-scan")
    }

    private static let frames = ["fragmented", "oversized", "masked", "reserved", "binary", "not-utf8"].map {
        form in
        Self.socket("frames-\(form)", ["do: ws-frames, as: \(form), after: 1 events"], journey: "csv-import")
    }

    private static let journeyFaults: [(String, [String])] = [
        ("nothing", []),
        ("upload-503", ["do: http-error, on: upload, status: 503, retry-after: 400ms"]),
        ("upload-429", ["do: rate-limit, quota: 1 per 3s, retry-after: 1s"]),
        ("stream-503", ["do: http-error, on: stream, status: 503, retry-after: 400ms"]),
        ("results-502", ["do: http-error, on: results, status: 502"]),
        ("expire-token", ["do: expire-token, after: 2 events"]),
        ("job-gone", ["do: job-gone, on: results, status: 404"]),
        ("retryable-error", ["do: retryable-error, after: 1 events"]),
        ("final-error", ["do: final-error, after: 1 events"]),
        ("slow-stage", ["do: slow-stage, stage: enriching, by: 1s"]),
        ("unknown-event", ["do: unknown-event, after: 1 events"]),
        ("bad-json-completed", ["do: bad-json, in: completed"]),
        ("truncate-results", ["do: truncate-results"]),
        ("reorder-results", ["do: reorder-results"]), ("two-terminals", ["do: two-terminals"]),
        ("end-without-terminal", ["do: end-without-terminal"]),
        (
            "ignore-last-event-id", ["do: ignore-last-event-id", "do: reset, after: 3 events"]
        ),
        ("no-ping", ["do: no-ping"]), ("reset", ["do: reset, after: 2 events, cut: inside-event"]),
        ("close-upload", ["do: close, on: upload, side: request, after: 100B"]),
        ("silence", ["do: silence, after: 2 events, cut: between-events"]),
        ("slice", ["do: slice, on: stream, bytes: 1..9"]), ("refuse", ["do: refuse, on: upload"]),
        ("offline", ["do: offline, at: 1600ms, for: 500ms"]),
        ("background", ["do: background, at: 1600ms, for: 500ms"]),
        ("kill", ["do: kill, at: 1600ms, for: 500ms"]),
    ]

    /// Single books, which have an upload and nothing else.
    private static let lookups = [
        ("nothing", []),
        ("503", ["do: http-error, on: upload, status: 503, code: CIRCUIT_OPEN, retry-after: 400ms"]),
        ("429", ["do: rate-limit, quota: 1 per 3s, retry-after: 1s"]),
        ("404", ["do: http-error, on: upload, status: 404, code: NOT_FOUND, retryable: off"]),
        ("elsewhere", ["do: http-error, on: upload, status: 404, code: GONE"]),
        ("reset-request", ["do: reset, on: upload, side: request, after: 100B"]),
        ("reset-reply", ["do: reset, on: upload, after: 80B"]),
        ("close-reply", ["do: close, on: upload, after: 250B"]),
        ("silence", ["do: silence, on: upload, after: 40B"]), ("refuse", ["do: refuse, on: upload"]),
        ("delay", ["do: delay, on: upload, by: 20ms..40ms"]),
        ("offline", ["do: offline, at: 1600ms, for: 500ms"]),
        ("background", ["do: background, at: 1600ms, for: 500ms"]),
        ("kill", ["do: silence, on: upload, after: 40B", "do: kill, at: 1600ms, for: 500ms"]),
        ("reinstall", ["do: reinstall, at: 1600ms, for: 500ms"]),
        ("storage-full", ["do: storage-full, at: 700ms, for: 900ms"]),
    ].map { Script(name: "look-up-\($0.0)", faults: $0.1, keys: ", journey: book-enrichment") }

    /// Books that the phone reads by itself, with and without somebody who reviews them.
    private static let texts = ["", ", review: {approve: 50%, edit: 40%, reject: 10%, after: 100ms..900ms}"]
        .enumerated().flatMap { index, review in
            [
                ("nothing", []),
                ("503", ["do: http-error, on: upload, status: 503, retry-after: 400ms"]),
                ("429", ["do: rate-limit, quota: 1 per 3s, retry-after: 1s"]),
                ("404", ["do: http-error, on: upload, status: 404"]),
                ("422", ["do: http-error, on: upload, status: 422, retryable: off"]),
                ("reset-request", ["do: reset, on: upload, side: request, after: 60B"]),
                ("reset-reply", ["do: reset, on: upload, after: 80B"]),
                ("silence", ["do: silence, on: upload, after: 40B"]),
                ("refuse", ["do: refuse, on: upload"]),
                ("offline", ["do: offline, at: 1600ms, for: 500ms"]),
                ("background", ["do: background, at: 1600ms, for: 500ms"]),
                ("kill", ["do: silence, on: upload, after: 40B", "do: kill, at: 1600ms, for: 500ms"]),
            ].map {
                Script(
                    name: "texts-\(index)-\($0.0)", faults: $0.1,
                    keys: ", journey: text-enrichment, reader: {accuracy: 60%, time: 150ms..300ms}" + review)
            }
        }

    /// The person acts between 3 s and 3.9 s, or 0.9 s later.
    private static let reviews = [
        ("nothing", []), ("kill", ["do: kill, at: 3500ms, for: 500ms"]),
        ("background", ["do: background, at: 3500ms, for: 500ms"]),
        ("strip", [strip]), ("reset", ["do: reset, after: 2 events, cut: between-events"]),
        ("offline", ["do: offline, at: 3500ms, for: 500ms"]),
    ].map {
        Script(
            name: "reviewed-\($0.0)", faults: $0.1,
            keys: ", review: {approve: 50%, edit: 40%, reject: 10%, after: 100ms..900ms, again: 30%}")
    }

    private static let barcodes = [
        ("nothing", []), ("results-502", ["do: http-error, on: results, status: 502"]),
        ("retryable-error", ["do: retryable-error, after: 1 events"]),
        ("kill", ["do: kill, at: 1600ms, for: 500ms"]),
    ].map {
        Script(
            name: "barcodes-\($0.0)", faults: $0.1,
            keys: ", journey: batch-enrichment, batch-form: barcodes")
    }

    /// Users who cancel, between two events or after the job is over. An import reports half of its rows
    /// after 500 ms.
    private static let cancels =
        ["scan", "bookshelf-scan", "batch-enrichment"].flatMap { Self.cancels(of: $0, after: 500) }
        + Self.cancels(of: "csv-import", after: 570)

    private static func cancels(of journey: String, after milliseconds: Int) -> [Script] {
        let faults = [
            ("nothing", []), ("503", ["do: http-error, on: cleanup, status: 503, retry-after: 400ms"]),
            ("404", ["do: http-error, on: cleanup, status: 404"]),
            ("reset", ["do: reset, on: cleanup"]), ("silence", ["do: silence, on: cleanup"]),
            ("refuse", ["do: refuse, on: cleanup"]),
            ("reset-stream", ["do: reset, after: 1 events, cut: inside-event"]),
            ("offline", ["do: offline, at: 1480ms, for: 900ms"]),
            ("kill", ["do: kill, at: 1480ms, for: 500ms"]),
            ("background", ["do: background, at: 1480ms, for: 500ms"]),
            ("storage-full", ["do: storage-full, at: 1480ms, for: 500ms"]),
        ]
        let keys = ", journey: \(journey), cancel: {chance: 100%, after: \(milliseconds)ms}"
        return faults.map { Script(name: "cancel-\(journey)-\($0.0)", faults: $0.1, keys: keys) }
    }

    private static func endings(_ kind: String) -> [Script] {
        [
            ("upload-request", "on: upload, side: request, after: 4KiB"), ("upload-reply", "on: upload"),
            ("between-events", "after: 2 events, cut: between-events"),
            ("inside-event", "after: 2 events, cut: inside-event"),
            ("inside-utf8", "after: 2 events, cut: inside-utf8"),
            ("inside-line-end", "after: 2 events, cut: inside-line-end"), ("cleanup", "on: cleanup"),
        ].map { Script(name: "\(kind)-\($0.0)", faults: ["do: \(kind), \($0.1)"]) } + [
            Script(name: "\(kind)-results", faults: ["do: \(kind), on: results, after: 150B", strip])
        ]
    }
}

/// Scripts that share a run, and its server.
private struct Part {
    let scripts: [Script]
    private let books: Int
    private let jobSeconds: Int
    /// Keys in addition to those that every server has.
    private let server: String

    init(_ scripts: [Script], books: Int = 3, jobSeconds: Int = 2, server: String = "") {
        self.scripts = scripts
        self.books = books
        self.jobSeconds = jobSeconds
        self.server = server
    }

    var scenario: String {
        let photos = "photos: {paint: 1, size: 320x240}"
        let groups = self.scripts.enumerated().map { index, script in
            let start = script.start ?? 1_000 + index % 8 * 41
            let times = "think: 800ms, start: \(start)ms, request-timeout: 4s, idle-timeout: 1700ms"
            return
                "  \(script.name): {phones: 1, scans: 2, network: wifi, \(times), \(photos)\(script.keys)}"
        }
        let faults = self.scripts.flatMap { script in
            script.faults.enumerated().map { index, fault in
                "  - {\(fault), scope: \(script.name), id: \(script.name)-\(index + 1)}"
            }
        }
        // What waits at the end is compared, and not judged: some clients give up.
        return """
            scenario: 1
            name: parity
            seed: 9
            drain: 25s
            slo: {scans.waiting: count <= \(2 * self.scripts.count)}
            fleet:
            \(groups.joined(separator: "\n"))
            server: {books: \(self.books), job-time: \(self.jobSeconds)s, ping: 700ms, rate-limit: off\(self.server)}
            faults:
            \(faults.joined(separator: "\n"))

            """
    }
}

/// What was seen of one phone, separated by what has an order of its own: who saw it, of which scan and job.
private typealias Story = [String: [String]]

extension Story {
    /// By the numbers of the phones.
    fileprivate static func all(_ report: RunReport) throws -> [Int: Story] {
        var stories: [Int: Story] = [:]
        var names: [Int: [String: Int]] = [:]
        for line in try report.text("events.ndjson").split(separator: "\n") {
            guard let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let phone = fields["device"] as? Int,
                let (order, said) = try self.said(fields, &names[phone, default: [:]])
            else { continue }
            stories[phone, default: [:]][order, default: []].append(said)
        }
        return stories
    }

    /// One observation without what may differ, and the order that it belongs to.
    private static func said(
        _ fields: [String: Any], _ names: inout [String: Int]
    ) throws -> (order: String, said: String)? {
        guard let what = fields["what"] as? String, let side = fields["side"] as? String else { return nil }
        // How many pings a stream has depends on how long it is open, to the millisecond.
        guard what != "ping", what != "ping-written", side != "network" else { return nil }
        var fields = fields
        // Times, numbers of connections in the order in which a whole fleet was accepted, sizes of photos.
        for key in fields.keys where key.hasSuffix("_ns") { fields[key] = nil }
        for key in ["t", "device", "connection", "bytes"] { fields[key] = nil }
        // Ids are times. They are called by the order in which they are met.
        for key in ["id", "last_event_id", "after", "job"] {
            guard let name = fields[key] as? String else { continue }
            let kind = key == "job" ? "job" : "event"
            let known = names.count
            fields[key] = names["\(kind) \(name)", default: known]
            names["\(kind) \(name)"] = names["\(kind) \(name)", default: known]
        }
        var order = "\(side) of scan \(fields["scan"] ?? "-")"
        // A photo is ready while its record is written, or before.
        if what == "photo-prepared" { order += ", photo" }
        // A slot is given back when the record is durable and the stream has ended, a moment before the
        // DELETE or after it.
        if what == "slot-given" { order += ", slot" }
        // What becomes of a book that waits is said once it is durable, and its look-up does not wait for that.
        if self.ofReview.contains(what) { order += ", review" }
        // The jobs of a scan go on side by side.
        if side == "backend", let job = fields["job"] { order += ", job \(job)" }
        let data = try JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys])
        return (order, String(decoding: data, as: UTF8.self))
    }

    private static let ofReview: Set = [
        "book-pending", "book-edited", "book-approved", "book-rejected", "book-merged", "book-repeated",
    ]

    /// The first position at which two stories differ; nil if they are equal.
    fileprivate static func difference(_ live: Story, _ simulated: Story) -> String? {
        for order in Set(live.keys).union(simulated.keys).sorted() {
            let (left, right) = (live[order] ?? [], simulated[order] ?? [])
            guard left != right else { continue }
            let index = zip(left, right).prefix { $0 == $1 }.count
            let (one, other) = (left.dropFirst(index).first, right.dropFirst(index).first)
            return "\(order), after \(index): live \(one ?? "nothing"), simulated \(other ?? "nothing")"
        }
        return nil
    }
}
