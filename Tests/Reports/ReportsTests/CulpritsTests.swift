import Ledger
import Metrics
import Observations
import ReportSamples
import RunJudge
import RunMetrics
import SimBase
import Talaria
import Testing

@testable import Reports

/// Whose fault it is that a run did not pass, and what was changed for it.
@Suite struct CulpritsTests {
    private static func errors(_ counts: [(RunError, Cause, Int)]) -> [ErrorSummary.Row] {
        counts.map { trouble, cause, count in
            ErrorSummary.Row(
                trouble: trouble, count: count, first: .zero, last: .zero, device: DeviceNumber(1),
                scan: ScanNumber(1), causes: CauseCounts(cause, count))
        }
    }

    private static let limited = RunError(family: .rateLimited, name: "upload: HTTP 429")
    private static let failed = RunError(family: .serverError, name: "upload: HTTP 503")

    /// A run whose slow scans spent most of their time so.
    private static func slow(_ activity: ScanActivity) -> RunResult {
        var result = Samples.passed()
        result.slos = [Samples.slo("scan.time", "p(95) < 5s")].compactMap {
            $0?.evaluate(against: result.metrics)
        }
        result.exitReasons = [.objectiveFailed]
        result.slow = SlowTime(
            least: .seconds(20), isLimit: true, scans: 3, unfinished: 0, known: 10,
            parts: SlowTime.parts { $0 == activity ? .seconds(40) : .seconds(1) })
        result.take(ErrorSummary([]))
        return result
    }

    @Test(
        arguments: [
            (.offline, "the network of the scenario (slow scans: no link)"),
            (.server, "the simulated backend (slow scans: server at work)"),
            (.queue, "the simulated phones (slow scans: queue)"),
        ] as [(ScanActivity, String)])
    func `slow scans are the fault of what took most of their time`(activity: ScanActivity, words: String) {
        #expect(Self.slow(activity).culprits == "At fault: \(words)")
    }

    @Test func `a busy machine is at fault for what waited for it`() {
        var result = Self.slow(.queue)
        result.remarks = [.load(.photosLate(milliseconds: 34_000))]
        #expect(result.culprits == "At fault: this machine, which was too busy (slow scans: queue)")
        result = Self.slow(.server)
        result.remarks = [.load(.photosLate(milliseconds: 34_000))]
        #expect(result.culprits == "At fault: the simulated backend (slow scans: server at work)")
    }

    @Test(arguments: [
        Remark.load(.timersLate(.phones, milliseconds: 90)),
        .ofShard(FleetShard(index: 1, count: 2), .load(.timersLate(.backend, milliseconds: 90))),
    ])
    func `a machine whose timers are late is at fault for all times, but not for links that are down`(
        remark: Remark
    ) {
        for activity in [ScanActivity.server, .results, .upload, .connecting, .queue] {
            var result = Self.slow(activity)
            result.remarks = [remark]
            let words = "this machine, which was too busy (slow scans: \(activity.name))"
            #expect(result.culprits == "At fault: \(words)")
        }
        var result = Self.slow(.offline)
        result.remarks = [remark]
        #expect(result.culprits == "At fault: the network of the scenario (slow scans: no link)")
    }

    @Test func `injected errors are no excuse for a broken invariant`() {
        var result = Samples.brokenInvariant()
        result.slos = [Samples.slo("scans.lost", "count >= 1")].compactMap {
            $0?.evaluate(against: result.metrics)
        }
        for index in result.verdicts.indices where result.verdicts[index].standing == .brokenAsExpected {
            result.verdicts[index].standing = .held
        }
        result.errors = Self.errors([(Self.limited, .injected(fault: "rate-limit-1"), 87)])
        #expect(result.culprits == "At fault: the simulated phones (book.never-lost)")
        result.errors += Self.errors([(Self.failed, .target, 3)])
        #expect(result.culprits?.hasSuffix("; the simulated backend (3 of 90 errors)") == true)
    }

    @Test func `what a profile is known to break is the fault of the phones, whatever was injected`() {
        var result = Self.slow(.limited)
        result.errors = Self.errors([(Self.limited, .injected(fault: "rate-limit-1"), 9)])
        result.slos += [Samples.slo("scans.lost", "count >= 1")].compactMap {
            $0?.evaluate(against: result.metrics)
        }
        result.verdicts[0].standing = .brokenAsExpected
        result.groups[0].verdicts = [result.verdicts[0]]
        result.groups[0].deviations = ["profile: swiftwing-head"]
        let broken = result.verdicts[0].invariant.rawValue
        let first = "the simulated phones with the profile swiftwing-head (\(broken))"
        let scenario = "the scenario, which injects rate-limit-1 (slow scans: Retry-After)"
        #expect(result.culprits == "At fault: \(first); \(scenario)")
        result.verdicts[1].standing = .brokenAsExpected
        #expect(result.culprits?.contains("(\(broken) and 1 other invariant)") == true)
        #expect(result.explanations.allSatisfy { !$0.contains("Every error was injected") })
        let lost = result.slos.removeLast()
        #expect(result.culprits == "At fault: \(scenario)", "no objective is about what users lose")
        result.slos = [lost]
        result.verdicts[0].invariant = Invariant(.auth)
        result.verdicts[1].standing = .held
        result.groups[0].verdicts = []
        #expect(result.culprits?.contains("the simulated phones") != true, "a rule of the target")
    }

    @Test func `a wait for a 429 is the fault of who sent it`() {
        var result = Self.slow(.limited)
        result.errors = Self.errors([
            (Self.limited, .injected(fault: "rate-limit-1"), 9), (Self.failed, .target, 20),
        ])
        #expect(
            result.culprits == "At fault: the scenario, which injects rate-limit-1 (slow scans: Retry-After)")
        result.errors = Self.errors([(Self.limited, .target, 9)])
        result.labels = RunLabels(target: "http://127.0.0.1:1")
        #expect(result.culprits == "At fault: the target (slow scans: Retry-After)")
        #expect(result.isTargetAlone)
    }

    @Test func `who has no evidence against it is not named`() {
        #expect(Self.slow(.limited).culprits == nil, "nobody knows who answered 429")
        var result = Samples.brokenInvariant()
        for index in result.verdicts.indices { result.verdicts[index].examples = [] }
        #expect(result.culprits == nil)
        result.verdicts[0].invariant = Invariant(.auth)
        result.verdicts[0].standing = .broken
        #expect(result.culprits == "At fault: the simulated backend (target.auth)")
    }

    @Test func `a few errors of the target are not hidden by many that were injected`() {
        var result = Samples.passed()
        result.slos = [Samples.slo("scans.lost", "count >= 1")].compactMap {
            $0?.evaluate(against: result.metrics)
        }
        result.exitReasons = [.objectiveFailed]
        result.errors = Self.errors([
            (Self.limited, .injected(fault: "rate-limit-1"), 87), (Self.failed, .target, 3),
        ])
        #expect(
            result.culprits
                == "At fault: the simulated backend (3 of 90 errors); the scenario, which injects rate-limit-1 (87 of 90 errors)"
        )
        result.command = [
            "swiftwing-sim", "run", "x", "--set", "faults.offline-1.at=1s", "--set",
            "faults.rate-limit-1.quota=1 per 3s",
            "--fault", "{do: reset, on: stream}",
        ]
        #expect(result.changesAtFault == ["faults.rate-limit-1.quota=1 per 3s", "{do: reset, on: stream}"])
    }

    @Test
    func `deviations from the contract are the fault of who sent them, injected ones only where all count`() {
        var result = Samples.passed()
        result.exitReasons = [.objectiveFailed]
        result.labels = RunLabels(target: "http://127.0.0.1:1")
        let finding = ContractFinding(
            operation: .upload, part: "202", path: "data.sseUrl", expected: "a string", seen: "missing",
            excerpt: nil,
            isDecisive: false, count: 1)
        for cause in [Cause.target, .injected(fault: "bad-json-1"), .target] {
            result.findings.add(finding, device: DeviceNumber(1), scan: .none, at: .zero, cause: cause)
        }
        for (metric, words) in [
            (
                "contract.findings",
                "the target (2 deviations from the contract); the scenario, which injects bad-json-1 (1 deviation from the contract)"
            ),
            ("contract.breaking", "the target (2 deviations from the contract)"),
        ] {
            result.slos = [Samples.slo(metric, "count < 0")].compactMap {
                $0?.evaluate(against: result.metrics)
            }
            #expect(result.culprits == "At fault: \(words)")
        }
    }

    @Test func `scans that wait at the end are the fault of what made scans slow`() {
        var result = Self.slow(.upload)
        result.slos = [Samples.slo("scans.waiting", "count < 0")].compactMap {
            $0?.evaluate(against: result.metrics)
        }
        result.errors = Self.errors([
            (Self.limited, .injected(fault: "rate-limit-1"), 60),
            (Self.failed, .injected(fault: "http-error-1"), 40),
        ])
        result.command = [
            "swiftwing-sim", "run", "x", "--set", "fleet.a.network=edge", "--set", "faults.reset-1.chance=1%",
        ]
        #expect(
            result.culprits
                == "Changed for this run, which may be the reason: fleet.a.network=edge. At fault: the network of the scenario (slow scans: upload)"
        )
        #expect(result.commandWithoutChanges?.contains("fleet.a.network=edge") == false)
        result.slow = nil
        #expect(
            result.culprits?.hasSuffix(
                "At fault: the scenario, which injects rate-limit-1 (60 of 100 errors), http-error-1 (40 of 100 errors)"
            ) == true)
    }

    @Test func `invariants are the fault of who broke them`() {
        var result = Samples.brokenInvariant()
        #expect(result.culprits == "At fault: the simulated phones (book.never-lost)")
        #expect(!result.isTargetAlone)
        for index in result.groups.indices {
            result.groups[index].verdicts = result.brokenInvariants
            result.groups[index].deviations = index == 0 ? ["resume: off"] : []
        }
        let name = result.groups[0].name
        #expect(
            result.culprits?.hasSuffix(". Phones of \(name) differ from the contract: resume: off") == true)
        result.command = [
            "swiftwing-sim", "run", "x", "--set", "fleet.\(name).resume=off", "--set", "drain=3m",
        ]
        #expect(
            result.culprits?.hasPrefix(
                "Changed for this run, which may be the reason: fleet.\(name).resume=off. At fault: ") == true
        )
        #expect(result.commandWithoutChanges == ["swiftwing-sim", "run", "x", "--set", "drain=3m"])
        #expect(result.nextSteps.last?.label == "Without it")
    }

    @Test func `a limit that was set for the run is named`() {
        var result = Self.slow(.server)
        let slo = result.breaches.map { "slo.\($0.slo.selector)=p(95) < 1s" }[0]
        result.command = [
            "swiftwing-sim", "simulate", "x", "--set", slo, "--set", "slo.books.missing=count == 0",
        ]
        #expect(result.changesAtFault == [slo])
        #expect(
            result.commandWithoutChanges
                == ["swiftwing-sim", "simulate", "x", "--set", "slo.books.missing=count == 0"])
    }

    @Test func `a run that passed, and one without a reason, name nobody`() {
        #expect(Samples.passed().culprits == nil)
        #expect(Samples.passed().commandWithoutChanges == nil)
    }
}
