package import Phone
import Plan
import RunJudge
package import VirtualWorld

/// Which deviations of a client a failure needs: it is gone when one of them is taken back.
package struct ClientBisection: Hashable, Sendable {
    /// Toggles that are on, each alone enough to mend it. Empty if the failure stays without any single one of them.
    package let needed: [ProfileToggle]
    /// Values that the scenario sets by keys of their own, each alone enough: `resume: off`.
    package let settings: [String]
    /// Whether it stays when all of them are taken back: then it comes from a value of the profile that has no toggle, or from
    /// the contract's client itself.
    package let staysWithoutAll: Bool

    /// Returns those of the client that a failure is about; nil if it is about no client, or if the client deviates in nothing
    /// that could be taken back.
    package static func causes(behind kind: FailureKind, in plan: WorldPlan) -> ClientBisection? {
        guard let client = kind.client else { return nil }
        let groups = plan.run.groups.map(\.spec).filter { $0.profile.name == client }
        let toggles = ProfileToggle.all.filter { toggle in groups.contains { $0.toggles(areOn: toggle) } }
        let settings = ClientSetting.all.filter { setting in
            groups.contains { $0.settings.contains { $0.key == setting.key } }
        }
        guard !toggles.isEmpty || !settings.isEmpty else { return nil }
        func fails(without off: [ProfileToggle], _ unset: [ClientSetting]) -> Bool {
            var plan = plan
            plan.changeScenario { scenario in
                for index in scenario.groups.indices where scenario.groups[index].profile.name == client {
                    scenario.groups[index].switchOff(off)
                    scenario.groups[index].takeBack(unset)
                }
            }
            return Trial.outcome(of: plan)?.fails(as: kind) ?? true
        }
        let needed = settings.filter { !fails(without: [], [$0]) }
        return ClientBisection(
            needed: toggles.filter { !fails(without: [$0], []) },
            settings: needed.flatMap { setting in
                groups.filter { $0.settings.contains { $0.key == setting.key } }.prefix(1)
                    .map { setting.text($0.profile) }
            },
            staysWithoutAll: fails(without: toggles, settings))
    }

    /// Whether a deviation is known that the failure needs.
    package var isCause: Bool { !self.needed.isEmpty || !self.settings.isEmpty }

    /// `passes without quirk-9 or without resume: off`, or why nothing alone is the cause.
    package var text: String {
        let needed = self.needed.map(\.key) + self.settings.map { "`\($0)`" }
        if !needed.isEmpty { return "passes without " + needed.joined(separator: " or without ") }
        return self.staysWithoutAll
            ? "no toggle or setting of the client explains it"
            : "several toggles or settings of the client explain it"
    }
}

extension FleetGroup {
    fileprivate func toggles(areOn toggle: ProfileToggle) -> Bool {
        ProfileTable.named(self.profile.name)?.toggles(with: self.toggles).contains(toggle) ?? false
    }

    /// Switches toggles off, and keeps what the scenario sets by keys of their own.
    fileprivate mutating func switchOff(_ toggles: [ProfileToggle]) {
        guard !toggles.isEmpty, let before = self.unchangedProfile else { return }
        self.toggles.removeAll { toggles.contains($0.toggle) }
        self.toggles += toggles.map { ToggleSetting($0, isOn: false) }
        guard var profile = self.unchangedProfile else { return }
        for setting in ClientSetting.all where setting.differs(self.profile, before) {
            setting.copy(from: self.profile, to: &profile)
        }
        self.profile = profile
    }

    /// Gives values back that the profile has with its toggles.
    fileprivate mutating func takeBack(_ settings: [ClientSetting]) {
        guard let base = self.unchangedProfile else { return }
        for setting in settings { setting.copy(from: base, to: &self.profile) }
    }
}
