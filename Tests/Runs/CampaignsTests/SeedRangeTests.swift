import Campaigns
import RunDriver
import RunJudge
import Testing

struct SeedRangeTests {
    @Test func aRangeHasBothEnds() throws {
        let range = try SeedRange("1..10000")
        #expect(range.first == 1)
        #expect(range.last == 10_000)
        #expect(range.count == 10_000)
        #expect(range.text == "1..10000")
    }

    @Test(arguments: [
        "", "1", "1..", "..2", "5..4", "1..2..3", "a..b", "-1..2", "1..100000001", "@", "@+5", "@HEAD",
        "@HEAD+0", "@HEAD+18446744073709551615", "18446744073709551615..18446744073709551615",
    ])
    func whatIsNoRangeIsRefused(_ text: String) {
        #expect(throws: CommandFailure.self) { try SeedRange(text) }
    }

    @Test func aWorkerHasItsPart() {
        #expect(CampaignWorker.Part("1/2") == CampaignWorker.Part(index: 1, of: 2))
        for text in ["", "1", "2/2", "-1/2", "0/0", "a/b"] { #expect(CampaignWorker.Part(text) == nil) }
    }
}
