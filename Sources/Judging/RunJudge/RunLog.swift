package import Metrics
package import Observations
package import SimBase

/// The destination of a judge's observations.
///
/// It is a class, so that the judge calls it without a copy and without a box.
package protocol RunLog: AnyObject {
    /// `cause`: of an error or a finding.
    func log(_ observation: Observation, cause: Cause?)
    /// A phone was found to break an invariant.
    func follow(_ phone: DeviceNumber)
    /// Takes what was measured in one interval. `open`: the operations that were open at a time after it, if
    /// an objective requests them.
    func log(
        _ table: MetricTable, from: Instant, length: Interval, open: (table: MetricTable, at: Instant)?)
    /// The problems of the log that do not affect the result.
    var remarks: [Remark] { get }
}

extension RunLog {
    package func log(_ table: MetricTable, from: Instant, length: Interval) {
        self.log(table, from: from, length: length, open: nil)
    }
}
