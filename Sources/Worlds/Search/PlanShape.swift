import Faults
import Phone
import Plan
package import VirtualWorld

/// What a plan consists of, without times and values: failures with plans of one shape are likely one bug.
package struct PlanShape: Hashable, Sendable, Comparable {
    /// The kinds of faults, in alphabetical order, each with the operation that it acts on.
    package let faults: [String]
    package let scans: Int
    package let phones: Int

    package init(_ plan: WorldPlan) {
        self.faults = plan.run.scenario.faults.map { fault in
            "\(fault.kind.name) on \(fault.target.rawValue)"
        }.sorted()
        let captures = plan.captures ?? []
        self.scans = captures.count
        self.phones = Set(captures.map(\.device)).count
    }

    /// `2 scans, kill on app, reset on stream`.
    package var text: String {
        let scans = self.scans == 1 ? "1 scan" : "\(self.scans) scans"
        let phones = self.phones > 1 ? " of \(self.phones) phones" : ""
        return ([scans + phones] + (self.faults.isEmpty ? ["no faults"] : self.faults)).joined(
            separator: ", ")
    }

    /// Fewer faults first, then fewer scans, then fewer phones.
    package static func < (left: PlanShape, right: PlanShape) -> Bool {
        (left.faults.count, left.scans, left.phones, left.text)
            < (right.faults.count, right.scans, right.phones, right.text)
    }
}
