/// What a trigger of a rollback is about (S3, "Rollback Procedure"): a share of what happened on one arm.
package enum RolloutMeasure: String, CaseIterable, Hashable, Sendable {
    /// Jobs that failed, of those that ended.
    case errors
    /// Connects that succeeded, of all.
    case connects
    /// Scans whose person complained, of those that are decided, against those of the baseline.
    case complaints
}
