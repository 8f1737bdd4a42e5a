package import Metrics
package import Observations
package import SimBase

/// Where the judge of a run writes what it has seen.
///
/// It is a class, so that the judge calls it without a copy and without a box.
package protocol RunLog: AnyObject {
    func log(_ observation: Observation)
    /// Takes what was measured in one interval.
    func log(_ table: MetricTable, from: Instant, length: Interval)
    /// What went wrong with the log without an effect on the result.
    var warnings: [String] { get }
}
