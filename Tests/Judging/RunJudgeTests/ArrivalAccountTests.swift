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

    @Test func `the complaint says how many of how many`() {
        #expect(
            ArrivalAccount(planned: 120, achieved: 120, late: 5).complaint
                == "5 of 120 captures started more than 1 s late (limit: 1): the load was not the requested load"
        )
    }
}
