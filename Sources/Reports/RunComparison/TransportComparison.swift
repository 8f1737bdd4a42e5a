import Ledger
import Metrics
package import Reports
import RunArchive
package import RunJudge
import SimBase
package import Talaria

/// The same scenario run with two transports, and the limits that the migration plan sets for the new one (S3, "Success
/// Criteria"; Docs/contract.md section 8).
package struct TransportComparison: Sendable {
    /// A figure of both runs and what S3 asks of it.
    struct Row: Sendable {
        enum Limit: Hashable, Sendable {
            /// The new value is at most this.
            case below(Int64)
            /// The new value is at most so many thousandths of the old one.
            case within(Int64)
        }

        /// `shown`: a figure without a limit.
        enum Standing: Hashable, Sendable { case held, broken, unknown, shown }

        let name: String
        let unit: @Sendable (Int64) -> String
        let old: Int64?
        let new: Int64?
        let limit: Limit?
        /// Whether it decides, or is a figure of this program's own phones and server.
        let decides: Bool

        var standing: Standing {
            guard let new else { return .unknown }
            switch self.limit {
            case nil: return .shown
            case .below(let most): return new <= most ? .held : .broken
            case .within(let thousandths):
                guard let old else { return .unknown }
                return new * 1_000 <= old * thousandths ? .held : .broken
            }
        }

        /// `110 %` of 1,100 thousandths.
        private static func percent(_ thousandths: Int64) -> String {
            thousandths % 10 == 0 ? "\(thousandths / 10) %" : "\(thousandths / 10).\(thousandths % 10) %"
        }

        /// The new value as a share of the old one; nil without both.
        var change: String? {
            guard let old, let new, old > 0 else { return nil }
            return Self.percent(new * 1_000 / old)
        }

        var limitText: String {
            switch self.limit {
            case nil: "–"
            case .below(let most): "at most \(self.unit(most))"
            case .within(let thousandths): "at most \(Self.percent(thousandths)) of the other"
            }
        }
    }

    package let old: StreamTransport
    package let new: StreamTransport
    private let rows: [Row]

    package init(_ old: (StreamTransport, RunResult), _ new: (StreamTransport, RunResult)) {
        (self.old, self.new) = (old.0, new.0)
        self.rows =
            Self.latencies(old.1, new.1) + Self.failures(old.1, new.1) + Self.resources(old.1, new.1)
    }

    // MARK: Figures

    private static func latencies(_ old: RunResult, _ new: RunResult) -> [Row] {
        func row(_ name: String, _ metric: LatencyMetric, _ limit: Row.Limit) -> Row {
            Row(
                name: "\(name) p95", unit: { Figures.time($0) }, old: old.latency(metric)?.p95,
                new: new.latency(metric)?.p95, limit: limit, decides: true)
        }
        let milliseconds: Int64 = 1_000_000
        return [
            row("connect time", .sseConnectTime, .below(100 * milliseconds)),
            row("first event after it", .sseFirstEventTime, .below(500 * milliseconds)),
            row("event latency", .sseEventLatency, .below(50 * milliseconds)),
            row("event latency", .sseEventLatency, .within(1_100)),
            row("reconnect time", .sseReconnectTime, .below(5_000 * milliseconds)),
            row("time of a scan", .scanTime, .within(1_100)),
        ]
    }

    /// In millionths.
    private static func failures(_ old: RunResult, _ new: RunResult) -> [Row] {
        func value(_ result: RunResult, _ metric: RateMetric) -> Int64? {
            result.rate(metric).map { $0.failed * 1_000_000 / $0.total }
        }
        func row(_ name: String, _ metric: RateMetric, _ limit: Int64) -> Row {
            Row(
                name: name, unit: { Figures.share(FailureRate(failed: $0, total: 1_000_000)) },
                old: value(old, metric), new: value(new, metric), limit: .below(limit), decides: true)
        }
        return [
            row("failed connects", .sseConnectFailed, 10_000),
            row("failed reconnects", .sseReconnectFailed, 50_000),
            row("failed requests for results", .resultsFailed, 10_000),
        ]
    }

    /// Those of the processes of this program. Both runs have the same phones, and as many streams.
    private static func resources(_ old: RunResult, _ new: RunResult) -> [Row] {
        guard old.world == .live else { return [] }
        func rows(_ who: String, _ usage: KeyPath<Resources, Resources.Usage?>) -> [Row] {
            let (before, after) = (old.resources[keyPath: usage], new.resources[keyPath: usage])
            return [
                Row(
                    name: "CPU, \(who)", unit: { Figures.time($0) }, old: before?.processor.nanoseconds,
                    new: after?.processor.nanoseconds, limit: .within(1_100), decides: false),
                Row(
                    name: "memory, \(who)", unit: { Figures.memory($0) }, old: before?.residentBytes,
                    new: after?.residentBytes, limit: .within(1_050), decides: false),
            ]
        }
        let bytes = { (name: String, count: (Resources.StreamBytes) -> Int64) in
            Row(
                name: "bytes of streams, \(name)", unit: { "\(Figures.count(($0 + 500) / 1_000)) kB" },
                old: old.resources.streamBytes.map(count), new: new.resources.streamBytes.map(count),
                limit: nil, decides: false)
        }
        let hasBackend = old.resources.backend != nil || new.resources.backend != nil
        return [bytes("received", \.received), bytes("sent", \.sent)]
            + rows("simulated phones", \.client)
            + (hasBackend ? rows("simulated backend", \.backend) : [])
    }

    // MARK: Verdict

    /// What a row that decides adds to the ends of both runs: one that is broken, or that has no value.
    package var reasons: ExitReasons {
        var reasons = ExitReasons()
        if !self.decisive(.broken).isEmpty { reasons.insert(.objectiveFailed) }
        if !self.decisive(.unknown).isEmpty { reasons.insert(.objectiveNotJudged) }
        return reasons
    }

    /// The names of the rows that decide, of this standing.
    private func decisive(_ standing: Row.Standing) -> [String] {
        self.rows.filter { $0.decides && $0.standing == standing }.map(\.name)
    }

    /// One sentence.
    package var sentence: String {
        let (broken, unknown) = (self.decisive(.broken), self.decisive(.unknown))
        guard broken.isEmpty else {
            return "\(self.new.name) misses what the migration asks of it: \(broken.joined(separator: ", "))"
        }
        guard unknown.isEmpty else {
            return "not judged, for lack of data: \(unknown.joined(separator: ", "))"
        }
        return "\(self.new.name) holds what the migration asks of it, beside \(self.old.name)"
    }

    /// All figures.
    package var table: DocumentTable { self.table(titled: "\(self.new.name) against \(self.old.name)") }

    private func table(titled title: String) -> DocumentTable {
        DocumentTable(
            id: "transports", tableID: "transport-table", title: title, rows: self.rows,
            mark: { (Self.mark($0), $0.decides ? nil : "warns") },
            [
                .init("figure", .name) { .init($0.name) },
                .init("\(self.old.name)", .number) { .init($0.old.map($0.unit) ?? "no data") },
                .init(self.new.name, .number) { .init($0.new.map($0.unit) ?? "no data") },
                .init("share", .number) { .init($0.change ?? "–") },
                .init("limit", .text) { .init($0.limitText) },
            ])
    }

    private static func mark(_ row: Row) -> DocumentTable.Mark {
        switch row.standing {
        case .held: .init(word: "held", sign: "✓", ascii: "ok", emoji: "✅", tone: .good, ink: .good)
        case .shown: .init(word: "no limit", sign: "·", ascii: "-", emoji: "▫️", tone: .plain, ink: .plain)
        case .unknown: .init(word: "no data", sign: "?", ascii: "?", emoji: "❔", tone: .warn, ink: .warning)
        case .broken where row.decides:
            .init(word: "broken", sign: "✗", ascii: "x", emoji: "❌", tone: .bad, ink: .bad)
        case .broken: .init(word: "broken", sign: "!", ascii: "!", emoji: "⚠️", tone: .warn, ink: .warning)
        }
    }

    // MARK: Formats

    package func text(_ style: TerminalStyle) -> String {
        var page = TerminalPage(style: style)
        page.table(self.table)
        page.gap()
        page.text(self.sentence, indent: 0)
        return page.text
    }

    /// `{old, new, sentence, figures: [{name, old, new, held, decides}]}`: times in nanoseconds, rates in millionths.
    package var json: String {
        JSONValue.object([
            "old": .string(self.old.rawValue), "new": .string(self.new.rawValue),
            "sentence": .string(self.sentence),
            "figures": .array(
                self.rows.map { row in
                    .object([
                        "name": .string(row.name), "limit": .string(row.limitText),
                        "old": row.old.map { .integer($0) } ?? .null,
                        "new": row.new.map { .integer($0) } ?? .null,
                        "held": [.held, .broken].contains(row.standing)
                            ? .bool(row.standing == .held) : .null,
                        "decides": .bool(row.decides),
                    ])
                }),
        ]).text(colon: ": ") + "\n"
    }

    package var markdown: String {
        "# \(self.table.title)\n\n\(self.sentence).\n\n\(self.table.markdownBody)\n"
    }

    package var page: String {
        HTMLDocument(
            title: "\(self.table.title)",
            header: "<header>\n<h1>\(self.table.title)</h1>\n<p>\(self.sentence).</p>\n</header>\n",
            sections: [self.table(titled: "Figures").section(prefix: "")]
        ).html.text
    }
}
