import SimBase
import Testing

@testable import RunJudge

struct ArrivalAccountTests {
    private func isTrusted(late: Int, of planned: Int) -> Bool {
        ArrivalAccount(planned: planned, achieved: planned, late: late).complaint == nil
    }

    @Test func `one late capture is forgiven, and one in a hundred`() {
        #expect(isTrusted(late: 0, of: 0) && isTrusted(late: 1, of: 10) && isTrusted(late: 10, of: 1_099))
        #expect(!isTrusted(late: 2, of: 10) && !isTrusted(late: 11, of: 1_099))
    }

    @Test func `captures that a stopped run left out are not late`() {
        #expect(ArrivalAccount(planned: 100, achieved: 3, late: 1).complaint == nil)
    }

    @Test func `captures that were held back are complained about like late ones, and named once`() {
        let account = ArrivalAccount(planned: 100, achieved: 97, late: 0)
        let one = SkippedWork(deferred: 0, shutdownsTimedOut: 0, heldBack: 1)
        #expect(ArrivalAccount(planned: 100, achieved: 99, late: 0).complaints(one, reason: "held") == [])
        let three = SkippedWork(deferred: 0, shutdownsTimedOut: 0, heldBack: 3)
        #expect(
            account.complaints(three, reason: "paused from the dashboard") == [
                "paused from the dashboard: 3 of 100 captures were held back (limit: 1)"
            ])
        #expect(account.warnings(three) == [], "they were not skipped because the run was stopped")
        #expect(account.warnings(SkippedWork()).count == 1)
    }

    /// A tenth of a percent more than the limit is above it.
    @Test(arguments: [
        (0, 60_000, nil), (600, 60_000, nil), (601, 60_000, "1.1"), (30_000, 60_000, "50.0"), (5, 0, nil),
    ])
    func `time for which phones were held is complained about above one percent`(
        held: Int64, of all: Int64, percent: String?
    ) {
        var work = SkippedWork()
        work.heldTime = PhoneTime(milliseconds: held)
        work.phoneTime = PhoneTime(milliseconds: all)
        let complaints = ArrivalAccount(planned: 10, achieved: 10, late: 0).complaints(work, reason: "held")
        #expect(
            complaints
                == (percent.map {
                    ["held: phones of closed groups were held back for \($0)% of their time (limit: 1%)"]
                } ?? []))
    }

    @Test func `the complaint says how many of how many`() {
        #expect(
            ArrivalAccount(planned: 120, achieved: 120, late: 5).complaint
                == "5 of 120 captures started more than 1 s late (limit: 1): the load was not the requested load"
        )
    }
}
