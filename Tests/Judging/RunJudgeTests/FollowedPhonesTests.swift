import Ledger
import Observations
import RunJudge
import SimBase
import Talaria
import Testing

/// The log hears which phones break an invariant, when that is found.
@Suite struct FollowedPhonesTests {
    private let log = LogCounts()

    @Test func `phones that break an invariant are followed, during the run and at its end`() {
        var judge = RunJudge(.small())
        func see(_ phone: UInt32, _ second: Int64, _ payload: PhoneObservation) {
            judge.receive(
                Observation(
                    at: .zero + .seconds(second), device: DeviceNumber(phone), scan: ScanNumber(1),
                    what: .phone(payload)),
                into: self.log)
        }
        for phone: UInt32 in 0...2 {
            see(phone, 0, .launched(restored: 0))
            see(phone, 0, .captured(scheduled: .zero))
            see(phone, 0, .queued(.captured))
        }
        see(1, 1, .completed(took: .seconds(1)))
        #expect(self.log.followed == [])
        // Its books are not there.
        see(0, 2, .suspended)
        see(0, 9, .resumed)
        #expect(self.log.followed == [DeviceNumber(1)])
        // The scan of the third is nowhere.
        let waiting = WaitingRecord(device: DeviceNumber(0), scan: ScanNumber(1), cause: .offline)
        let facts = RunFacts(at: .zero + .seconds(9), made: judge.observations, waiting: [waiting])
        _ = judge.finish(facts, of: .small(), into: self.log)
        #expect(Set(self.log.followed) == [DeviceNumber(1), DeviceNumber(2)])
    }
}
