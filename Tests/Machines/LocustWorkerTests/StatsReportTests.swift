import LocustWorker
import Metrics
import SimBase
import Testing

/// What is measured, as Locust's master takes it.
@Suite struct StatsReportTests {
    private static func data(_ report: StatsReport) -> [MessageValue.Member] {
        guard case .list(let parts) = WorkerMessage.stats(report).value(from: "w"),
            case .map(let members) = parts[1]
        else { return [] }
        return members
    }

    private static func value(_ key: String, in members: [MessageValue.Member]) -> MessageValue? {
        members.first { $0.key == .text(key) }?.value
    }

    private static func members(_ value: MessageValue?) -> [MessageValue.Member] {
        guard case .map(let members) = value else { return [] }
        return members
    }

    private static func report(
        _ times: [Interval], failed: Int = 0, errors: [(name: String, count: Int)] = []
    ) -> StatsReport {
        var gathering = StatsGathering(groups: ["a", "b"])
        var table = MetricTable(groups: ["a", "b"])
        for time in times {
            table.record(LatencyMetric.uploadTime, time, in: MetricGroup(index: 1))
            table.record(RateMetric.uploadFailed, failed: false, in: MetricGroup(index: 1))
        }
        for _ in 0..<failed {
            table.record(RateMetric.uploadFailed, failed: true, in: MetricGroup(index: 1))
        }
        gathering.add(table, second: 1_000)
        return gathering.take(errors: errors, users: [.init(group: "a", phones: 2)])
    }

    @Test func `an operation of a group is an entry with its times, failures and seconds`() throws {
        let data = Self.data(
            Self.report([.milliseconds(20), .milliseconds(20), .milliseconds(147)], failed: 2))
        guard case .list(let entries) = Self.value("stats", in: data) else {
            Issue.record("no entries")
            return
        }
        try #require(entries.count == 1)
        let entry = Self.members(entries[0])
        #expect(Self.value("method", in: entry) == .text("upload.time"))
        #expect(Self.value("name", in: entry) == .text("b"))
        #expect(Self.value("num_requests", in: entry) == .integer(5))
        #expect(Self.value("num_none_requests", in: entry) == .integer(2))
        #expect(Self.value("num_failures", in: entry) == .integer(2))
        #expect(Self.value("min_response_time", in: entry) == .decimal(billionths: 20_000_000_000))
        #expect(Self.value("max_response_time", in: entry) == .decimal(billionths: 147_000_000_000))
        #expect(
            Self.value("response_times", in: entry)
                == .map([.init(.integer(20), .integer(2)), .init(.integer(150), .integer(1))]))
        #expect(
            Self.value("num_reqs_per_sec", in: entry) == .map([.init(.integer(1_000), .integer(5))]))
        #expect(
            Self.value("num_fail_per_sec", in: entry) == .map([.init(.integer(1_000), .integer(2))]))
        let total = Self.members(Self.value("stats_total", in: data))
        #expect(Self.value("num_requests", in: total) == .integer(5))
        #expect(Self.value("user_count", in: data) == .integer(2))
    }

    @Test func `the attempts of an operation are counted without times`() throws {
        var gathering = StatsGathering(groups: ["a"])
        var table = MetricTable(groups: ["a"])
        for failed in [true, true, false] {
            table.record(RateMetric.uploadAttemptsFailed, failed: failed, in: MetricGroup(index: 0))
        }
        gathering.add(table, second: 7)
        gathering.add(table, second: 8)
        let data = Self.data(gathering.take(errors: [], users: []))
        guard case .list(let entries) = Self.value("stats", in: data) else {
            Issue.record("no entries")
            return
        }
        try #require(entries.count == 1)
        let entry = Self.members(entries[0])
        #expect(Self.value("method", in: entry) == .text("upload.attempts"))
        #expect(Self.value("num_requests", in: entry) == .integer(6))
        #expect(Self.value("num_none_requests", in: entry) == .integer(6))
        #expect(Self.value("num_failures", in: entry) == .integer(4))
        #expect(Self.value("response_times", in: entry) == .map([]))
        #expect(
            Self.value("num_fail_per_sec", in: entry)
                == .map([.init(.integer(7), .integer(2)), .init(.integer(8), .integer(2))]))
    }

    @Test func `a report without requests moves no start`() {
        let total = Self.members(Self.value("stats_total", in: Self.data(Self.report([]))))
        #expect(Self.value("start_time", in: total) == .decimal(billionths: .max))
        #expect(Self.value("min_response_time", in: total) == .null)
    }

    /// Made by `bucket_response_time` of Locust 2.47: tenths of milliseconds, and the key.
    @Test(arguments: [
        (0, 0), (4, 0), (5, 0), (15, 2), (25, 2), (994, 99), (995, 100), (996, 100), (1_000, 100),
        (1_049, 100), (1_050, 100), (1_150, 120), (9_949, 990), (9_950, 1_000), (9_999, 1_000),
        (10_499, 1_000), (10_500, 1_000), (11_500, 1_200), (99_490, 9_900), (99_500, 10_000),
        (104_990, 10_000), (105_000, 10_000), (115_000, 12_000), (587_600, 59_000),
    ]) func `response times are rounded as Locust rounds them`(tenths: Int, key: Int) throws {
        let data = Self.data(Self.report([.microseconds(Int64(tenths) * 100)]))
        guard case .list(let entries) = Self.value("stats", in: data) else {
            Issue.record("no entries")
            return
        }
        #expect(
            Self.value("response_times", in: Self.members(entries[0]))
                == .map([.init(.integer(Int64(key)), .integer(1))]))
    }

    @Test func `errors are reported once`() {
        var gathering = StatsGathering(groups: ["a"])
        let first = gathering.take(errors: [("upload: HTTP 429", 2)], users: [])
        #expect(first.errors == [ErrorStats(type: "upload", error: "HTTP 429", count: 2)])
        let second = gathering.take(errors: [("upload: HTTP 429", 3), ("results given up", 1)], users: [])
        #expect(
            second.errors == [
                ErrorStats(type: "upload", error: "HTTP 429", count: 1),
                ErrorStats(type: "", error: "results given up", count: 1),
            ])
        #expect(gathering.take(errors: [("upload: HTTP 429", 3)], users: []).errors == [])
    }
}
