import Backend
import Faults
import Plan
import SimBase

/// Reads `server`.
struct ServerReader {
    static let keys = [
        "dialect", "books", "job-time", "ping", "ping-ids", "token-lifetime", "event-buffer", "replay-ids",
        "line-ends", "rate-limit", "results-lifetime", "completed-size-max", "strict-device", "strict-accept",
        "repeated-cleanup", "links", "retry", "stream-linger", "photos-max", "photo-size-max",
        "batch-size-max", "jobs-max", "tombstones-max", "v2", "circuit-breaker",
    ]
    static let countMax = 10_000_000
    /// Sizes are held in memory or counted against it.
    private static let bytesMax = 1 << 40

    let findings: Findings

    func settings(_ node: Node?) -> ServerSettings {
        var settings = ServerSettings.contract
        guard let node,
            let map = MapReader(node, what: "a server", keys: Self.keys, planned: [], findings: self.findings)
        else { return settings }
        if let dialect = map.entry("dialect")?.value, case .map = dialect.content {
            guard let capture = self.capture(dialect, map) else { return settings }
            settings = ServerSettings(
                books: capture.books.count...capture.books.count, backend: .replaying(capture))
        } else {
            settings.backend = self.backend(map, default: settings.backend)
            settings.books = map.value("books", default: settings.books) { text throws(ValueError) in
                try Values.integers(text, 0...ScenarioLimit.booksMax, what: "the number of books")
            }
        }
        self.readTimes(map, &settings.backend)
        self.readManners(map, &settings.backend)
        self.readLimits(map, &settings.backend)
        V2Reader(findings: self.findings).read(map, into: &settings.backend.v2)
        return settings
    }

    private func capture(_ dialect: Node, _ map: MapReader) -> Capture? {
        let read = CaptureReader(findings: self.findings, library: .none).capture(dialect)
        guard let capture = read else { return nil }
        guard capture.books.count <= ScenarioLimit.booksMax else {
            self.findings.add(
                dialect.location,
                "the captured stream has \(capture.books.count) books; the maximum is \(ScenarioLimit.booksMax)"
            )
            return nil
        }
        guard let books = map.entry("books") else { return capture }
        // A resolved scenario says how many there are.
        guard case .scalar(String(capture.books.count)) = books.value.content else {
            self.findings.add(
                books.keyLocation, "the books are the \(capture.books.count) of the captured stream",
                help: "leave out `books`")
            return nil
        }
        return capture
    }

    private func backend(_ map: MapReader, default: BackendConfiguration) -> BackendConfiguration {
        map.value("dialect", default: `default`) { text throws(ValueError) in
            guard let preset = BackendConfiguration.preset(text) else {
                let known = BackendConfiguration.presets.map(\.dialect.name)
                throw ValueError(
                    "unknown dialect \(Findings.quoted(text))",
                    help: [Values.didYouMean(text, known), "the dialects are \(Values.list(known))"]
                        .compactMap { $0 }.joined(separator: "; "))
            }
            return preset
        }
    }

    private func readTimes(_ map: MapReader, _ backend: inout BackendConfiguration) {
        let limit = BackendConfiguration.intervalMax
        backend.jobTime = map.value("job-time", default: backend.jobTime) { text throws(ValueError) in
            try Values.durations(text, max: limit)
        }
        backend.ping = map.value("ping", default: backend.ping) { text throws(ValueError) in
            let ping = try Values.duration(text, max: limit)
            guard ping >= .milliseconds(1) else { throw ValueError("the ping interval must be at least 1ms") }
            return ping
        }
        func time(_ key: String, _ value: inout Interval) {
            value = map.value(key, default: value) { text throws(ValueError) in
                try Values.duration(text, max: limit)
            }
        }
        time("token-lifetime", &backend.tokenLifetime)
        time("event-buffer", &backend.eventBuffer)
        time("results-lifetime", &backend.resultsLifetime)
        time("stream-linger", &backend.streamLinger)
        backend.retryField = Self.optional(map, "retry", default: backend.retryField) {
            text throws(ValueError) in
            try Values.duration(text, max: limit)
        }
        backend.rateLimit = Self.optional(map, "rate-limit", default: backend.rateLimit, Values.quota)
    }

    private func readManners(_ map: MapReader, _ backend: inout BackendConfiguration) {
        backend.pingIDs = map.value("ping-ids", default: backend.pingIDs, Values.boolean)
        backend.strictDevice = map.value("strict-device", default: backend.strictDevice, Values.boolean)
        backend.strictAccept = map.value("strict-accept", default: backend.strictAccept, Values.boolean)
        backend.replayIDs = map.value("replay-ids", default: backend.replayIDs) { text throws(ValueError) in
            let words = BackendConfiguration.ReplayIDs.allCases.map(\.rawValue)
            let word = try Values.choice(text, of: words, what: "`replay-ids`")
            return BackendConfiguration.ReplayIDs(rawValue: word) ?? .kept
        }
        backend.lineEnds = map.value("line-ends", default: backend.lineEnds) { text throws(ValueError) in
            let words = BackendConfiguration.LineEnds.allCases.map(\.rawValue)
            let word = try Values.choice(text, of: words, what: "`line-ends`")
            return BackendConfiguration.LineEnds(rawValue: word) ?? .lf
        }
        backend.repeatedCleanup = map.value("repeated-cleanup", default: backend.repeatedCleanup) {
            text throws(ValueError) in
            let statuses = BackendConfiguration.RepeatedCleanup.allCases.map { String($0.rawValue) }
            let word = try Values.choice(text, of: statuses, what: "`repeated-cleanup`")
            return Int(word).flatMap(BackendConfiguration.RepeatedCleanup.init(rawValue:)) ?? .noContent
        }
        backend.urlForm = map.value("links", default: backend.urlForm) { text throws(ValueError) in
            if text == "relative" { return .relative }
            if text == "absolute" { return .absoluteToHost }
            guard text.hasPrefix("http://") || text.hasPrefix("https://"), !text.hasSuffix("/"),
                text.unicodeScalars.count <= ValueScanner.scalarsMax,
                text.unicodeScalars.allSatisfy({
                    (0x21...0x7E).contains($0.value) && $0 != "\"" && $0 != "\\"
                })
            else {
                throw ValueError(
                    "`links` must be `relative`, `absolute` or a base URL such as `https://api.example`, without a trailing slash"
                )
            }
            return .absolute(base: text)
        }
    }

    private func readLimits(_ map: MapReader, _ backend: inout BackendConfiguration) {
        func size(_ key: String, _ value: inout Int) {
            value = map.value(key, default: value) { text throws(ValueError) in
                let bytes = try Values.bytes(text)
                guard (1...Self.bytesMax).contains(bytes) else {
                    throw ValueError("a size must be from 1B to \(Units.text(bytes: Self.bytesMax))")
                }
                return bytes
            }
        }
        func count(_ key: String, _ value: inout Int) {
            value = map.value(key, default: value) { text throws(ValueError) in
                try Values.integer(text, 1...Self.countMax, what: "`\(key)`")
            }
        }
        size("completed-size-max", &backend.completedBytesMax)
        size("photo-size-max", &backend.photoBytesMax)
        size("batch-size-max", &backend.batchBytesMax)
        count("photos-max", &backend.photosMax)
        count("jobs-max", &backend.jobsMax)
        count("tombstones-max", &backend.tombstonesMax)
    }

    /// A value that `off` switches off.
    static func optional<Value>(
        _ map: MapReader, _ key: String, default: Value?, _ read: (String) throws(ValueError) -> Value
    ) -> Value? {
        let value: Value?? = map.value(key) { text throws(ValueError) -> Value? in
            text == "off" ? nil : try read(text)
        }
        return value ?? `default`
    }
}
