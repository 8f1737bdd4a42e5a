import Faults
import Ledger
import Phone
import Plan
import RunJudge
import SimBase
import Talaria
import Testing
import VirtualWorld

@Suite struct SometimesTests {
    private func expected(_ fault: FaultSpec?) -> [CoverageGoal] {
        Bench.scenario(faults: fault.map { [$0] } ?? []).sometimes
    }

    @Test func `what a run must come to follows from its faults`() {
        #expect(self.expected(nil) == [])
        let cut = FaultKind.reset(.insideEvent, .reply)
        #expect(self.expected(Bench.fault(cut, on: .stream)) == [.resumed])
        #expect(self.expected(Bench.fault(cut, on: .upload)) == [.uploadRepeated, .jobOrphaned])
        #expect(
            self.expected(Bench.fault(.endCleanly(.insideEvent), on: .stream)) == [
                .endWithoutTerminal, .resumed,
            ])
        #expect(self.expected(Bench.fault(.stripBooks(.empty), on: .stream)) == [.resultsFetched])
    }

    @Test func `what a kill leads to follows from where it comes`() {
        func expected(_ trigger: FaultTrigger) -> [CoverageGoal] {
            self.expected(Bench.fault(.phone(.kill), on: .app, after: trigger))
        }
        #expect(expected(.atOnce) == [.relaunched])
        #expect(expected(.afterRecords(3...9)) == [.relaunched])
        #expect(expected(.afterStep(.accepted)) == [.relaunched, .uploadRepeated])
        #expect(expected(.afterStep(.book)) == [.relaunched, .bookRecognized])
        #expect(expected(.afterStep(.lastBook)) == [.relaunched, .bookRecognized])
        #expect(expected(.afterStep(.completed)) == [.cleanupRepeated])
    }

    @Test func `a DELETE is repeated by phones that delete completed jobs`() {
        let cut = Bench.fault(.reset(.insideEvent, .reply), on: .cleanup)
        #expect(self.expected(cut) == [.cleanupRepeated])
        var shelves = Bench.scenario(faults: [cut])
        for index in shelves.groups.indices { shelves.groups[index].profile.journey = .bookshelfScan }
        #expect(shelves.sometimes == [])
    }

    @Test func `a fault that hardly ever fires promises nothing`() {
        #expect(self.expected(Bench.fault(.noPing, on: .stream, chance: .percent(1))) == [])
        #expect(self.expected(Bench.fault(.expireToken, on: .stream, chance: .percent(1))) == [])
    }

    @Test func `a stream that drops after its token is over comes back to a 401`() {
        let late = Bench.fault(
            .close(.betweenEvents, .reply), on: .stream, after: .afterTime(.hours(3)...(.hours(3))))
        #expect(self.expected(late) == [.tokenRefused, .restarted])
    }

    @Test(arguments: [Kinds.link[2], Kinds.server[8], Kinds.link[0]]) func `and a run comes to it`(
        sample: Kinds.Sample
    ) throws {
        let scenario = Bench.scenario(
            groups: [Bench.group(devices: 10, scans: 3)], faults: sample.faults)
        var table = CoverageTable(expected: scenario.sometimes, slotsMax: 5)
        for observation in try Bench.run(scenario).observations { table.record(observation) }
        #expect(table.unmet == [])
    }
}
