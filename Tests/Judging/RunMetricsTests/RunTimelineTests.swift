import Observations
import RunMetrics
import SimBase
import Talaria
import Testing

@Suite struct ChronicleTests {
    private static func phone(
        _ what: PhoneObservation, at milliseconds: Int64, device: UInt32 = 1, scan: UInt32 = 1
    ) -> Observation {
        Observation(
            at: .zero + .milliseconds(milliseconds), device: DeviceNumber(device), scan: ScanNumber(scan),
            what: .phone(what))
    }

    private static func timeline(_ observations: [Observation], faults: Int = 0) -> RunTimeline {
        var timeline = RunTimeline(faults: faults)
        for observation in observations { timeline.record(observation) }
        return timeline
    }

    @Test func `phones are connected from their first stream to their last`() {
        let timeline = Self.timeline([
            Self.phone(.streamOpened(job: "a", attempt: 1, after: nil, took: .zero), at: 100),
            Self.phone(.streamOpened(job: "b", attempt: 1, after: nil, took: .zero), at: 200, device: 2),
            Self.phone(.streamLost(job: "a", attempt: 1, .reset, silence: nil), at: 1_500),
            Self.phone(.requestSent(.stream, attempt: 2, job: "a", lastEventID: nil), at: 1_600),
            Self.phone(.streamOpened(job: "a", attempt: 2, after: nil, took: .zero), at: 2_100),
            Self.phone(.reconnected(job: "a", .reset, attempts: 1, resumed: true, took: .zero), at: 2_100),
            Self.phone(.completed(took: .seconds(2)), at: 4_300),
            Self.phone(.completed(took: .seconds(2)), at: 4_400, device: 2),
            Self.phone(.captured(scheduled: .zero + .milliseconds(4_900)), at: 5_010),
        ])
        #expect(timeline.windows.map(\.connectedMost) == [2, 2, 2, 2, 2, 0])
        #expect(timeline.windows.map(\.reconnectingMost) == [0, 1, 1, 0, 0, 0])
        #expect(timeline.windows.map(\.reconnectAttempts) == [0, 1, 0, 0, 0, 0])
        #expect(timeline.windows.map(\.planned) == [0, 0, 0, 0, 1, 0])
        #expect(timeline.windows.map(\.captured) == [0, 0, 0, 0, 0, 1])
        #expect(timeline.windows.map(\.completed) == [0, 0, 0, 0, 2, 0])
    }

    @Test func `who looks on sees windows that are over, quiet ones too, and no more than asked for`() {
        let timeline = Self.timeline([
            Self.phone(.streamOpened(job: "a", attempt: 1, after: nil, took: .zero), at: 100),
            Self.phone(.captured(scheduled: .zero + .milliseconds(1_100)), at: 1_100),
            Self.phone(.captured(scheduled: .zero + .milliseconds(2_100)), at: 2_100),
        ])
        let early = timeline.shown(at: .zero + .milliseconds(2_900), windowsMax: 10)
        #expect(early.windows.map(\.captured) == [0, 1], "the third second is not over")
        let quiet = timeline.shown(at: .zero + .milliseconds(6_200), windowsMax: 10)
        #expect(quiet.windows.map(\.captured) == [0, 1, 1, 0, 0, 0])
        #expect(quiet.windows.map(\.connectedMost) == [1, 1, 1, 1, 1, 1])
        let few = timeline.shown(at: .zero + .milliseconds(6_200), windowsMax: 3)
        #expect(few.width == .seconds(4))
        #expect(few.windows.map(\.captured) == [2], "the second window of four seconds is not over")
        #expect(timeline.shown(at: .zero, windowsMax: 3).windows == [])
        #expect(timeline.shown(windowsMax: 2).windows.map(\.captured) == [1, 1])
        #expect(
            timeline.withoutPhones.phones.isEmpty && timeline.withoutPhones.windows == timeline.windows)
    }

    @Test func `a run of any length has a bounded number of windows, and nothing falls out of them`() {
        var timeline = RunTimeline(faults: 1)
        for second in 0..<100_000 {
            timeline.record(
                Self.phone(.captured(scheduled: .zero + .seconds(Int64(second))), at: Int64(second) * 1_000))
            timeline.record(
                Observation(
                    at: .zero + .seconds(Int64(second)), device: DeviceNumber(1), scan: .none,
                    what: .fault(.fired(fault: 0, .stream, attempt: 1))))
        }
        #expect(timeline.windows.count <= RunTimeline.windowsMax)
        #expect(timeline.windows.reduce(0) { $0 + $1.captured } == 100_000)
        #expect(timeline.windows.reduce(0) { $0 + $1.planned } == 100_000)
        #expect(timeline.windows.reduce(0) { $0 + $1.fired(0) } == 100_000)
        #expect(timeline.faults[0].count == 100_000)
        #expect(timeline.width == .seconds(256))
    }

    @Test func `errors have a first, a last and somebody who had them`() {
        var observations: [Observation] = []
        for number in 0..<200 {
            observations.append(
                Self.phone(
                    .refused(code: "C\(number)", cause: nil), at: Int64(number), device: UInt32(number)))
        }
        observations.append(Self.phone(.refused(code: "C3", cause: nil), at: 9_000, device: 77))
        observations.append(Self.phone(.photoRejected(reason: "too dark"), at: 9_500, device: 78))
        let timeline = Self.timeline(observations)
        #expect(timeline.errors.rows.last?.trouble.name == "other: \(ErrorFamily.refused.rawValue)")
        let third = timeline.errors.rows[3]
        #expect(third.trouble.name == "scan refused: C3")
        #expect(third.count == 2)
        #expect(third.first == .zero + .milliseconds(3))
        #expect(third.last == .zero + .seconds(9))
        #expect(third.device == DeviceNumber(3))
        #expect(timeline.errors.rows.count <= ErrorSummary.namesMax + ErrorFamily.allCases.count)
        #expect(timeline.errors.rows.reduce(0) { $0 + $1.count } == 202)
    }

    @Test func `a fault that comes and goes has spans while any phone is under it`() {
        func at(_ second: Int64) -> Instant { .zero + .seconds(second) }
        func fault(_ what: FaultObservation, _ second: Int64, _ device: UInt32) -> Observation {
            Observation(at: at(second), device: DeviceNumber(device), scan: .none, what: .fault(what))
        }
        let timeline = Self.timeline(
            [
                fault(.began(fault: 0), 1, 1), fault(.began(fault: 0), 2, 2), fault(.ended(fault: 0), 3, 1),
                fault(.ended(fault: 0), 5, 2), fault(.began(fault: 0), 8, 1),
            ], faults: 1)
        #expect(timeline.faults[0].spans.map(\.from) == [at(1), at(8)])
        #expect(timeline.faults[0].spans.map(\.to) == [at(5), nil])
        #expect(timeline.faults[0].count == 3)
    }

    @Test func `the phone that lost most comes first, and one without trouble not at all`() {
        let timeline = Self.timeline([
            Self.phone(.captured(scheduled: .zero), at: 0, device: 1),
            Self.phone(.completed(took: .seconds(1)), at: 1_000, device: 1),
            Self.phone(.streamLost(job: "a", attempt: 1, .reset, silence: nil), at: 1_500, device: 2),
            Self.phone(.refused(code: "X", cause: nil), at: 2_000, device: 3),
        ])
        #expect(timeline.worstPhones(9).map(\.device) == [DeviceNumber(3), DeviceNumber(2)])
    }

    /// Phones 0 to 8 with fewer and fewer losses, the last but one of which has the slowest scan.
    private static func losses(_ most: UInt32) -> RunTimeline {
        var observations: [Observation] = []
        for device in UInt32(0)...8 {
            for attempt in 1...(most - device) {
                observations.append(
                    Self.phone(
                        .streamLost(job: "a", attempt: attempt, .reset, silence: nil), at: 1_000,
                        device: device))
            }
            let took = Interval.seconds(device == 7 ? 9 : 1)
            observations.append(Self.phone(.completed(took: took), at: 2_000, device: device))
        }
        return Self.timeline(observations)
    }

    @Test func `the phones with the slowest scans are among the worst`() {
        let timeline = Self.losses(20)
        #expect(timeline.worstPhones(6).map(\.device.raw) == [0, 1, 2, 3, 4, 7])
        #expect(timeline.worstPhones(2).map(\.device.raw) == [0, 1], "of two, none is there for that")
        #expect(timeline.worstPhones(20).map(\.device.raw) == Array(0...8), "all of them, in their order")
    }
}
