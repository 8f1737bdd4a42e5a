import Phone
package import Plan
package import RunJudge

extension Scenario {
    /// Returns what a search of this scenario lacks to come to a situation; nil if it may come to it. The clients and the backend of
    /// a search are those of its scenario.
    package func lacks(for goal: CoverageGoal) -> String? {
        if goal == .statusPolled || goal == .statusLimited {
            let polls = self.groups.contains { $0.profile.status.polling != .off }
            return polls ? nil : "a group with `status-polling`"
        }
        if goal == .baseRaised { return self.raisesBase ? nil : "a server with `retry`" }
        return nil
    }
}
