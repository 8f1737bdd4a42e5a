import Foundation
import Testing

extension SideBySide {
    /// `proxy` in front of a backend that knows nothing of it, with the phones of each journey of v2.
    @Suite struct ProxyV2Tests {
        private static let scenario = """
            scenario: 1
            name: v2-through-a-proxy
            seed: 5
            fleet: {phones: {phones: 6, journey: JOURNEY, scans: 3, arrivals: 12/s}}
            server: {rate-limit: off, job-time: 400ms..600ms, ping: 100ms}
            faults:
              - {do: http-error, on: upload, status: 503, code: CIRCUIT_OPEN, retry-after: 1s, chance: 50%}
              - {do: http-error, on: results, status: 502, code: API_ERROR, chance: 50%}
              - {do: truncate-results, chance: 50%}
              - {do: reset, on: stream, after: 2 events, chance: 40%}
              - {do: bad-json, in: completed, chance: 30%}
              - {do: retryable-error, on: stream, after: 2 events, chance: 30%}
              - {do: expire-token, after: 150ms, chance: 30%}
              - {do: no-ping, chance: 50%}
            slo: {scans.lost: count == 0, books.missing: {expect: count == 0, not-judged: pass}}
            drain: 40s
            """

        private struct Verdict: Equatable {
            var exit: Int32
            var captured, completed, lost, received: Int
            var missing: Figure
            var isConserved: Bool
        }

        private struct State: Decodable {
            struct Fault: Decodable {
                var id: String
                var fired: Int
            }
            var faults: [Fault]
        }

        /// What the phones of the scenario make of a target, and how often the target's faults fired.
        private static func run(_ scenario: String, against target: ServeProcess) async throws
            -> (Verdict, fired: [String: Int])
        {
            let process = try RunProcess([
                scenario, "--seed", "5", "--set", "faults=[]", "--set", "trial.judge=off", "--target",
                target.base,
            ])
            let outcome = try await process.end(seconds: 80)
            let summary = try process.report.summary()
            let state = try await Curl(base: target.base).get("/_sim").decoded(State.self)
            let ofScenario = state.faults.filter { !$0.id.hasPrefix("demand.") }
            let fired = Dictionary(uniqueKeysWithValues: ofScenario.map { ($0.id, $0.fired) })
            let verdict = Verdict(
                exit: outcome.code, captured: summary.scans.captured, completed: summary.scans.completed,
                lost: summary.scans.lost, received: summary.books.received,
                missing: summary.books.missing, isConserved: summary.scans.isConserved)
            return (verdict, fired)
        }

        @Test(arguments: ["bookshelf-scan", "batch-enrichment"])
        func `a proxy does to a journey of v2 what a server does`(journey: String) async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let text = Self.scenario.replacingOccurrences(of: "JOURNEY", with: journey)
            let scenario = try scratch.file("v2.scenario", Data(text.utf8)).path
            let direct = try await ServeProcess.start([scenario, "--seed", "5"])
            let plain = try await ServeProcess.start([scenario, "--seed", "5", "--set", "faults=[]"])
            let proxy = try await ServeProcess.start(
                Binary.path,
                ["proxy", "--port", "0", "--upstream", plain.base, scenario, "--seed", "5"])
            let (served, atServer) = try await Self.run(scenario, against: direct)
            let (proxied, atProxy) = try await Self.run(scenario, against: proxy)
            #expect(proxied == served)
            #expect(served.exit == 0 && served.completed == 18 && served.received > 18)
            #expect(atServer.count == 8 && atServer.keys == atProxy.keys)
            for (fault, count) in atServer {
                #expect(count > 0 && atProxy[fault] ?? 0 > 0, "\(fault): \(count), \(atProxy)")
            }
            // Drawn for a scan, and never in a race with a timer.
            #expect(atProxy["http-error-1"] == atServer["http-error-1"])
        }
    }
}
