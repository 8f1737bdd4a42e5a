import RunJudge
import Testing

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
        #expect(ArrivalAccount(planned: 100, achieved: 99, late: 0).complaints(one) == [])
        let three = SkippedWork(deferred: 0, shutdownsTimedOut: 0, heldBack: 3)
        #expect(
            account.complaints(three) == [
                "3 of 100 captures were held back from the dashboard (limit: 1): the load was not the requested load"
            ])
        #expect(account.warnings(three) == [], "they were not skipped because the run was stopped")
        #expect(account.warnings(SkippedWork()).count == 1)
    }

    @Test func `the complaint says how many of how many`() {
        #expect(
            ArrivalAccount(planned: 120, achieved: 120, late: 5).complaint
                == "5 of 120 captures started more than 1 s late (limit: 1): the load was not the requested load"
        )
    }
}
