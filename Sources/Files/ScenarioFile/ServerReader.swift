import Backend
import OriginServer
import Plan
import SimBase
import Talaria

/// Reads `server`, and the values of its keys that have several forms.
struct ServerReader {
    let findings: Findings

    func settings(_ node: Node?) -> ServerSettings {
        var settings = ServerSettings.contract
        guard let node, let map = Self.keys.map(node, self.findings) else { return settings }
        if let dialect = map.entry("dialect")?.value, case .map = dialect.content {
            guard let capture = self.capture(dialect, map) else { return settings }
            settings = ServerSettings(
                books: capture.books.count...capture.books.count, backend: .replaying(capture))
        }
        Self.keys.read(map, into: &settings)
        return settings
    }

    // MARK: Dialect and books

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

    static var dialectSchema: JSONSchema {
        let words = BackendConfiguration.presets.map(\.dialect.name)
        var dialect = JSONSchema.choice(
            .choice(words), orTypes: ["object"], JSONSchema.list(words.map { "`\($0)`" } + ["a map"]))
        dialect.properties = [
            CaptureReader.replay: JSONSchema.anyText.described(
                "path of a captured event stream, relative to the scenario; its events are those of every job"
            ),
            CaptureReader.stream: JSONSchema.anyText.described("the text of the captured stream"),
        ]
        dialect.isClosed = true
        return dialect
    }

    @Sendable static func readDialect(_ map: MapReader, _ settings: inout ServerSettings) {
        guard settings.backend.dialect.capture == nil else { return }
        settings.backend = map.value("dialect", default: settings.backend) { text throws(ValueError) in
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

    static func text(_ dialect: Dialect) -> String {
        guard let capture = dialect.capture else { return ScenarioWriter.quoted(dialect.name) }
        return
            "{replay: \(ScenarioWriter.quoted(capture.name)), stream: \(ScenarioWriter.quoted(capture.text))}"
    }

    static let books = ValueForm.integers(0...ScenarioLimit.booksMax, what: "the number of books")

    @Sendable static func readBooks(_ map: MapReader, _ settings: inout ServerSettings) {
        guard settings.backend.dialect.capture == nil else { return }
        settings.books = map.value("books", default: settings.books) { text throws(ValueError) in
            try Self.books.read("books", text)
        }
    }

    // MARK: Limits

    private static let limitsMax = 16

    private static let requests = ValueForm<RateLimitRule.Requests>.words(
        [("uploads", .uploads), ("status", .status)] + Journey.allCases.map { ($0.rawValue, .journey($0)) })

    private static let limit = ScenarioKeys<RateLimitRule>(
        what: "a limit",
        rows: [
            .init("quota", \.quota, .quota, "requests per time"),
            .init("per", \.scope, .word, "who shares the quota: a device id, an address, or all"),
            .init(
                "of", \.requests, Self.requests,
                "requests that are counted: uploads, those of one journey, or requests for the status (default: uploads)"
            ),
        ])

    static let limitsSchema = JSONSchema.list(
        of: .map(Self.limit.schemas, required: ["quota", "per"]), max: Self.limitsMax)

    static func text(_ limits: [RateLimitRule]) -> String {
        "[\(limits.map { Self.limit.text($0) }.joined(separator: ", "))]"
    }

    @Sendable static func readLimits(_ server: MapReader, _ settings: inout ServerSettings) {
        guard let node = server.entry("limits")?.value else { return }
        guard case .list(let nodes) = node.content, nodes.count <= Self.limitsMax else {
            return server.findings.add(
                node.location, "`limits` must be a list of at most \(Self.limitsMax) limits",
                help: "for example `[{quota: 5 per 1m, per: address, of: csv-import}]`")
        }
        settings.backend.limits = nodes.compactMap { node in
            guard let map = Self.limit.map(node, server.findings),
                map.required("quota", example: "5 per 1m", { text throws(ValueError) in text }) != nil,
                map.required("per", example: "address", { text throws(ValueError) in text }) != nil
            else { return nil }
            var rule = RateLimitRule(
                quota: Quota(requests: 0, window: .zero), scope: .device, requests: .uploads)
            Self.limit.read(map, into: &rule)
            return rule
        }
    }

    // MARK: Links and circuit breaker

    static let links = ValueForm<BackendConfiguration.URLForm>(
        .text(
            #"relative|absolute|https?://[!#-\[\]-~]*[!#-.0-\[\]-~]"#, "text",
            examples: ["relative", "absolute", "https://api.example"]),
        read: { _, text throws(ValueError) in
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
        },
        write: { form in
            switch form {
            case .relative: "relative"
            case .absoluteToHost: "absolute"
            case .absolute(let base): ScenarioWriter.quoted(base)
            }
        })

    static var breakerSchema: JSONSchema {
        var breaker = JSONSchema.choice(
            .toggle, orTypes: ["boolean", "object"], "`on`, `off` or a map")
        breaker.properties = Self.breaker.schemas
        breaker.isClosed = true
        return breaker
    }

    @Sendable static func readBreaker(_ server: MapReader, _ settings: inout ServerSettings) {
        guard let node = server.entry("circuit-breaker")?.value else { return }
        var rules = settings.backend.v2.breaker ?? CircuitBreakerRules()
        if case .scalar = node.content {
            let isOn = server.value("circuit-breaker", Values.boolean) ?? false
            settings.backend.v2.breaker = isOn ? rules : nil
        } else if let map = Self.breaker.map(node, server.findings) {
            Self.breaker.read(map, into: &rules)
            settings.backend.v2.breaker = rules
        }
    }
}
