import Metrics
import SimBase
import Talaria
import Testing

private let commuters = MetricGroup(index: 0)
private let readers = MetricGroup(index: 1)

private func table() -> MetricTable { MetricTable(groups: ["commuters", "readers"]) }

/// Something of everything, in one group.
private func filled(_ group: MetricGroup) -> MetricTable {
    var filled = table()
    filled.record(.uploadTime, .milliseconds(120), in: group)
    filled.record(.uploadFailed, failed: true, in: group)
    filled.record(.uploadFailed, failed: false, in: group)
    filled.add(3, to: .booksReceived, in: group)
    filled.answered(status: 202, in: group)
    filled.fired(fault: "reset-1", in: group)
    return filled
}

struct MetricTableTests {
    @Test func `the fleet is the sum of its groups and of what belongs to none`() {
        var both = filled(commuters)
        both.add(filled(readers))
        both.add(filled(.none))
        #expect(both.count(.booksReceived, of: .group("commuters")) == .measured(3))
        #expect(both.count(.booksReceived, of: .fleet) == .measured(9))
        #expect(both.rate(.uploadFailed, of: .fleet) == .measured(FailureRate(failed: 3, total: 6)))
        #expect(
            both.rate(AnswerMetric(status: 202), of: .fleet) == .measured(FailureRate(failed: 3, total: 3)))
        #expect(both.count(fault: "reset-1", of: .group("readers")) == .measured(1))
        var histogram = HDRHistogram()
        histogram.record(120_000_000, times: 3)
        #expect(both.histogram(.uploadTime, of: .fleet) == .measured(histogram))
        #expect(both.everything(of: .fleet).histogram(.uploadTime) == histogram)
    }

    @Test func `a group that does not exist has recorded nothing`() {
        #expect(filled(commuters).count(.booksReceived, of: .group("nobody")) == .measured(0))
        #expect(filled(commuters).everything(of: .group("nobody")) == MetricSet())
    }

    @Test func `what was recorded in one group is in no other`() {
        #expect(filled(commuters).everything(of: .group("readers")) == MetricSet())
    }

    @Test func `shards added in either order are the same table`() {
        var left = filled(commuters)
        left.add(filled(readers))
        var right = filled(readers)
        right.add(filled(commuters))
        #expect(left == right)
        #expect(left != filled(commuters))
    }

    @Test func `what a run cannot know is not available, not zero`() {
        var unknowing = filled(commuters)
        for metric in Metric.needingBackend { unknowing.cannotKnow(metric) }
        unknowing.cannotKnow(.rate(.uploadFailed))
        unknowing.cannotKnow(.http(AnswerMetric(status: 202)))
        unknowing.cannotKnow(.fault(id: "reset-1"))
        #expect(unknowing.count(.booksMissing, of: .fleet) == .notAvailable)
        #expect(unknowing.histogram(.sseEventLatency, of: .fleet) == .notAvailable)
        #expect(unknowing.rate(.uploadFailed, of: .fleet) == .notAvailable)
        #expect(unknowing.rate(AnswerMetric(status: 202), of: .group("commuters")) == .notAvailable)
        #expect(unknowing.count(fault: "reset-1", of: .fleet) == .notAvailable)
        #expect(unknowing.count(.booksReceived, of: .fleet) == .measured(3))
        var sum = filled(commuters)
        sum.add(unknowing)
        #expect(sum.count(.booksMissing, of: .fleet) == .notAvailable)
    }

    @Test func `a reset forgets values and keeps what cannot be known and which faults there are`() {
        var used = filled(commuters)
        used.cannotKnow(.count(.jobsOrphaned))
        used.reset()
        #expect(used.histogram(.uploadTime, of: .fleet) == .measured(HDRHistogram()))
        #expect(used.rate(.uploadFailed, of: .fleet) == .measured(FailureRate()))
        #expect(used.count(.booksReceived, of: .fleet) == .measured(0))
        #expect(used.count(.jobsOrphaned, of: .fleet) == .notAvailable)
        #expect(used.everything(of: .fleet).replies.isEmpty)
        #expect(used.everything(of: .fleet).faults.names == ["reset-1"])
    }

    @Test func `declared faults are listed in their order before they fire`() {
        var run = table()
        for fault in ["reset-1", "close-1", "reset-2"] { run.declare(fault: fault) }
        run.fired(fault: "reset-2", in: readers)
        run.fired(fault: "close-1", in: commuters)
        let faults = run.everything(of: .fleet).faults
        #expect(faults.names == ["reset-1", "close-1", "reset-2"])
        #expect(faults.entries.map(\.count) == [0, 1, 1])
    }

    @Test func `a status that is none is counted, not trusted`() {
        var set = MetricSet()
        for status in [200, 200, 999, 1_000, 99, -1, .max, .min] { set.answered(status: status) }
        #expect(set.replies.map(\.status) == [0, 200, 999])
        #expect(set.replies.map(\.count) == [5, 2, 1])
    }

    @Test(
        arguments: [
            ("http.503", 3, 10), ("http.5xx", 4, 10), ("http.2xx", 4, 10), ("http.other", 1, 10),
            ("http.404", 0, 10),
            ("http.upload.5xx", 2, 5), ("http.stream.503", 1, 2), ("http.cleanup.2xx", 1, 2),
            ("http.status.5xx", 0, 0),
        ] as [(String, Int64, Int64)])
    func `answers are counted by status, class and operation`(name: String, some: Int64, all: Int64) throws {
        var run = table()
        for (operation, status) in [
            (Operation.upload, 202), (.upload, 202), (.upload, 202), (.upload, 503), (.upload, 503),
            (.stream, 503),
            (.stream, 7), (.results, 500), (.cleanup, 422), (.cancel, 204),
        ] { run.answered(operation, status: status, in: commuters) }
        guard case .http(let metric) = Metric(name: name) else {
            Issue.record("\(name) is no metric")
            return
        }
        #expect(run.rate(metric, of: .fleet) == .measured(FailureRate(failed: some, total: all)))
        #expect(run.rate(metric, of: .group("readers")) == .measured(FailureRate()))
        run.add(run)
        #expect(run.rate(metric, of: .fleet) == .measured(FailureRate(failed: 2 * some, total: 2 * all)))
    }

    @Test func `every metric has an index of its own`() {
        var set = MetricSet()
        for metric in LatencyMetric.allCases { set.record(metric, .milliseconds(Int64(metric.ordinal))) }
        for metric in CountMetric.allCases { set.add(Int64(metric.ordinal) + 1, to: metric) }
        for metric in RateMetric.allCases {
            for number in 0...metric.ordinal { set.record(metric, failed: number == 0) }
        }
        for metric in LatencyMetric.allCases {
            #expect(set.histogram(metric).maximum == Int64(metric.ordinal) * 1_000_000)
        }
        for metric in CountMetric.allCases { #expect(set.count(metric) == Int64(metric.ordinal) + 1) }
        for metric in RateMetric.allCases {
            #expect(set.rate(metric) == FailureRate(failed: 1, total: Int64(metric.ordinal) + 1))
        }
    }
}

struct CountersTests {
    @Test func `counters keep the order of their first mention`() {
        var counters = Counters()
        counters.add(2, to: "b")
        counters.declare("c")
        counters.add(1, to: "a")
        counters.add(1, to: "b")
        counters.declare("b")
        #expect(counters.names == ["b", "c", "a"])
        #expect(counters.entries.map(\.count) == [3, 0, 1])
        #expect(counters["b"] == 3 && counters["nobody"] == 0)
    }

    @Test func `counters add up by name`() {
        var left = Counters()
        left.add(1, to: "a")
        var right = Counters()
        right.add(2, to: "b")
        right.add(3, to: "a")
        left.add(right)
        #expect(left.entries.map(\.name) == ["a", "b"])
        #expect(left.entries.map(\.count) == [4, 2])
        #expect(left != right)
    }
}

struct LatencySummaryTests {
    @Test func `a summary holds what every report shows`() throws {
        var histogram = HDRHistogram()
        for value in 1...10_000 { histogram.record(Int64(value) * 1_000) }
        let summary = try #require(LatencySummary(histogram))
        #expect(summary.count == 10_000 && summary.minimum == 1_000 && summary.maximum == 10_000_000)
        #expect(summary.mean == 5_000_500)
        #expect(
            [summary.p50, summary.p90, summary.p95, summary.p99, summary.p999]
                == [5_001_215, 9_003_007, 9_502_719, 9_904_127, 9_994_239])
    }

    @Test func `what the driver measures says nothing of a group`() {
        var table = MetricTable(groups: ["a"])
        table.add(7, to: .arrivalsPlanned, in: .none)
        table.record(.generatorLateness, .milliseconds(1), in: .none)
        #expect(table.count(.arrivalsPlanned, of: .fleet) == .measured(7))
        for metric in [CountMetric.arrivalsPlanned, .arrivalsAchieved, .arrivalsLate] {
            #expect(table.count(metric, of: .group("a")) == .notAvailable)
            #expect(table.part("a").count(metric, of: .fleet) == .notAvailable)
        }
        #expect(table.histogram(.generatorLateness, of: .group("a")) == .notAvailable)
        #expect(table.count(.scansLost, of: .group("a")) == .measured(0))
    }
}
