import SimBase
import Testing

@testable import RunJudge

@Suite struct ResourcesTests {
    // `summary.json` has milliseconds, and the page has tenths of a second: 0.04996 s must not be 0.0 s on the page of
    // the run and 0.1 s on a page that is made from the files.
    @Test(arguments: [(49_960_000, 50), (50_499_999, 50), (50_500_000, 51), (0, 0)])
    func `processor time is kept in the precision of the summary`(nanoseconds: Int64, milliseconds: Int64) {
        let usage = Resources.Usage(processor: .nanoseconds(nanoseconds), residentBytes: 0)
        #expect(usage.processor == .milliseconds(milliseconds))
    }
}
