import Backend
import Faults
import Gateway
import SimBase
import Testing

@testable import HTTPServer

/// The books of one connection about its bytes.
@Suite struct LinkAccountTests {
    private func connection() -> (ServedConnection, ServerContext) {
        let setup = HTTPServerConfiguration(
            origin: .upstream(GatewayConfiguration(basePath: "", replyTime: .seconds(1), wallClockAtZero: 0)),
            random: KeyedRandom(seed: 1),
            faults: nil, links: FleetLinks(groups: []), clockZero: 0, nonce: nil)
        var connection = ServedConnection(
            id: ConnectionID(serial: 1, slot: 0), from: nil, at: .zero)
        var context = ServerContext(setup)
        connection.link.holdDown(until: .zero + .seconds(1))
        connection.send(Array(repeating: 0, count: 100), at: .zero, &context)
        return (connection, context)
    }

    @Test func `what is sent is under way, and then it is there`() {
        var (connection, context) = self.connection()
        #expect(connection.account().downWaiting == 100)
        #expect(connection.account().down.isConserved(underway: 100))
        connection.sendDue(at: .zero + .seconds(1), &context)
        #expect(connection.account().down.delivered == 100)
        #expect(connection.account().downWaiting == 0 && connection.account().downWaitingMost == 100)
    }

    @Test func `what is under way when the peer is gone has its cause`() {
        var (connection, context) = self.connection()
        connection.leave(&context)
        #expect(connection.account().down.isConserved(underway: 0))
        #expect(context.lost[.peerGone] == 100)
        connection.received([1, 2, 3], at: .zero, &context)
        #expect(connection.account().up.destroyed == 3 && connection.account().up.isConserved(underway: 0))
    }

    @Test func `what is dropped without a word is missing`() {
        var (connection, _) = self.connection()
        connection.outbox = Outbox()
        #expect(!connection.account().down.isConserved(underway: connection.account().downWaiting))
    }
}
