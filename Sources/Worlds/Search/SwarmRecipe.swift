/// Which faults a drawn plan has (Docs/simulation.md section 7).
package enum SwarmRecipe: String, CaseIterable, Hashable, Sendable {
    /// Each kind of fault is in or out, and those that are in are rare or frequent.
    case swarm
    /// All kinds of faults at moderate rates.
    case moderate
    /// One kind of fault, frequent.
    case single
    /// Two faults, each tied to an event of a scan.
    case anchored
    /// A series of outages: of the phones' links one by one, or of the backend.
    case outage
    /// No fault: nothing may happen.
    case quiet

    /// The share of the seeds in percent.
    package var share: Int {
        switch self {
        case .swarm: 38
        case .moderate: 28
        case .single: 14
        case .anchored: 10
        case .outage: 5
        case .quiet: 5
        }
    }

    /// `hundredth`: a uniform number from 0 to 99.
    init(hundredth: Int) {
        var rest = hundredth
        for recipe in Self.allCases {
            guard rest >= recipe.share else {
                self = recipe
                return
            }
            rest -= recipe.share
        }
        self = .quiet
    }
}
