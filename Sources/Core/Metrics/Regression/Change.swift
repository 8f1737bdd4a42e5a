/// The change of one value between two runs.
package enum Change: String, CaseIterable, Sendable {
    case worse
    case better
    case same
    /// Chance may explain the difference, or hide one that is not tolerated.
    case notProven = "not proven"
    case onlyBase = "only in BASE"
    case onlyNew = "only in NEW"
    /// The value has no better direction, or is unknown in one of the runs, or chance may explain what is different.
    case shown = "not judged"
}
