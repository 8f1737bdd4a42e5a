import Faults
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

/// Faults of the server do the same to a WebSocket whether the simulated backend carries them out or the gateway in front of it.
@Suite struct SocketParityTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var kind: FaultKind
        var trigger = ArmedTrigger.atOnce
        /// What one way alone shows: directly (-), or through the gateway (+).
        var answers: [String] = []

        var testDescription: String { "\(self.kind.name), \(self.trigger)" }
    }

    static let rows =
        [
            Row(kind: .expireToken, trigger: .afterEvents(2)),
            Row(kind: .jobGone(status: 410), trigger: .afterTime(.seconds(4))),
            // The gateway does not wait before it closes, and repeats the failure by itself.
            Row(
                kind: .retryableError(code: "PROVIDER_TIMEOUT"), trigger: .afterEvents(2),
                answers: [
                    "- 7000 close 1011", "- 20000 ready_ack ", "- 21000 close 1011", "+ 6000 close 1011",
                    "+ 20000 close 1011",
                ]),
            Row(
                kind: .finalError(code: "INVALID_FILE"), trigger: .afterTime(.seconds(1)),
                answers: [
                    "- 2000 close 1011", "- 20000 ready_ack ", "- 21000 close 1011", "+ 1000 close 1011",
                    "+ 20000 close 1011",
                ]),
            // The job at the upstream is not slow: its messages have its times, and its pings end with it.
            Row(
                kind: .slowStage(.enriching, by: .seconds(2)...(.seconds(2))),
                answers: [
                    "- 12000 job_complete ", "- pings [3000, 6000, 9000, 12000]", "- 20000 job_complete ",
                    "+ 12000 job_complete ", "+ pings [3000, 6000, 9000]", "+ 20000 job_complete ",
                ]),
            Row(kind: .unknownEvent(nil), trigger: .afterEvents(2)), Row(kind: .badJSON(.progress)),
            Row(kind: .badJSON(.extra)),
            // The backend counts the next period from the late ping. The gateway delays each ping of the upstream.
            Row(
                kind: .latePing(by: .milliseconds(800)),
                answers: ["- pings [3800, 7600]", "+ pings [3800, 6800, 9800]"]),
            Row(kind: .noPing), Row(kind: .twoTerminals), Row(kind: .endWithoutTerminal),
            Row(kind: .socketClose(code: 1_013)),
            Row(kind: .socketClose(code: 1_001), trigger: .afterEvents(2)),
        ] + FrameShape.allCases.map { Row(kind: .socketFrames($0), trigger: .afterEvents(1)) }

    /// A job that is followed to its end, and then once more.
    private static func journey(_ way: TwoWays.Way, _ row: Row) throws -> TwoWays {
        var two = TwoWays(way)
        let journey = Journey.bookshelfScan
        let upload = two.ask(.upload, of: journey, method: "POST")
        var notes = ContractNotes()
        let accepted = UploadAccepted.readV2(two.answers[upload].body, into: &notes)
        let data = try #require(accepted?.data)
        let token = try #require(data.authToken)
        var fault = ArmedFault(fault: 2, kind: row.kind, trigger: row.trigger, draw: 0x5555_5555_5555_5555)
        // The gateway counts the event that the backend repeats at the beginning.
        if way == .gateway, case .afterEvents(let count) = row.trigger {
            fault.trigger = .afterEvents(count + 1)
        }
        two.follow(data.jobId, token: token, attempt: 1, faults: [fault])
        two.run(to: .zero + .seconds(20))
        two.follow(data.jobId, token: token, attempt: 2, faults: [])
        two.run(to: .zero + .seconds(25))
        return two
    }

    @Test(arguments: Self.rows) func `a fault does the same directly and through the gateway`(
        row: Row
    ) throws {
        let direct = try Self.journey(.direct, row)
        let gateway = try Self.journey(.gateway, row)
        #expect(direct.firings.count == 1)
        #expect(gateway.firings == direct.firings)
        let changes = FaultParityTests.difference(
            direct.answers.flatMap(\.lines), gateway.answers.flatMap(\.lines))
        #expect(changes == row.answers)
    }

    @Test func `every fault that acts on no event stream has a row`() {
        let names = Set(FaultTable.sockets.map(\.name))
        #expect(names.isSubset(of: Self.rows.map(\.kind.name)) && !names.isEmpty)
    }
}
