import Faults
import Ledger
import Plan
import Serving
import SimBase
import Talaria
import Testing

@testable import VirtualWorld

/// What a world says of itself: every byte is accounted for, or it is told.
@Suite struct AuditTests {
    private static let slow = LinkProfile(
        up: LinkDirection(delay: .milliseconds(20), bitsPerSecond: 2_000_000),
        down: LinkDirection(delay: .milliseconds(20), bitsPerSecond: 2_000_000))

    private static func scenario(_ faults: [FaultSpec] = []) -> Scenario {
        Bench.scenario(groups: [Bench.group(devices: 6, link: Self.slow)], faults: faults)
    }

    @Test func `what does not arrive has been lost by a cause that has a name`() throws {
        func lost(_ names: String...) throws -> [LossOfBytes] {
            let faults = Kinds.all.filter { names.contains($0.name) }.flatMap(\.faults)
            #expect(!faults.isEmpty)
            let run = try Bench.run(Bench.scenario(groups: [Bench.group(devices: 6)], faults: faults))
            #expect(run.broken == [])
            return LossOfBytes.allCases.filter { run.world.lostBytes[$0] > 0 }
        }
        let quiet = try Bench.run(Self.scenario())
        #expect(quiet.broken == [] && quiet.world.lostBytes == LostBytes())
        let (reset, silence) = (try lost("reset-upload-request"), try lost("silence-upload-request"))
        let offline = try lost("offline")
        #expect(reset == [.fault])
        #expect(silence == [.fault, .silence])
        #expect(offline == [.parked])
    }

    /// Runs a world up to some moment, then lets something go wrong with it that it knows nothing of.
    private func findings(
        after events: Int, _ change: (inout World) -> Void
    ) throws -> [WorldFinding.What] {
        var world = World(Bench.plan(Self.scenario()))
        #expect(try world.steps(events))
        change(&world)
        while try world.step() {}
        world.closeBooks()
        return world.takeFindings().map(\.what)
    }

    @Test func `bytes that vanish before they come to the link are told`() throws {
        var vanished = 0
        let found = try self.findings(after: 1) { world in
            while vanished == 0 {
                guard (try? world.step()) == true else { return }
                // A request on its way is the last thing that was scheduled.
                var queue = world.queue
                var kept = EventHeap<WorldEvent>()
                while let (at, event) = queue.popFirst() {
                    if vanished == 0, case .bytes(_, let bytes) = event, bytes.first == UInt8(ascii: "G") {
                        vanished = bytes.count
                    } else {
                        kept.insert(event, at: at)
                    }
                }
                world.queue = kept
            }
        }
        #expect(vanished > 0)
        #expect(
            found == [
                .leak(.everywhere, LeakedBytes(sent: vanished, delivered: 0, destroyed: 0, underway: 0))
            ])
    }

    @Test func `bytes that are lost on the phone's side without a cause are told`() throws {
        let found = try self.findings(after: 400) { world in
            for phone in world.phones.indices {
                for wire in world.phones[phone].wires { world.wires.update(wire) { $0.down.delivered -= 1 } }
            }
        }
        #expect(!found.isEmpty)
        let legs = found.map { if case .leak(let leg, _) = $0 { leg } else { LinkLeg.everywhere } }
        #expect(legs.allSatisfy { $0 == .linkToPhone })
    }

    @Test func `a phone's side that is told of fewer bytes than the link gave out is told`() throws {
        let found = try self.findings(after: 400) { world in
            for phone in world.phones.indices {
                for wire in world.phones[phone].wires {
                    world.wires.update(wire) { state in
                        state.down.sent -= 5
                        state.down.delivered -= 5
                    }
                }
            }
        }
        let legs = found.map { if case .leak(let leg, _) = $0 { leg } else { LinkLeg.everywhere } }
        #expect(!legs.isEmpty && legs.allSatisfy { $0 == .outOfLink })
    }
}
