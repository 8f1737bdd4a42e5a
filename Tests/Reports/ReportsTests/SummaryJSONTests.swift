import Foundation
import Ledger
import Metrics
import ReportSamples
import RunJudge
import SimBase
import Testing

@testable import Reports
@testable import RunArchive

@Suite struct SummaryJSONTests {
    private typealias Object = [String: Any]

    private static func parsed(_ result: RunResult) throws -> Object {
        try #require(
            try JSONSerialization.jsonObject(with: Data(SummaryJSON.bytes(result))) as? Object)
    }

    /// Key by key, whatever their order.
    private static func same(_ value: Any?, _ expected: Object) throws -> Bool {
        let found = try JSONSerialization.data(withJSONObject: #require(value), options: .sortedKeys)
        return try found == JSONSerialization.data(withJSONObject: expected, options: .sortedKeys)
    }

    @Test func `the keys are those of the design`() throws {
        let summary = try Self.parsed(Samples.passed())
        #expect(
            Set(summary.keys) == [
                "schema", "tool", "scenario", "seed", "world", "started", "seconds", "devices", "scans",
                "books",
                "jobs", "disconnections", "findings", "errors", "metrics", "counters", "faults", "slos",
                "invariants",
                "groups",
                "gauges", "resources", "passed", "exit", "exit_reasons", "obligations", "interrupted",
                "complaints", "warnings", "notes",
                "expect_broken", "outcome", "drained_s", "target", "tags", "slow_scans",
            ])
    }

    @Test func `the server's own count of open streams has its peak, and how long it stood there`() throws {
        var result = Samples.passed()
        let before = try #require(try Self.parsed(result)["gauges"] as? Object)
        #expect(before["server.streams.open"] as? String == "n/a")
        var series = GaugeSeries()
        for (second, count) in [(0, 400), (400, 1_000), (1_000, 1_000), (990, 1_000), (10, 990)].enumerated()
        {
            series.add(least: count.0, most: count.1, upTo: .zero + .seconds(Int64(second + 1)))
        }
        result.streamsOpen = series
        let gauges = try Self.parsed(result)["gauges"]
        let expected: Object = [
            "server.streams.open": ["peak": 1_000, "peak_by_s": 2, "at_peak_s": 1, "near_peak_s": 2]
        ]
        #expect(try Self.same(gauges, expected))
        let text = TerminalSummary.text(
            result, style: TerminalStyle(columns: 100, isColored: false, isASCII: false))
        #expect(
            text.contains("peak 1,000 open streams (within 1 % for 2.0 s), measured at the server"))
    }

    @Test func `what cut a run short is told, and only then`() throws {
        #expect(try Self.parsed(Samples.passed())["failure"] == nil)
        #expect(
            try Self.parsed(Samples.aborted())["failure"] as? String
                == "the backend process died: killed by signal 9")
    }

    @Test func `what ran is told`() throws {
        let summary = try Self.parsed(Samples.passed())
        #expect(summary["schema"] as? Int == 1)
        #expect(summary["tool"] as? String == "swiftwing-sim 1.0.0")
        #expect(
            try Self.same(
                summary["scenario"],
                ["name": "flaky-network", "sha256": SHA256.hexadecimal(of: Array("scenario: 1\n".utf8))]))
        #expect(summary["seed"] as? Int == 42)
        #expect(summary["world"] as? String == "live")
        #expect(summary["started"] as? String == "2026-11-21T09:30:00.000Z")
        #expect(summary["seconds"] as? Double == 34.21)
        #expect(summary["devices"] as? Int == 42)
        #expect(summary["passed"] as? Bool == true)
        #expect(summary["exit"] as? Int == 0)
    }

    @Test func `scans, books and jobs are told`() throws {
        let summary = try Self.parsed(Samples.passed())
        #expect(
            try Self.same(
                summary["scans"],
                [
                    "captured": 126, "restored": 0, "completed": 118, "refused": 3, "refused_unexplained": 0,
                    "waiting": 5, "lost": 0,
                    "open": 0, "discarded": 0, "discarded_by_cause": [:],
                    "waiting_by_cause": ["offline": 3, "rate-limited": 2],
                ]))
        #expect(
            try Self.same(
                summary["books"],
                [
                    "expected": 540, "received": 540, "pending": 0, "missing": 0, "duplicated": 0,
                    "repeated": 12,
                ]))
        #expect(
            try Self.same(
                summary["jobs"],
                [
                    "accepted": 131, "cleaned": 122, "abandoned": 4, "cleanup_unfinished": 0, "orphaned": 0,
                    "expired": 5,
                    "abandoned_by_cause": ["token-expired": 3, "app-suspended": 1],
                ]))
        let groups = try #require(summary["groups"] as? [String: Object])
        #expect(Set(groups.keys) == ["commuters", "readers"])
        #expect(groups["readers"]?["devices"] as? Int == 2)
        #expect((groups["readers"]?["scans"] as? Object)?["captured"] as? Int == 6)
        #expect((groups["readers"]?["counters"] as? Object)?["scans.completed"] as? Int == 6)
        #expect(
            ((groups["commuters"]?["metrics"] as? Object)?["upload.time"] as? Object)?["count"] as? Int == 120
        )
    }

    @Test func `measurements are told`() throws {
        let summary = try Self.parsed(Samples.passed())
        let metrics = try #require(summary["metrics"] as? [String: Object])
        #expect(
            Set(metrics.keys)
                == Set(LatencyMetric.allCases.map(\.rawValue) + RateMetric.allCases.map(\.rawValue)))
        let upload = try #require(metrics["upload.time"])
        #expect(
            Set(upload.keys) == [
                "unit", "count", "min", "mean", "p50", "p90", "p95", "p99", "p999", "max", "unfinished",
            ])
        #expect(upload["unit"] as? String == "ms")
        #expect(upload["count"] as? Int == 120)
        #expect(upload["max"] as? Double == 481.32)
        #expect(upload["min"] as? Double == 182.511)
        #expect(metrics["cleanup.time"]?["count"] as? Int == 0)
        #expect(metrics["cleanup.time"]?["p95"] is NSNull)
        #expect(
            try Self.same(
                metrics["upload.failed"], ["unit": "share", "count": 120, "failed": 5, "rate": 0.041666]))
        let counters = try #require(summary["counters"] as? Object)
        #expect(counters["sse.events"] as? Int == 720)
        #expect(counters["http.429"] as? Int == 28)
        #expect(
            try Self.same(
                summary["faults"],
                [
                    "rate-limit-1": 28, "strip-books-1": 31, "reset-1": 42, "expire-token-1": 0,
                    "offline-1": 20,
                ]))
        let losses = try #require(summary["disconnections"] as? [Object])
        #expect(losses.count == 2)
        #expect(
            try Self.same(
                losses[0],
                ["cause": "reset", "count": 42, "resumed": 40, "restarted": 1, "gave_up": 1, "p95": 1210.0]))
        #expect(
            try Self.same(
                summary["resources"],
                [
                    "client_cpu_s": 3.204, "client_rss_kb": 49_152, "backend_cpu_s": 1.1,
                    "backend_rss_kb": 31_744, "stream_bytes_sent": 70_000, "stream_bytes_received": 900_000,
                ]))
    }

    @Test func `judgements are told`() throws {
        let summary = try Self.parsed(Samples.brokenInvariant())
        #expect(summary["passed"] as? Bool == false)
        #expect(summary["exit"] as? Int == 97)
        let slos = try #require(summary["slos"] as? [Object])
        #expect(
            try Self.same(
                slos[4],
                [
                    "metric": "scans.waiting", "expression": "count == 0", "actual": "5", "passed": false,
                    "severity": "warn", "stated": true,
                ]))
        let invariants = try #require(summary["invariants"] as? [Object])
        #expect(invariants.map { $0["id"] as? String } == Samples.invariants.map(\.rawValue))
        let lost = try #require(invariants.first { $0["id"] as? String == "book.never-lost" })
        #expect(
            try Self.same(
                lost,
                [
                    "id": "book.never-lost", "kind": "finally", "violations": 4, "expected": 1,
                    "had_occasion": true,
                    "first": [
                        "device": 17, "scan": 2, "at": 12_480.312, "text": "book 4 of 6 never came",
                        "cause": ["by": "phone"],
                    ],
                ]))
        var result = Samples.brokenInvariant()
        let index = try #require(result.verdicts.firstIndex { $0.invariant == .bookNeverLost })
        (result.verdicts[index].examples[0].device, result.verdicts[index].examples[0].scan) = (nil, .none)
        #expect(result.place(of: result.verdicts[index].examples[0]) == "at 12.480 s")
        let nobodys = try #require(try Self.parsed(result)["invariants"] as? [Object])
        let first = try #require(nobodys[index]["first"] as? Object)
        #expect(first["device"] is NSNull && first["scan"] is NSNull)
        let held = try #require(invariants.first { $0["id"] as? String == "slots.bounded" })
        #expect(held["violations"] as? Int == 0)
        #expect(held["first"] is NSNull)
    }

    @Test func `what a foreign target does not show is n/a, never 0`() throws {
        let summary = try Self.parsed(Samples.foreign())
        let unknown = [
            (summary["books"] as? Object)?["expected"], (summary["books"] as? Object)?["missing"],
            (summary["jobs"] as? Object)?["orphaned"], (summary["jobs"] as? Object)?["expired"],
            (summary["metrics"] as? Object)?["sse.event.latency"],
            (summary["counters"] as? Object)?["books.expected"], (summary["faults"] as? Object)?["offline-1"],
            (summary["slos"] as? [Object])?[2]["passed"], (summary["slos"] as? [Object])?[2]["actual"],
            (summary["resources"] as? Object)?["backend_cpu_s"],
            (summary["resources"] as? Object)?["backend_rss_kb"],
            (summary["invariants"] as? [Object])?.first { $0["id"] as? String == "book.never-lost" }?[
                "violations"],
        ]
        #expect(unknown.map { $0 as? String } == [String?](repeating: "n/a", count: unknown.count))
    }

    @Test func `the same run makes the same bytes, keys sorted and times with three digits`() {
        let bytes = SummaryJSON.bytes(Samples.passed())
        #expect(bytes == SummaryJSON.bytes(Samples.passed()))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("{\n  \"books\": {\n    \"duplicated\": 0,\n    \"expected\": 540,\n"))
        #expect(text.contains("\"p95\": 1210.000,\n"))
        #expect(text.hasSuffix("}\n"))
    }
}
