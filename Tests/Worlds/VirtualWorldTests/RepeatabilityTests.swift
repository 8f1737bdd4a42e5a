import Faults
import Plan
import SimBase
import Talaria
import Testing
import VirtualWorld

@Suite struct RepeatabilityTests {
    private func scenario(seed: UInt64 = 5, faults: [FaultSpec] = Kinds.link[2].faults) -> Scenario {
        Bench.scenario(
            seed: seed,
            groups: [
                Bench.group("a", devices: 5, scans: 2),
                Bench.group("b", devices: 5, scans: 2, link: .perfect),
            ], faults: faults)
    }

    @Test func `the same plan gives the same chain and the same observations`() throws {
        let first = try Bench.run(self.scenario())
        let second = try Bench.run(self.scenario())
        #expect(first.world.chain == second.world.chain)
        #expect(first.observations == second.observations)
        #expect(first.world.chain.checkpoints.count == first.world.chain.events / Chain.interval)
    }

    @Test func `another seed gives another chain`() throws {
        #expect(
            try Bench.run(self.scenario()).world.chain.value
                != Bench.run(self.scenario(seed: 6)).world.chain.value)
    }

    @Test(arguments: Kinds.few) func `a fault changes the chain, and the same fault in the same way`(
        sample: Kinds.Sample
    ) throws {
        let with = try Bench.run(self.scenario(faults: sample.faults)).world.chain
        #expect(try with == Bench.run(self.scenario(faults: sample.faults)).world.chain)
        #expect(try with != Bench.run(self.scenario(faults: [])).world.chain)
    }

    @Test func `ties that are shuffled are another run, and the same one every time`() throws {
        func run(shuffled: Bool) throws -> Bench.Outcome {
            var plan = Bench.plan(self.scenario())
            plan.shufflesTies = shuffled
            return try Bench.run(plan)
        }
        let (fixed, first, second) = (
            try run(shuffled: false), try run(shuffled: true), try run(shuffled: true)
        )
        #expect(first.world.chain == second.world.chain && first.observations == second.observations)
        #expect(first.world.chain != fixed.world.chain)
        #expect(first.broken == [])
        #expect(first.ledger.totals.scans.completed == fixed.ledger.totals.scans.completed)
    }

    @Test func `an empty list of faults comes to the same as no layer of faults`() throws {
        var bypassing = Bench.plan(self.scenario(faults: []))
        bypassing.bypassesFaults = true
        let without = try Bench.run(bypassing)
        let empty = try Bench.run(self.scenario(faults: []))
        #expect(empty.world.chain == without.world.chain)
        #expect(empty.observations == without.observations)
    }

    @Test func `captures that are written out come to the same as their schedule`() throws {
        let scheduled = Bench.plan(self.scenario())
        var written = scheduled
        written.captures = Array(scheduled.run.arrivals)
        #expect(try Bench.run(scheduled).world.chain == Bench.run(written).world.chain)
    }
}
