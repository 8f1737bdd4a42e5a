import Ledger
import RunJudge
import Search
import SimBase
import Testing

struct CampaignTallyTests {
    private static func result(_ seed: UInt64, _ kinds: [FailureKind] = []) -> SeedResult {
        SeedResult(
            seed: seed, digest: seed &* 31, events: 10, scans: 2, kinds: kinds, failure: nil,
            reached: [.resumed], fired: ["reset"])
    }

    private static let lost = FailureKind.invariant(.bookNeverLost, client: "contract")

    @Test func theOrderOfResultsChangesNothing() {
        var (up, down) = (CampaignTally(first: 1), CampaignTally(first: 1))
        for seed: UInt64 in 1...5 { up.add(Self.result(seed, seed > 3 ? [Self.lost] : [])) }
        for seed: UInt64 in (1...5).reversed() { down.add(Self.result(seed, seed > 3 ? [Self.lost] : [])) }
        #expect(up.digest == down.digest)
        #expect(up.digestEnd == 6)
        #expect(down.failures == [Self.lost: [4, 5]])
        #expect(down.failingSeeds == 2)
        #expect(down.events == 50)
    }

    @Test func theDigestCoversSeedsWithoutAGap() {
        var tally = CampaignTally(first: 1)
        tally.add(Self.result(1))
        let first = tally.digest
        tally.add(Self.result(3))
        #expect(tally.digest == first)
        #expect(tally.digestEnd == 2)
        tally.add(Self.result(2))
        #expect(tally.digest != first)
        #expect(tally.digestEnd == 4)
    }

    @Test func whatNoSeedReachedIsKnown() {
        var tally = CampaignTally(first: 1)
        #expect(tally.unreached == CoverageGoal.allCases)
        tally.add(Self.result(1))
        #expect(!tally.unreached.contains(.resumed))
        #expect(!tally.unfired.contains("reset"))
        #expect(tally.unfired.contains("close"))
    }

    @Test func aResultSurvivesItsLine() {
        var result = Self.result(7, [Self.lost, .invariant(.linkConserves, client: nil), .simulation])
        result.failure = "a tab\tand a line\nend"
        var read = SeedResult(line: result.line)
        #expect(read?.failure == "a tab and a line end")
        read?.failure = result.failure
        #expect(read == result)
    }

    @Test(arguments: [
        "", "1", "1\t2\t3\t4\t\t\t", "x\t0\t1\t1\t\t\t\t", "1\t0\t1\t1\tno.such/contract\t\t\t",
    ])
    func whatIsNoLineIsRefused(_ line: String) {
        #expect(SeedResult(line: line) == nil)
    }
}
