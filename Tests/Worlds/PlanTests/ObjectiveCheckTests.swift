import Backend
import Faults
import Metrics
import Phone
import Plan
import SimBase
import Talaria
import Testing

/// Objectives that cannot hold, by the scenario alone. The sample has 120 scans on LTE, whose round trip takes 115 ms.
@Suite struct ObjectiveCheckTests {
    private func slo(_ selector: String, _ condition: String, passesWithoutData: Bool? = nil) throws -> SLO {
        let selector = try MetricSelector(parsing: selector, vocabulary: nil)
        return SLO(
            selector: selector, condition: try SLOCondition(parsing: condition, for: selector.metric.kind),
            severity: .error, abort: false, passesWithoutData: passesWithoutData)
    }

    /// The warnings about one objective of a scenario whose jobs take 8 s to 16 s.
    private func warnings(
        _ selector: String, _ condition: String, passesWithoutData: Bool? = nil,
        groups: [FleetGroup] = [group()], jobTime: ClosedRange<Interval> = .seconds(8)...(.seconds(16)),
        expectBroken: [ExpectedBreak] = [], isCounted: Bool = true
    ) throws -> [String] {
        var scenario = scenario(groups)
        scenario.server.backend.jobTime = jobTime
        scenario.expectBroken = expectBroken
        scenario.slos = [try self.slo(selector, condition, passesWithoutData: passesWithoutData)]
        return ObjectiveCheck.warnings(scenario, isCounted ? plan(scenario).expectedArrivals : nil)
    }

    private func sample(
        _ name: String, network: String = "lte", _ change: (inout FleetGroup) -> Void = { _ in }
    ) -> FleetGroup {
        var sample = group(name, network: network)
        change(&sample)
        return sample
    }

    // MARK: Times

    @Test(arguments: [
        ("p(95) < 5s", true), ("p(95) < 8s", true), ("p(95) <= 8.1s", true), ("avg < 8s", true),
        ("min < 8s", true), ("max < 1s", true), ("med == 8s", true),
        ("p(95) < 8.2s", false), ("p(95) < 12s", false), ("max < 9s", false), ("min > 1h", false),
        ("p(95) >= 5s", false), ("p(95) != 5s", false),
    ])
    func `no scan is faster than the fastest job and a round trip`(condition: String, isWarned: Bool) throws {
        #expect(try self.warnings("scan.time", condition).isEmpty == !isWarned)
    }

    @Test func `a warning says what takes how long, and what to change`() throws {
        #expect(
            try self.warnings("scan.time", "p(95) < 5s") == [
                "slo.scan.time: `p(95) < 5s` cannot hold with the simulated backend: a scan takes at least 8.115s, 8s for its job and 115ms for a round trip (raise the limit, or lower `job-time` of the server)"
            ])
        #expect(
            try self.warnings("scan.time", "p(95) < 5s", groups: [self.sample("a", network: "perfect")]) == [
                "slo.scan.time: `p(95) < 5s` cannot hold with the simulated backend: a job takes at least 8s (raise the limit, or lower `job-time` of the server)"
            ])
        #expect(
            try self.warnings("sse.connect.time{group:commuters}", "p(95) < 100ms") == [
                "slo.sse.connect.time{group:commuters}: `p(95) < 100ms` cannot hold with the simulated backend: a round trip takes at least 115ms (raise the limit, or use a faster link)"
            ])
    }

    @Test func `a request takes a round trip, and what is no whole request is not judged`() throws {
        let whole: [LatencyMetric] = [
            .uploadTime, .uploadServiceTime, .sseConnectTime, .resultsTime, .cleanupTime, .statusTime,
            .scanTime, .enrichTime,
        ]
        for metric in LatencyMetric.allCases {
            let isWarned = try !self.warnings(metric.rawValue, "p(95) < 100ms").isEmpty
            #expect(isWarned == whole.contains(metric), "\(metric.rawValue)")
            #expect(
                try self.warnings(
                    metric.rawValue, "p(95) < 120ms", jobTime: .zero...(.seconds(9))
                ).isEmpty, "\(metric.rawValue)")
        }
    }

    @Test func `the fastest group, and the fastest link of its way, decide`() throws {
        let groups = [self.sample("near", network: "perfect"), self.sample("far", network: "edge")]
        #expect(try self.warnings("upload.time", "p(95) < 100ms", groups: groups).isEmpty)
        #expect(try self.warnings("upload.time{group:near}", "p(95) < 100ms", groups: groups).isEmpty)
        #expect(try self.warnings("upload.time{group:far}", "p(95) < 100ms", groups: groups).count == 1)
        let names = ["edge", "wifi", "3g"].compactMap { LinkPreset.named($0) }
        let way = Itinerary(
            names.enumerated().map { index, preset in
                Itinerary.Step(at: .seconds(Int64(index)), link: NamedLink(preset), length: nil)
            })
        let traveler = self.sample("traveler") { $0.network = way }
        #expect(try self.warnings("upload.time", "p(95) < 2ms", groups: [traveler]).isEmpty)
        #expect(try self.warnings("upload.time", "p(95) < 1ms", groups: [traveler]).count == 1)
    }

    @Test func `a job counts only for who waits for one whose time is drawn`() throws {
        let others: [(inout FleetGroup) -> Void] = [
            { $0.profile.journey = .csvImport }, { $0.profile.journey = .bookEnrichment },
            { $0.profile.name = "swiftwing-head" },
        ]
        for change in others {
            #expect(try self.warnings("scan.time", "max < 1s", groups: [self.sample("a", change)]).isEmpty)
            #expect(
                try self.warnings(
                    "scan.time", "max < 1s", groups: [self.sample("a", change), self.sample("b")]
                )
                .isEmpty)
        }
        for journey in [Journey.scan, .bookshelfScan, .batchEnrichment] {
            let group = self.sample("a") { $0.profile.journey = journey }
            #expect(try self.warnings("scan.time", "max < 1s", groups: [group]).count == 1)
        }
    }

    @Test func `what may pass without data, or is meant to fail, is no mistake`() throws {
        #expect(try self.warnings("scan.time", "max < 1s", passesWithoutData: true).isEmpty)
        #expect(try self.warnings("scan.time", "max < 1s", passesWithoutData: false).count == 1)
        let selector = try MetricSelector(parsing: "scan.time", vocabulary: nil)
        #expect(try self.warnings("scan.time", "max < 1s", expectBroken: [.objectives(selector)]).isEmpty)
    }

    @Test func `times of an hour and more are counted as one, and may hold`() throws {
        let long = Interval.hours(3)...(.hours(4))
        #expect(try self.warnings("scan.time", "p(95) < 2h", jobTime: long).isEmpty)
        #expect(try self.warnings("scan.time", "p(95) < 59m", jobTime: long).count == 1)
    }

    // MARK: Counts

    @Test(arguments: [
        ("scans.completed", "count >= 121", true), ("scans.completed", "count > 120", true),
        ("scans.captured", "count == 121", true), ("scans.captured", "value > 500", true),
        ("scan.time", "count > 120", true), ("scans.completed{group:commuters}", "count > 120", true),
        ("scans.completed", "count >= 120", false), ("scans.completed", "count == 120", false),
        ("scans.completed", "count > 119", false), ("scans.completed", "count < 500", false),
        ("scans.completed", "count != 500", false), ("jobs.accepted", "count > 500", false),
        ("upload.time", "count > 500", false),
    ])
    func `there are not more scans than the schedule has`(selector: String, condition: String, isWarned: Bool)
        throws
    {
        #expect(try self.warnings(selector, condition).isEmpty == !isWarned)
        #expect(try self.warnings(selector, condition, isCounted: false).isEmpty)
    }

    @Test func `each region of a photo is a scan, and a group has its own`() throws {
        let segmented = self.sample("segmented") { $0.profile.upload.regions = 1...4 }
        let groups = [segmented, self.sample("plain")]
        #expect(try self.warnings("scans.completed", "count >= 600", groups: groups).isEmpty)
        #expect(
            try self.warnings("scans.completed", "count > 600", groups: groups) == [
                "slo.scans.completed: `count > 600` cannot hold: the schedule has 600 at the most (lower the number, or add captures)"
            ])
        #expect(try self.warnings("scans.completed{group:plain}", "count > 120", groups: groups).count == 1)
    }
}
