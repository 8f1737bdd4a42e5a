import Backend
import Faults
import Ledger
import Metrics
import Observations
import Phone
import Plan
import SimBase
import Talaria
import VirtualWorld

/// Small worlds, written out.
enum Bench {
    static func group(
        _ name: String = "all", devices: Int = 3, scans: Int = 2, link: LinkProfile = .perfect,
        load: LoadModel = .open(.constant(ArrivalRate(arrivals: 4, per: .seconds(1))), .uniform),
        itinerary: Itinerary? = nil, change: (inout ClientProfile) -> Void = { _ in }
    ) -> FleetGroup {
        var profile = ClientProfile.contract
        change(&profile)
        return FleetGroup(
            name: name, devices: devices, profile: profile, idleTimeout: .automatic,
            network: itinerary ?? .always(NamedLink(name: "test", profile: link)), scansPerDevice: scans,
            load: load, photos: .folder("none"), preprocess: .once)
    }

    static func scenario(
        seed: UInt64 = 5, groups: [FleetGroup] = [Bench.group()], faults: [FaultSpec] = [],
        jobTime: ClosedRange<Interval> = .milliseconds(800)...Interval.seconds(2),
        drain: Interval = .seconds(30), change: (inout ServerSettings) -> Void = { _ in }
    ) -> Scenario {
        var server = ServerSettings.contract
        server.backend.jobTime = jobTime
        server.backend.ping = .seconds(1)
        server.backend.rateLimit = nil
        change(&server)
        return Scenario(
            name: "bench", description: "", seed: seed, groups: groups, server: server, faults: faults,
            slos: [], drain: drain, duration: nil)
    }

    static func plan(_ scenario: Scenario) -> WorldPlan { WorldPlan(RunPlan(scenario, target: .embedded)) }

    static func fault(
        _ kind: FaultKind, on target: FaultTarget, id: String = "fault", chance: Odds = .always,
        window: FaultWindow = .always, after trigger: FaultTrigger = .atOnce,
        count: FaultCount = .oncePerScan, scope: FaultScope = .everyone
    ) -> FaultSpec {
        FaultSpec(
            id: id, kind: kind, target: target, chance: chance, window: window, trigger: trigger,
            count: count,
            scope: scope)
    }

    /// A whole run, judged.
    struct Outcome {
        var world: World
        var observations: [Observation] = []
        var ledger: Ledger
        /// What the world found out about itself.
        var findings: [AuditFinding] = []

        var broken: [String] {
            self.ledger.verdicts.flatMap(\.examples).map { "\($0.invariant.rawValue): \($0.text)" }
                + self.findings.map { "\($0)" }
        }

        func count(_ matches: (ObservationPayload) -> Bool) -> Int {
            self.observations.count { matches($0.what) }
        }
    }

    static func run(_ plan: WorldPlan) throws -> Outcome {
        var settings = LedgerSettings.embedded
        settings.fleet = PhoneGroups(plan.run.groups.map { ($0.spec.name, $0.spec.devices) })
        settings.journeys = plan.run.groups.map(\.profile.journey)
        settings.tokenLifetime = plan.run.scenario.server.backend.tokenLifetime
        settings.faultsOffPath = plan.run.scenario.faults.indices.filter {
            plan.run.scenario.faults[$0].kind.has(.sparesPath)
        }
        var outcome = Outcome(
            world: World(plan), ledger: Ledger(shelf: plan.run.shelf, settings: settings))
        var batch: [Observation] = []
        while try outcome.world.step() {
            outcome.world.take(&batch)
            for observation in batch { outcome.ledger.record(observation) }
            outcome.observations += batch
        }
        outcome.world.checkConservation()
        outcome.findings = outcome.world.takeFindings()
        outcome.ledger.finish(waitingOnDisk: outcome.world.waitingOnDisk, at: outcome.world.now)
        return outcome
    }

    static func run(_ scenario: Scenario) throws -> Outcome { try self.run(self.plan(scenario)) }
}
