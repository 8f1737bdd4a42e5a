package import SimBase
import Talaria
package import TargetTrial

/// What a run against a foreign backend holds it to (`trial` of a scenario).
package struct TrialSettings: Hashable, Sendable {
    /// The versions of the backend that a target can be (Docs/as-built.md section 7): what each promises.
    package enum Dialect: String, CaseIterable, Hashable, Sendable {
        case contract
        case live = "live-2026-02"
        case bendv3
        case legacy = "legacy-openapi"
        case wingtip

        /// Ids of events are times, and those of the live backend go back (Docs/contract.md section 2.2).
        var hasRisingIDs: Bool {
            switch self {
            case .contract, .legacy, .wingtip: true
            case .live, .bendv3: false
            }
        }

        /// Sections 2.4 and 2.6.
        var terminalsMax: Int { self.hasRisingIDs ? 1 : 2 }

        /// Only the contract has one form for all errors (section 1.7).
        var hasProblems: Bool { self == .contract }
    }

    package var isOn = true
    package var dialect = Dialect.contract
    /// What the scenario states; the dialect and the kind of clients are added for a run.
    package var stated = TrialRules()
    /// The share of jobs that have a second stream; nil if it is not stated.
    package var witness: Odds?
    /// Whether the target is asked what a second device would ask; nil if it is not stated.
    package var probes: Bool?
    /// Whether errors of another form are findings at most.
    package var takesAnyError: Bool { self.stated.lenient.contains(.errorForm) }
    private static let witnessDefault = Odds(perMillion: 50_000)

    package init() {}

    /// Nil where nothing is judged. `isLocal`: whether a target may have requests for which the scenario does not ask.
    package func rules(
        isOfOwnPhones: Bool, inGateway: Bool, host: String, isLocal: Bool, wallClockAtZero: Int64
    ) -> TrialRules? {
        guard self.isOn else { return nil }
        var rules = self.stated
        rules.hasRisingIDs = self.dialect.hasRisingIDs
        rules.terminalsMax = self.dialect.terminalsMax
        rules.hasProblems = self.dialect.hasProblems
        rules.isOfOwnPhones = isOfOwnPhones
        rules.readsAtOnce = inGateway
        rules.host = host
        let asks = isOfOwnPhones && isLocal
        rules.witness = (self.witness ?? (asks ? Self.witnessDefault : .never)).perMillion
        rules.probes = self.probes ?? asks
        rules.wallClockAtZero = wallClockAtZero
        return rules
    }
}
