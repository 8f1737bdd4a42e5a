import Faults
import Ledger
import Phone
import Plan
import RunJudge
import RunSetup
import SimBase
import Testing
import VirtualWorld

/// What the judge of a run learns from its plan.
struct KnownBreaksTests {
    private static func scenario(_ name: String, _ toggles: [ToggleSetting] = []) throws -> Scenario {
        let profile = try #require(ProfileTable.named(name))
        let group = FleetGroup(
            name: "all", devices: 1, profile: profile.profile(with: toggles), toggles: toggles,
            idleTimeout: .automatic, network: .always(NamedLink(name: "test", profile: .perfect)),
            scansPerDevice: 1, load: .open(.constant(ArrivalRate(arrivals: 1, per: .seconds(1))), .uniform),
            photos: .folder("none"), preprocess: .once)
        return Scenario(
            name: "test", description: "", seed: 1, groups: [group], server: .contract, faults: [], slos: [],
            drain: .seconds(30), duration: nil)
    }

    private static func settings(_ name: String, _ toggles: [ToggleSetting] = []) throws -> JudgeSettings {
        JudgeSettings(
            RunPlan(try Self.scenario(name, toggles), target: .embedded), world: .virtual,
            hasBackendView: true)
    }

    @Test func aTokenLastsAsLongAsItsBackendSays() throws {
        var scenario = try Self.scenario("contract")
        scenario.server.backend.tokenLifetime = .seconds(6)
        scenario.trial.stated.tokenLifetime = .seconds(90)
        let lifetimes = [true, false].map { hasBackendView in
            let target = hasBackendView ? PlanTarget.embedded : .foreign
            return JudgeSettings(
                RunPlan(scenario, target: target), world: .live, hasBackendView: hasBackendView
            )
            .ledger.tokenLifetime
        }
        #expect(lifetimes == [.seconds(6), .seconds(90)])
    }

    @Test func theContractIsExcusedFromNothing() throws {
        #expect(try Self.settings("contract").ledger.profiles.map(\.breaks) == [[]])
    }

    @Test func aShippingClientIsKnownForWhatItsQuirksBreak() throws {
        let breaks = try Self.settings("swiftwing-head").ledger.profiles[0].breaks
        #expect(breaks.contains(.streamIDMonotone))
        #expect(breaks.contains(.herdBounded))
        #expect(!breaks.contains(.bookNeverDoubleAdded))
    }

    @Test func aQuirkThatIsOffExcusesNothing() throws {
        let mended = ToggleSetting(.jitter, isOn: false)
        let breaks = try Self.settings("swiftwing-head", [mended]).ledger.profiles[0].breaks
        #expect(!breaks.contains(.herdBounded))
    }

    @Test func aQuirkOverTheContractExcusesNothing() throws {
        let added = ToggleSetting(.jitter, isOn: true)
        #expect(try Self.settings("contract", [added]).ledger.profiles[0].breaks == [])
    }
}
