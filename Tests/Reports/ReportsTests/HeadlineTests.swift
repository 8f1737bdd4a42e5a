import Ledger
import Metrics
import Observations
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import Reports
@testable import RunArchive

/// The first sentence of every report: what a user of the app would have felt.
@Suite struct HeadlineTests {
    private func result(
        _ change: (inout LedgerTotals) -> Void, slos: [CountMetric] = [], errors: [(RunError, Int)] = []
    ) throws -> RunResult {
        var result = Samples.passed()
        result.totals = LedgerTotals()
        change(&result.totals)
        result.drained = .seconds(30)
        result.metrics = MetricTable(groups: [])
        result.metrics.add(40, to: .uploadAttempts, in: .none)
        result.totals.record(into: &result.metrics, group: .none)
        result.slos = slos.map {
            SLO(
                selector: MetricSelector(metric: .count($0), scope: .fleet), condition: .none,
                severity: .error, abort: false
            ).evaluate(against: result.metrics)
        }
        result.errors = errors.map {
            ErrorSummary.Row(
                trouble: $0.0, count: $0.1, first: .zero, last: .zero, device: DeviceNumber(0), scan: .none,
                causes: CauseCounts(.target, $0.1))
        }
        return result
    }

    private func scans(_ completed: Int, refused: Int = 0, waiting: [(WaitingCause, Int)] = []) -> (
        inout LedgerTotals
    ) -> Void {
        {
            $0.scans.captured = completed + refused + waiting.reduce(0) { $0 + $1.1 }
            $0.scans.completed = completed
            $0.scans.refused = refused
            for (cause, count) in waiting { $0.scans.waitingByCause[cause] += count }
        }
    }

    @Test func `a run that did not pass says whose fault its most frequent error was`() throws {
        func explanations(_ causes: [(Cause, Int)], _ name: String = "upload: HTTP 503") throws -> [String] {
            var result = try self.result(self.scans(40), slos: [.scansWaiting])
            result.exitReasons = [.objectiveFailed]
            let count = causes.reduce(0) { $0 + $1.1 }
            result.errors = [
                ErrorSummary.Row(
                    trouble: RunError(family: .serverError, name: name), count: count, first: .zero,
                    last: .zero, device: DeviceNumber(0), scan: .none,
                    causes: causes.reduce(into: CauseCounts()) { $0.add(CauseCounts($1.0, $1.1)) })
            ]
            return result.explanations
        }
        let injected = Cause.injected(fault: "http-error-1")
        #expect(
            try explanations([(injected, 17), (.target, 17)])
                == [
                    "34 of 40 uploads were answered with 503: 17 injected by http-error-1, 17 by the target"
                ])
        #expect(try explanations([(injected, 9)]) == ["Every error was injected: 9 injected by http-error-1"])
        #expect(
            try explanations([(.phone, 2)], "photo rejected") == ["photo rejected, 2 times: by the phone"])
        #expect(try self.result(self.scans(40)).explanations == [], "it passed")
    }

    private let unauthorized = RunError(family: .clientError, name: "upload: HTTP 401")

    @Test func `unfinished scans are counted, with the time that they had and what kept them`() throws {
        let result = try self.result(
            self.scans(47, waiting: [(.suspended, 12), (.offline, 1)]), slos: [.scansWaiting])
        #expect(
            result.outcome
                == "13 of 60 scans had not finished 30 s after the last capture: 1 offline, 12 still running at the end"
        )
    }

    @Test func `scans that a scenario lets wait are no headline`() throws {
        let result = try self.result(self.scans(47, waiting: [(.suspended, 13)]))
        #expect(result.outcome == nil)
    }

    @Test func `where nothing was completed the commonest cause is told`() throws {
        let turnedAway = try self.result(
            self.scans(0, waiting: [(.unauthorized, 40)]), errors: [(self.unauthorized, 40)])
        #expect(
            turnedAway.outcome
                == "no scan was completed: 40 of 40 uploads were answered with 401, by the target")
        let hanging = try self.result(
            self.scans(0, waiting: [(.suspended, 40)]), errors: [(self.unauthorized, 3)])
        #expect(hanging.outcome == "no scan was completed: 40 of 40 still running at the end")
        let unreadable = try self.result(
            self.scans(0, waiting: [(.resultsUnavailable, 40)]),
            errors: [
                (RunError(family: .badAnswer, name: "results given up"), 40),
                (RunError(family: .badAnswer, name: "results: wrong-content-type"), 40),
            ])
        #expect(
            unreadable.outcome
                == "no scan was completed: 40 of 40 results requests got an unreadable response: wrong-content-type, by the target"
        )
        let refused = try self.result(
            self.scans(0, refused: 40),
            errors: [(RunError(family: .refused, name: "scan refused: NO"), 40)]
        )
        #expect(refused.outcome == "no scan was completed: 40 of 40 scans were refused: NO")
    }

    @Test func `a run without a scan measured nothing`() throws {
        #expect(
            try self.result { _ in }.outcome == "no scan was captured, so nothing was measured")
    }

    @Test func `books that a kill took from a review are the headline, also where that was allowed`() throws {
        let lost = try self.result { totals in
            totals.scans.captured = 2
            totals.scans.completed = 2
            totals.books.review.came = 9
            totals.books.review.lost = 5
        }
        #expect(lost.outcome == "5 books that waited for a review were lost with a killed process")
        #expect(lost.exit == .success)
    }

    @Test func `lost books come before everything else`() throws {
        let result = try self.result(
            {
                $0.scans.captured = 60
                $0.scans.completed = 58
                $0.scans.lost = 2
                $0.books.missing = 3
            }, slos: [.scansLost, .booksMissing])
        #expect(result.outcome == "3 books are missing from 2 scans")
    }

    @Test func `it stands under the verdict, in the page, the summary and the first failure`() throws {
        var result = try self.result(self.scans(59, waiting: [(.suspended, 1)]), slos: [.scansWaiting])
        result.exitReasons = [.objectiveFailed]
        let words = "1 of 60 scans had not finished 30 s after the last capture: 1 still running at the end"
        let lines = TerminalSummary.text(
            result, style: TerminalStyle(columns: 100, isColored: false, isASCII: false)
        ).split(separator: "\n")
        #expect(lines[1].hasSuffix(words))
        #expect(MarkdownReport.text(result).contains("**\(words)**"))
        #expect(JUnitReport.text(result).contains("message=\"\(words) (observed 1)\""))
        #expect(String(decoding: SummaryJSON.bytes(result), as: UTF8.self).contains(words))
        let page = HTMLPage(RunReport(result, RunTimeline(faults: 0), folders: [])).text
        #expect(page.contains("<p class=\"outcome\">\(words).</p>"))
        #expect(!page.contains("Everything that went in is accounted for."))
    }
}
