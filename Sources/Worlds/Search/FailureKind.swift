package import Ledger

/// What is wrong with a run, without the position where it happened: failures of one kind are likely one bug.
package enum FailureKind: Hashable, Sendable, Comparable {
    /// `client`: the profile of the phone that broke it; nil if the violation is about no one phone.
    case invariant(Invariant, client: String?)
    /// The simulation itself failed, or a check of the harness.
    case simulation

    /// The invariant, or `simulation`.
    package var name: String {
        switch self {
        case .invariant(let invariant, _): invariant.rawValue
        case .simulation: "simulation"
        }
    }

    package var client: String? {
        switch self {
        case .invariant(_, let client): client
        case .simulation: nil
        }
    }

    package static func < (left: FailureKind, right: FailureKind) -> Bool {
        (left.name, left.client ?? "") < (right.name, right.client ?? "")
    }
}
