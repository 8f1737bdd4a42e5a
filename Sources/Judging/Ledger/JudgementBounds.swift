import SimBase

/// The time up to which a run that did not complete can be judged.
///
/// What was broken before stays broken; what only a later time could have shown is not available
/// (Docs/design.md sections 11.5 and 11.7).
struct JudgementBounds: Hashable, Sendable {
    /// The run was interrupted at this time.
    var interruption: Instant?
    /// The last time up to which the backend, which died, had reported everything.
    var backendEnd: Instant?

    /// Whether a violation at this time counts.
    func counts(_ invariant: Invariant, at moment: Instant) -> Bool {
        if let interruption, moment >= interruption { return false }
        if let backendEnd, moment > backendEnd { return invariant.survivesBackendDeath }
        return true
    }

    /// Whether an invariant without a violation held.
    func letsHold(_ invariant: Invariant) -> Bool {
        if self.interruption != nil, invariant.needsEnd { return false }
        return self.backendEnd == nil || invariant.survivesBackendDeath
    }
}

extension Invariant {
    /// Whether only the end of a run shows that it held: until then what is missing may still come.
    var needsEnd: Bool { self.kind != .always || self == .scanCustody }
}
