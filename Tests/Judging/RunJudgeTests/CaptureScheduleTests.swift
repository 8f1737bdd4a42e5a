import Ledger
import Metrics
import Observations
import SimBase
import Testing

@testable import RunJudge

/// Captures are measured from the times of the schedule, and from no others.
@Suite struct CaptureScheduleTests {
    /// Phones 0 and 1 are of an open group and phone 2 is of a closed one.
    private static let fleet = PhoneGroups([("open", 2), ("closed", 1)])

    private static func captured(_ device: UInt32, due: Int64, region: Int? = nil) -> [Observation] {
        let taken = region.map { PhoneObservation.regionTaken(capture: 1, number: $0, of: 3) }
        return [taken, .captured(scheduled: Instant(nanoseconds: due))].compactMap { $0 }.map {
            Observation(
                at: Instant(nanoseconds: due + 7), device: DeviceNumber(device), scan: ScanNumber(4),
                what: .phone($0))
        }
    }

    /// The schedule has phone 0 at 10 ns, phone 1 at 20 ns and phone 0 twice at 30 ns.
    private static func differences(_ observations: [Observation]) -> (first: String, count: Int)? {
        let captures: [(UInt32, Int64)] = [(0, 10), (1, 20), (0, 30), (0, 30)]
        let schedule = captures.map {
            CaptureSchedule.Capture(device: DeviceNumber($0), due: Instant(nanoseconds: $1))
        }
        var witness = CaptureSchedule(schedule.makeIterator(), isOpenGroup: [true, false])
        for observation in observations {
            witness.record(observation, group: Self.fleet.group(of: observation.device))
        }
        return witness.differences
    }

    @Test func `captures of the schedule agree with it, in any order and not all of them`() {
        let all = [(1, 20), (0, 30), (0, 10), (0, 30)].map { Self.captured(UInt32($0), due: Int64($1)) }
        #expect(Self.differences(all.flatMap { $0 }) == nil)
        #expect(Self.differences(all[1]) == nil)
        #expect(Self.differences([]) == nil)
    }

    @Test func `all regions of a photo are one capture`() {
        let regions = (1...3).flatMap { Self.captured(1, due: 20, region: $0) }
        #expect(Self.differences(regions) == nil)
        #expect(Self.differences(regions + Self.captured(1, due: 20, region: 1))?.count == 1)
    }

    @Test(arguments: [(0, 11), (1, 10), (0, 20), (0, 31)] as [(UInt32, Int64)])
    func `a capture that counts from another moment differs`(device: UInt32, due: Int64) {
        let differences = Self.differences(Self.captured(device, due: due))
        #expect(differences?.count == 1)
        #expect(
            differences?.first
                == "phone \(device) scan 4 counts from \(due) ns, at which the schedule has no capture of that phone"
        )
    }

    @Test func `a capture that is made more often than it was due differs`() {
        let twice = Self.captured(0, due: 10) + Self.captured(0, due: 10)
        #expect(Self.differences(twice)?.count == 1)
        let often = (0..<3).flatMap { _ in Self.captured(0, due: 30) }
        #expect(Self.differences(often)?.count == 1)
    }

    @Test func `a closed group has no schedule`() {
        #expect(Self.differences(Self.captured(2, due: 12)) == nil)
    }

    @Test func `a run whose captures are not those of the schedule fails`() {
        var settings = JudgeSettings.small(fleet: Self.fleet)
        settings.schedule = CaptureSchedule(
            [CaptureSchedule.Capture(device: DeviceNumber(0), due: .zero)].makeIterator(),
            isOpenGroup: [true, false])
        var judge = RunJudge(settings)
        let seen = Self.captured(0, due: 5)
        for observation in seen { judge.receive(observation) }
        let end = Instant(nanoseconds: 100)
        let result = judge.finish(RunFacts(at: end, made: seen.count), of: .small(), into: LogCounts())
        #expect(result.exitReasons.contains(.internalError))
        #expect(
            result.failure
                == "the captures do not match the schedule: phone 0 scan 4 counts from 5 ns, at which the schedule has no capture of that phone"
        )
    }
}
