import Metrics
import Observations
import ReportSamples
import Reports
import RunArchive
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import RunComparison
@testable import ScenarioFile

/// Two runs scan by scan: what is worse, what is not a regression, and what is not proven.
@Suite struct PairingTests {
    private func run(
        _ change: @escaping (inout ScanRow) -> Bool = { _ in true }, seed: UInt64 = 42,
        world: WorldKind = .live, scenario: String = PairedRun.fleet, tool: String = "swiftwing-sim 1.0.0",
        result: RunResult = Samples.passed()
    ) -> ComparedRun {
        var head = Samples.head(groups: result.groups.map(\.name))
        head.seed = seed
        head.world = world
        head.tool = tool
        let scans = PairedRun(change: change).table
        var result = result
        result.metrics = MetricTable(groups: result.metrics.groups)
        for row in scans.rows {
            for metric in ScanTable.metrics {
                guard let time = row[metric] else { continue }
                result.metrics.record(
                    metric, time, in: MetricGroup(index: Int(row.device.raw) / 3))
            }
        }
        return ComparedRun(
            folder: "\(seed)", head: head, result: result, wasCutOff: false, scans: scans, tracks: [],
            scenarioText: scenario)
    }

    private func compare(_ base: ComparedRun, _ new: ComparedRun, _ judged: [LatencyMetric] = [])
        -> RunComparison
    {
        RunComparison(
            base: base, new: new, tolerance: 100_000, judged: judged, width: .seconds(1), sameLog: false)
    }

    private func row(_ metric: LatencyMetric, in comparison: RunComparison) -> RunComparison.Latency? {
        comparison.latencies.first { $0.name == LatencyScope(metric, .fleet) }
    }

    // MARK: Latencies

    @Test func `the same scans are no regression, and slower ones are one`() {
        let same = self.compare(self.run(), self.run())
        #expect(same.exitReasons == [] && same.sentence.hasPrefix("nothing got worse"))
        let slow = self.compare(
            self.run(),
            self.run {
                $0.multiply(.scanTime, by: 1.3)
                return true
            })
        #expect(slow.exitReasons == [.regression])
        #expect(
            slow.regressions.count == 1
                && slow.regressions[0].hasPrefix("scan.time: p50 150ms to 195ms (+30%)"))
        #expect(!slow.sentence.contains("nothing"))
    }

    @Test func `scan time, what has an objective and what is asked for are judged, and the rest is shown`() {
        let slow = self.run {
            $0.multiply(.cleanupTime, by: 3)
            return true
        }
        let shown = self.compare(self.run(), slow)
        #expect(self.row(.cleanupTime, in: shown)?.isJudged == false)
        #expect(self.row(.cleanupTime, in: shown)?.change == .shown)
        #expect(shown.exitReasons == [])
        #expect(self.row(.scanTime, in: shown)?.isJudged == true)
        let judged = self.compare(self.run(), slow, [.cleanupTime])
        #expect(self.row(.cleanupTime, in: judged)?.change == .worse)
        #expect(judged.exitReasons == [.regression])
        var result = Samples.passed()
        #expect(self.row(.sseFirstEventTime, in: self.compare(self.run(), self.run()))?.isJudged == false)
        result.slos = result.slos.filter {
            $0.slo.selector.description == "sse.first_event.time{group:commuters}"
        }
        let name = LatencyScope(.sseFirstEventTime, .group("commuters"))
        #expect(!result.slos.isEmpty)
        let grouped = self.compare(
            self.run(result: result),
            self.run(
                {
                    if $0.device.raw < 3 { $0.multiply(.sseFirstEventTime, by: 2) }
                    return true
                }, result: result))
        #expect(grouped.latencies.first { $0.name == name }?.change == .worse)
    }

    @Test func `a scan that did not end is slower than all that did`() {
        let lost = self.run {
            guard PairedRun.number($0) % 10 == 3 else { return true }
            let (device, scan, at) = ($0.device, $0.scan, $0.at)
            $0 = ScanRow(device: device, scan: scan, at: at)
            return true
        }
        let comparison = self.compare(self.run(), lost)
        #expect(self.row(.scanTime, in: comparison)?.findings[1].ratio == .infinity)
        #expect(self.row(.scanTime, in: comparison)?.change == .worse)
        #expect(comparison.shares.first { $0.name == "scans.completed" }?.change == .worse)
        #expect(self.compare(lost, lost).shares.first { $0.name == "scans.completed" }?.change == .same)
        #expect(self.row(.scanTime, in: self.compare(lost, lost))?.findings[1].sides?.new == "196ms")
    }

    @Test func `what neither scan needed is of no pair`() {
        let direct = self.run {
            $0.forget(.resultsTime)
            return true
        }
        let comparison = self.compare(self.run(), direct, [.resultsTime])
        #expect(self.row(.resultsTime, in: comparison)?.change == .notProven, "no pair has both")
        #expect(comparison.doubts.contains { $0.hasPrefix("results.time has too few values") })
    }

    @Test func `a time of nothing may grow by as little as any other`() {
        func run(_ time: Interval) -> ComparedRun {
            self.run {
                $0.forget(.scanTime)
                $0.record(.scanTime, time)
                return true
            }
        }
        #expect(self.compare(run(.zero), run(.microseconds(500))).exitReasons == [])
        #expect(self.compare(run(.zero), run(.milliseconds(500))).exitReasons == [.regression])
    }

    // MARK: Chance

    @Test func `between two simulated runs of one seed there is no chance`() {
        func compare(_ factor: Double, tool: String = "swiftwing-sim 1.0.0") -> RunComparison {
            self.compare(
                self.run(world: .virtual),
                self.run(
                    {
                        // One scan in twelve, whatever the others do.
                        if PairedRun.number($0) % 12 == 0 { $0.multiply(.scanTime, by: factor) }
                        return true
                    }, world: .virtual, tool: tool))
        }
        #expect(!compare(1).hasChance)
        #expect(compare(5).exitReasons == [.regression])
        #expect(self.row(.scanTime, in: compare(5))?.findings.allSatisfy { $0.interval == nil } == true)
        #expect(compare(1.01).exitReasons == [])
        #expect(
            compare(1.01, tool: "swiftwing-sim 2").sentence
                == "nothing got worse with another version of the program")
        let other = self.compare(self.run(world: .virtual), self.run(seed: 7, world: .virtual))
        #expect(other.hasChance)
    }

    @Test func `what chance may explain is not proven, and how many scans would tell is said`() {
        let comparison = self.compare(
            self.run(),
            self.run {
                $0.multiply(.scanTime, by: PairedRun.number($0) / 12 % 5 < 3 ? 1 : 1.25)
                return true
            })
        #expect(comparison.exitReasons == [.notProven])
        #expect(comparison.headline == "NOT PROVEN" && !comparison.sentence.contains("nothing got worse"))
        #expect(comparison.doubts.contains { $0.hasPrefix("scan.time p50 ") && $0.contains("would tell") })
    }

    // MARK: Pairs

    @Test func `scans are pairs where seed, phones and their conditions are equal`() {
        func pairs(_ new: ComparedRun) -> ScanPairs? { ScanPairs(self.run(), new) }
        #expect(pairs(self.run())?.isPaired == true)
        #expect(pairs(self.run(seed: 7))?.differences == ["the seeds differ"])
        let other = PairedRun.fleet.replacing("network: lte\n  readers", with: "network: 3g\n  readers")
        #expect(pairs(self.run(scenario: other))?.differences == ["commuters differs in network"])
        #expect(pairs(self.run(scenario: other))?.isPaired == false)
        #expect(pairs(self.run(scenario: "server:\n  job-time: 9s\n" + PairedRun.fleet))?.isPaired == true)
        #expect(pairs(self.run(scenario: "fleet:\n"))?.isPaired == false)
        var none = self.run()
        none.scans = nil
        #expect(pairs(none) == nil)
        #expect(self.compare(self.run(), none).exitReasons == [.notProven])
        #expect(self.compare(self.run(), none).doubts.first == "NEW has no scans.ndjson")
    }

    @Test func `the growth within pairs is judged beside the percentiles, in every format`() throws {
        // Fast and slow scans at random: the p50 is in one heap or in the other.
        func run(_ factor: Double) -> ComparedRun {
            self.run {
                let isFast = PairedRun.number($0) * 7_919 % 1_009 < 545
                $0.multiply(.scanTime, by: isFast ? factor : 20)
                return true
            }
        }
        let comparison = self.compare(run(1), run(1.3))
        let row = try #require(self.row(.scanTime, in: comparison))
        #expect(row.findings.map(\.change) == [.notProven, .same, .worse], "\(row.findings)")
        #expect(comparison.exitReasons == [.regression])
        #expect(comparison.regressions == ["scan.time: pairs \(row.pairsText)"])
        #expect(row.pairsText.wholeMatch(of: /\+\d+% \(\+\d+% to \+\d+%\)/) != nil, "\(row.pairsText)")
        #expect(comparison.latencyLead.hasPrefix("p50, p95 and the growth within pairs of "))
        for text in [ComparisonMarkdown.text(comparison), ComparisonPage.text(comparison)] {
            #expect(text.contains(row.pairsText), "\(text)")
        }
        let table = ComparisonText.text(comparison, style: .plain, isWhole: false)
        let growth = try #require(row.pairs?.growthText)
        #expect(table.contains("pairs") && table.contains(" \(growth) "))
        let members = JSONValue.object(ComparisonJSON.members(comparison))
        let found = members["latencies"]?.elements.first { $0["metric"]?.written == "\"scan.time\"" }
        #expect(found?["percentiles"]?.elements.count == 2)
        #expect(found?["pairs"]?["change"]?.written == "\"worse\"")
        #expect(found?["pairs"]?["count"]?.written == "240")
        #expect(found?["pairs"]?["ratio_to"]?.written != "null")
    }

    @Test func `only scans of paired groups are pairs`() {
        let slow: (inout ScanRow) -> Bool = {
            if $0.device.raw >= 3 { $0.multiply(.scanTime, by: 1.3) }
            return true
        }
        let other = PairedRun.fleet.replacing("network: lte\n  readers", with: "network: 3g\n  readers")
        let half = self.compare(self.run(), self.run(slow, scenario: other))
        #expect(self.row(.scanTime, in: half)?.pairs?.measure == .pairs(count: 120))
        #expect(self.row(.scanTime, in: half)?.pairs?.change == .worse)
        let none = self.compare(self.run(), self.run(slow, seed: 7))
        #expect(self.row(.scanTime, in: none)?.pairs == nil)
        #expect(none.latencyLead.hasPrefix("p50 and p95 of "))
    }

    @Test func `without pairs, scans of the same time are compared`() {
        let same = self.compare(self.run(), self.run(seed: 7))
        #expect(same.exitReasons == [], "\(same.doubts)")
        let slow = self.compare(
            self.run(),
            self.run(
                {
                    $0.multiply(.scanTime, by: 1.6)
                    return true
                }, seed: 7))
        #expect(slow.exitReasons == [.regression])
        #expect(slow.method?.contains("no pairs (the seeds differ)") == true)
    }

    @Test func `a network that is a list is compared to its last line`() {
        let list =
            "fleet:\n  a:\n    phones: 1\n    network:\n      - {at: 0s, link: lte}\n      - {at: 9s, link: %}\n    profile: x\n"
        let (one, other) = (list.replacing("%", with: "3g"), list.replacing("%", with: "none"))
        let conditions = PairingConditions(scenarioText: one)
        #expect(conditions.differences(from: conditions, group: "a") == [])
        #expect(
            conditions.differences(from: PairingConditions(scenarioText: other), group: "a") == ["network"])
        let profile = PairingConditions(scenarioText: one.replacing("profile: x", with: "profile: y"))
        #expect(conditions.differences(from: profile, group: "a") == [])
        #expect(conditions.differences(from: conditions, group: "b") == nil)
    }

    @Test func `a key of a group is a condition of its pairs, or says how the client works`() {
        let client = FleetReader.valueKeys.names.filter { key in
            let one = PairingConditions(scenarioText: "fleet:\n  a:\n    phones: 1\n    \(key): 1\n")
            let other = PairingConditions(scenarioText: "fleet:\n  a:\n    phones: 1\n    \(key): 2\n")
            return one.differences(from: other, group: "a") == []
        }
        #expect(
            client == [
                "profile", "text-enrichment", "enrichment-answer", "photo-below", "preprocess", "resume",
                "cleanup", "cancel", "review", "inline-books", "result-events", "streams-max", "idle-timeout",
                "request-timeout", "status-polling", "status-interval", "status-requests-max", "transport",
                "stream-token", "token-refresh", "retries",
            ])
    }

    @Test func `scans that one run lacks prove nothing`() {
        let half = self.run { PairedRun.number($0) % 2 == 0 }
        for (base, new) in [(self.run(), half), (half, self.run())] {
            let comparison = self.compare(base, new)
            #expect(comparison.exitReasons == [.notProven])
            #expect(comparison.doubts.contains { $0.contains("120 are not in") || $0.contains("120 not in") })
        }
        let nearly = self.run { PairedRun.number($0) > 1 }
        #expect(self.compare(self.run(), nearly).exitReasons == [])
        var few = Samples.passed()
        few.totals.scans.captured /= 2
        let unpaired = self.compare(self.run(), self.run(seed: 7, result: few))
        #expect(unpaired.doubts.contains { $0.hasPrefix("NEW made ") })
    }

    @Test func `a trend says what the judge says of its last run`() {
        let slow = self.run {
            $0.multiply(.scanTime, by: 1.4)
            $0.multiply(.jobTime, by: 0.5)
            return true
        }
        var trend = RunTrend([.init(folder: "a", result: slow.result, wasCutOff: false)])
        #expect(trend.sentence == nil)
        trend.comparison = self.compare(self.run(), slow, [.jobTime])
        #expect(
            trend.sentence
                == "the last run against the one before: worse, scan.time: p50 150ms to 210ms (+40%), p95 195ms to 273ms (+40%), pairs +40% (+40% to +40%)"
        )
    }

    // MARK: Shares

    @Test func `a book in a hundred and a tenth of the scans are never no regression`() {
        let books = self.compare(
            self.run(),
            self.run {
                if PairedRun.number($0) % 16 == 5 { $0.books -= 1 }
                return true
            })
        #expect(books.exitReasons != [])
        #expect((books.regressions + books.doubts).contains { $0.hasPrefix("books.received: ") })
        let refused = self.compare(
            self.run(),
            self.run {
                if PairedRun.number($0) % 10 == 5 { $0.end = .refused }
                return true
            })
        #expect(refused.regressions.contains { $0.hasPrefix("scans.refused: ") })
    }

    @Test func `a finding that BASE did not have is worse, unless a fault made it`() {
        func run(_ cause: Cause) -> ComparedRun {
            var result = Samples.passed()
            result.findings.add(
                ContractFinding(
                    operation: .upload, part: "answer", path: "data.jobId", expected: "a string",
                    seen: "a number",
                    excerpt: "", isDecisive: false, count: 3), device: DeviceNumber(1), scan: ScanNumber(1),
                at: .zero, cause: cause)
            return self.run(result: result)
        }
        let comparison = self.compare(self.run(), run(.target))
        #expect(comparison.regressions == ["finding: upload answer data.jobId, a number: 0 to 3"])
        #expect(self.compare(self.run(), run(.injected(fault: "x"))).exitReasons == [])
        #expect(self.compare(run(.target), run(.target)).exitReasons == [])
        #expect(self.compare(run(.target), self.run()).exitReasons == [])
    }
}

extension JSONValue {
    fileprivate subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    fileprivate var elements: [JSONValue] {
        guard case .array(let values) = self else { return [] }
        return values
    }

    fileprivate var written: String { self.text(colon: ":") }
}
