import EventLoop
import Faults
import Observations
import SimBase
import SystemIO
import Talaria

/// The effect of a scenario's `refuse` faults on the requests of one thread's phones: such a request goes to
/// a port without a listener.
final class Refusals {
    private var planner: FaultPlanner
    private var closed: Descriptor?

    /// Nil if the scenario refuses nothing.
    init?(_ faults: [FaultSpec], seed: UInt64) {
        guard faults.contains(where: { $0.kind.has(.isHandledByPhone) }) else { return nil }
        self.planner = FaultPlanner(specs: faults, random: KeyedRandom(seed: seed), side: .phone)
    }

    /// The closed port that this request is to be sent to; nil when none is.
    func port(
        for key: ExchangeKey, by transport: StreamTransport, group: String, at now: Instant,
        into seen: inout [Observation]
    ) throws(SystemError) -> UInt16? {
        guard
            let refusal = self.planner.open(
                key, by: transport, group: group, at: now, into: &seen
            ).first
        else {
            return nil
        }
        let port = try self.closedPort()
        self.planner.fired(refusal.fault, key)
        seen.append(
            Observation(
                at: now, device: key.device, scan: key.scan,
                what: .fault(.fired(fault: refusal.fault, key.operation, attempt: key.attempt))))
        return port
    }

    /// Held from the first refusal on, so that no other process can listen there.
    private func closedPort() throws(SystemError) -> UInt16 {
        if self.closed == nil { self.closed = try StreamSocket.reserveClosedPort() }
        guard let number = self.closed?.number else { preconditionFailure("just reserved") }
        return try StreamSocket.localPort(of: number)
    }
}
