import Faults
import Foundation
import LivePhones
import Observations
import Phone
import SimBase
import Talaria
import Testing

/// The real phone on real sockets meets what the real server does to its connections.
@Suite(.serialized) struct LinkFaultTests {
    private static let devices = 4

    /// Notices a half-open connection in tenths of seconds instead of tens of them.
    private static let impatient: ClientProfile = {
        var profile = ClientProfile.contract
        profile.stream.idleTimeout = .milliseconds(700)
        profile.requestTimeout = .milliseconds(700)
        profile.backoff = BackoffPolicy(base: .milliseconds(60), cap: .seconds(1))
        profile.results.usesInlineBooks = false
        return profile
    }()

    private func spec(
        _ kind: FaultKind, on target: FaultTarget, after trigger: FaultTrigger = .atOnce,
        count: FaultCount = .oncePerScan
    ) -> FaultSpec {
        FaultSpec(
            id: "fault", kind: kind, target: target, chance: .always, window: .always, trigger: trigger,
            count: count, scope: .everyone)
    }

    /// What a fleet saw that met this fault; every scan came through.
    private func run(_ fault: FaultSpec, sourceLocation: SourceLocation = #_sourceLocation) throws
        -> (seen: [Observation], orphaned: Int)
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "link-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let bench = try FleetBench(
            devices: Self.devices, threads: 1, state: folder.path, jobTime: .milliseconds(250),
            faults: [fault],
            drain: .seconds(15), profile: { $1 = Self.impatient })
        try bench.start()
        _ = try bench.finish()
        let (seen, ledger) = try bench.judge()
        let scans = ledger.totals.scans
        #expect(scans.completed == Self.devices, "\(scans)", sourceLocation: sourceLocation)
        #expect(!ledger.isBroken, "\(ledger.verdicts)", sourceLocation: sourceLocation)
        return (seen, ledger.totals.jobs.orphaned)
    }

    private func firings(_ seen: [Observation]) -> Int {
        seen.count { if case .fault(.fired) = $0.what { true } else { false } }
    }

    private func failures(_ seen: [Observation], _ operation: Talaria.Operation) -> [TransportFailure] {
        seen.compactMap {
            guard case .phone(.requestFailed(operation, _, let failure, _)) = $0.what else { return nil }
            return failure
        }
    }

    private func losses(_ seen: [Observation]) -> [LossCause] {
        seen.compactMap {
            if case .phone(.streamLost(_, _, let cause, _)) = $0.what { cause } else { nil }
        }
    }

    private static let kinds: [(FaultKind, TransportFailure, LossCause)] = [
        (.reset(.betweenEvents, .reply), .reset, .reset),
        (.close(.betweenEvents, .reply), .reset, .endWithoutTerminal),
        (.silence(.betweenEvents, .reply), .timedOut, .silence),
    ]

    @Test(arguments: [0, 1, 2]) func `a lost reply fails the request, and the next one does it`(index: Int)
        throws
    {
        let (kind, failure, _) = Self.kinds[index]
        for (target, operation) in [
            (FaultTarget.upload, Talaria.Operation.upload), (.results, .results), (.cleanup, .cleanup),
        ] {
            let (seen, orphaned) = try self.run(self.spec(kind, on: target))
            #expect(self.firings(seen) == Self.devices)
            let failures = self.failures(seen, operation)
            #expect(failures == Array(repeating: failure, count: Self.devices), "\(target)")
            #expect(orphaned == (target == .upload ? Self.devices : 0))
        }
    }

    @Test(arguments: [0, 1, 2]) func `a stream that breaks off is resumed, and its cause is told apart`(
        index: Int
    ) throws {
        let (kind, _, cause) = Self.kinds[index]
        let (seen, _) = try self.run(self.spec(kind, on: .stream, after: .afterEvents(1...1)))
        #expect(self.firings(seen) == Self.devices)
        #expect(self.losses(seen) == Array(repeating: cause, count: Self.devices))
        let silences = seen.compactMap { observation -> Interval? in
            if case .phone(.streamLost(_, _, .silence, let silence)) = observation.what {
                silence
            } else {
                nil
            }
        }
        #expect(silences.count == (cause == .silence ? Self.devices : 0))
        #expect(silences.allSatisfy { $0 >= Self.impatient.stream.idleTimeout })
        let resumed = seen.count {
            if case .phone(.reconnected(_, _, _, true, _)) = $0.what { true } else { false }
        }
        #expect(resumed == Self.devices)
    }

    @Test func `a refused request goes to no server, and the connection that is open is left alone`() throws {
        let (seen, _) = try self.run(self.spec(.refuse, on: .link, count: .perScan(3)))
        #expect(self.firings(seen) == Self.devices * 3)
        let refusals = Talaria.Operation.allCases.flatMap { self.failures(seen, $0) }
        #expect(refusals == Array(repeating: .connectRefused, count: Self.devices * 3))
        let connections = seen.count { if case .backend(.connected) = $0.what { true } else { false } }
        #expect(connections <= Self.devices * 2, "one for the stream, one for the rest")
    }

    @Test func `slices and losses of every exchange change nothing but the time`() throws {
        for kind in [FaultKind.slice(bytes: 1...3), .loss(.percent(15))] {
            let (seen, orphaned) = try self.run(self.spec(kind, on: .link, count: .eachAttempt))
            #expect(self.firings(seen) > 0)
            #expect(orphaned == 0)
            #expect(self.losses(seen).isEmpty)
        }
    }
}
