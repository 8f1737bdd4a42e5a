package import Metrics
package import Observations
package import SimBase

/// The destination of a judge's observations.
///
/// It is a class, so that the judge calls it without a copy and without a box.
package protocol RunLog: AnyObject {
    func log(_ observation: Observation)
    /// Takes what was measured in one interval.
    func log(_ table: MetricTable, from: Instant, length: Interval)
    /// The problems of the log that do not affect the result.
    var warnings: [String] { get }
}
