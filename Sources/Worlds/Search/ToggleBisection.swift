package import Phone
import Plan
import RunJudge
package import VirtualWorld

/// Which deviations of a client a failure needs: it is gone when one of them is switched off.
package struct ToggleBisection: Hashable, Sendable {
    /// Those that are on, each alone enough to mend it. Empty if the failure stays without any single one of them.
    package let needed: [ProfileToggle]
    /// Whether it stays when all of them are off: then it comes from a value of the profile that has no toggle, or from the
    /// contract's client itself.
    package let staysWithoutAll: Bool

    /// Returns those of the client that a failure is about; nil if it is about no client, or if the client has no toggles.
    package static func toggles(behind kind: FailureKind, in plan: WorldPlan) -> ToggleBisection? {
        guard let client = kind.client else { return nil }
        let toggles = ProfileToggle.all.filter { toggle in
            plan.run.groups.contains { $0.profile.name == client && $0.spec.toggles(areOn: toggle) }
        }
        guard !toggles.isEmpty else { return nil }
        func fails(without off: [ProfileToggle]) -> Bool {
            var plan = plan
            plan.changeScenario { scenario in
                for index in scenario.groups.indices where scenario.groups[index].profile.name == client {
                    scenario.groups[index].switchOff(off)
                }
            }
            return Trial.outcome(of: plan)?.fails(as: kind) ?? true
        }
        return ToggleBisection(
            needed: toggles.filter { !fails(without: [$0]) }, staysWithoutAll: fails(without: toggles))
    }

    /// `without quirk-9 or quirk-20`, or why there is none.
    package var text: String {
        if !self.needed.isEmpty {
            return "passes without " + self.needed.map(\.key).joined(separator: " or without ")
        }
        return self.staysWithoutAll
            ? "no toggle of the client explains it" : "several toggles of the client explain it"
    }
}

extension FleetGroup {
    fileprivate func toggles(areOn toggle: ProfileToggle) -> Bool {
        ProfileTable.named(self.profile.name)?.toggles(with: self.toggles).contains(toggle) ?? false
    }

    /// Switches toggles off, and keeps what the scenario sets by keys of their own.
    fileprivate mutating func switchOff(_ toggles: [ProfileToggle]) {
        guard let named = ProfileTable.named(self.profile.name) else { return }
        let before = named.profile(with: self.toggles)
        self.toggles.removeAll { toggles.contains($0.toggle) }
        self.toggles += toggles.map { ToggleSetting($0, isOn: false) }
        let set = self.profile
        var profile = named.profile(with: self.toggles)
        func keep<Value: Equatable>(_ value: WritableKeyPath<ClientProfile, Value>) {
            if set[keyPath: value] != before[keyPath: value] { profile[keyPath: value] = set[keyPath: value] }
        }
        keep(\.journey)
        keep(\.stream.resumes)
        keep(\.stream.slots)
        keep(\.stream.idleTimeout)
        keep(\.cleanup.isMade)
        keep(\.results.usesInlineBooks)
        keep(\.requestTimeout)
        keep(\.timeouts)
        keep(\.status)
        keep(\.upload.photos)
        keep(\.upload.regions)
        self.profile = profile
    }
}
