import SimBase
import Testing

@testable import RunJudge

struct ArrivalAccountTests {
    /// With 100 captures planned, at most one may be late or held back.
    private static func remarks(
        planned: Int = 100, achieved: Int? = nil, late: Int = 0, _ work: SkippedWork = SkippedWork()
    ) -> [Remark] {
        ArrivalAccount(planned: planned, achieved: achieved ?? planned, late: late).remarks(work, .paused)
    }

    @Test func `one late capture is forgiven, and one in a hundred`() {
        for (late, planned) in [(0, 0), (1, 10), (10, 1_099)] {
            #expect(Self.remarks(planned: planned, late: late) == [])
        }
        #expect(Self.remarks(planned: 10, late: 2) == [.load(.capturesLate(2, planned: 10, limit: 1))])
        #expect(
            Self.remarks(planned: 1_099, late: 11) == [.load(.capturesLate(11, planned: 1_099, limit: 10))])
    }

    @Test func `captures that a stopped run left out are not late`() {
        #expect(Self.remarks(achieved: 3, late: 1) == [.load(.capturesSkipped(97))])
    }

    @Test func `captures that were held back are named like late ones, and named once`() {
        let one = SkippedWork(deferred: 0, shutdownsTimedOut: 0, heldBack: 1)
        #expect(Self.remarks(achieved: 99, one) == [])
        let three = SkippedWork(deferred: 0, shutdownsTimedOut: 0, heldBack: 3)
        #expect(
            Self.remarks(achieved: 97, three) == [
                .load(.capturesHeldBack(3, planned: 100, limit: 1, .paused))
            ],
            "they were not skipped because the run was stopped")
        #expect(Self.remarks(achieved: 97) == [.load(.capturesSkipped(3))])
        #expect(Self.remarks(achieved: 97, three).allSatisfy { $0.kind == .complaint })
    }

    /// A tenth of a percent more than the limit is above it.
    @Test(arguments: [
        (0, 60_000, nil), (600, 60_000, nil), (601, 60_000, 11), (30_000, 60_000, 500), (5, 0, nil),
    ])
    func `time for which phones were held is named above one percent`(
        held: Int64, of all: Int64, tenths: Int64?
    ) {
        var work = SkippedWork()
        work.heldTime = PhoneTime(milliseconds: held)
        work.phoneTime = PhoneTime(milliseconds: all)
        let expected = tenths.map { [Remark.load(.phonesHeldBack(tenthsOfPercent: $0, .paused))] } ?? []
        #expect(Self.remarks(work) == expected)
    }

    @Test func `what apps did not do in time is a warning`() {
        let work = SkippedWork(deferred: 2, shutdownsTimedOut: 4)
        let remarks = Self.remarks(achieved: 98, work)
        #expect(remarks == [.load(.shutdownsTimedOut(phones: 4)), .load(.capturesDeferred(2))])
        #expect(remarks.allSatisfy { $0.kind == .warning })
    }
}
