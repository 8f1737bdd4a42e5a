import Observations
import OriginServer
import SimBase
import Talaria
import Testing
import Wire

@testable import Gateway

/// What a foreign backend answers reaches the phone as it is. Only where it gives no answer does the gateway
/// answer instead.
@Suite struct PassedAnswerTests {
    /// The answer that a client gets, and how it ends.
    private struct Passed: Equatable {
        var head: UpstreamHead?
        var body = ""
        var isComplete = false
        var isBrokenOff = false
        /// The status of an answer that the gateway has put together.
        var own: Int?
        var observed: [Int] = []
        var failures: [TransportFailure] = []

        init(_ effects: [OriginEffect]) {
            for effect in effects {
                switch effect {
                case .passHead(_, let head): self.head = head
                case .passBody(_, let bytes): self.body += String(decoding: bytes, as: UTF8.self)
                case .passEnd: self.isComplete = true
                case .breakOff: self.isBrokenOff = true
                case .reply(_, let reply): self.own = reply.status
                case .observe(let observation): self.record(observation.what)
                default: break
                }
            }
        }

        private mutating func record(_ what: ObservationPayload) {
            switch what {
            case .backend(.answered(_, _, let status)): self.observed.append(status)
            case .backend(.upstreamFailed(_, _, let failure)): self.failures.append(failure)
            default: break
            }
        }
    }

    private static let operations: [Talaria.Operation] = [.upload, .stream, .results, .cleanup]

    private func passed(
        _ operation: Talaria.Operation, _ head: UpstreamHead, _ body: String = "",
        _ end: UpstreamFailure? = nil
    ) -> Passed {
        var bench = GatewayBench()
        bench.ask(operation)
        _ = bench.takeEffects()
        bench.reply(head)
        if !body.isEmpty { bench.receive(body) }
        bench.end(end)
        return Passed(bench.takeEffects())
    }

    @Test(arguments: operations, [(500, "text/html"), (200, "text/html"), (418, "image/png"), (599, "")])
    func `a status passes with its content type and its body`(
        operation: Talaria.Operation, answer: (status: Int, type: String)
    ) {
        let fields = answer.type.isEmpty ? [] : [HeaderField("Content-Type", answer.type)]
        let head = UpstreamHead(status: answer.status, headers: fields, length: nil)
        for body in ["<html>oops</html>", ""] {
            let passed = self.passed(operation, head, body)
            #expect(passed.observed == [answer.status] && passed.failures == [])
            // A body that may name a job is read before it passes.
            guard passed.own == nil else {
                #expect(operation == .upload && answer.status == 200 && passed.own == 200)
                continue
            }
            #expect(passed.head == head && passed.body == body && passed.isComplete)
        }
    }

    @Test func `a redirect passes, and leads back`() {
        let location = HeaderField("Location", "http://upstream.example:8080/v3/jobs/scans")
        let passed = self.passed(.results, UpstreamHead(status: 307, headers: [location], length: 0))
        #expect(passed.head?.status == 307 && passed.observed == [307])
        #expect(passed.head?.first("Location") == "/v3/jobs/scans")
    }

    @Test func `an answer that breaks off passes as far as it came`() {
        let head = UpstreamHead(status: 202, headers: [], length: 900)
        let passed = self.passed(.upload, head, #"{"data":"#, .transport(.closedEarly))
        #expect(passed.head == head && passed.body == #"{"data":"# && passed.isBrokenOff)
        #expect(passed.own == nil && passed.observed == [202] && passed.failures == [])
    }

    @Test func `an answer that is too long to be held passes unchanged`() {
        var bench = GatewayBench()
        bench.ask(.upload)
        _ = bench.takeEffects()
        bench.reply(202)
        bench.receive(String(repeating: "x", count: Gateway.heldBytesMax))
        bench.receive("yz")
        bench.receive("!")
        bench.end()
        let passed = Passed(bench.takeEffects())
        #expect(passed.head?.status == 202 && passed.body.utf8.count == Gateway.heldBytesMax + 3)
        #expect(passed.body.hasSuffix("xyz!") && passed.isComplete && passed.own == nil)
    }

    @Test(arguments: [(TransportFailure.closedBeforeReply, 502), (.nameNotResolved, 502), (.timedOut, 504)])
    func `without an answer the gateway says so, and why`(failure: TransportFailure, status: Int) {
        var bench = GatewayBench()
        bench.ask(.results)
        _ = bench.takeEffects()
        bench.end(.transport(failure))
        let passed = Passed(bench.takeEffects())
        #expect(passed.own == status && passed.observed == [status] && passed.failures == [failure])
    }
}
