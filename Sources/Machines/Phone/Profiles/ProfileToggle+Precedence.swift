// Which toggles are on: those that a scenario sets as it sets them, the others as the profile has them.

/// A toggle as a scenario sets it.
package struct ToggleSetting: Hashable, Sendable {
    package var toggle: ProfileToggle
    package var isOn: Bool

    package init(_ toggle: ProfileToggle, isOn: Bool) {
        self.toggle = toggle
        self.isOn = isOn
    }
}

extension NamedProfile {
    /// The toggles that are on where a scenario has these settings, in the order of `ProfileToggle.all`. The last setting of
    /// a toggle counts.
    package func toggles(with settings: [ToggleSetting]) -> [ProfileToggle] {
        ProfileToggle.all.filter { toggle in
            settings.last { $0.toggle == toggle }?.isOn ?? self.toggles.contains(toggle)
        }
    }

    /// The values of a client with these toggles: those of the base, changed by every toggle that is on. Of two toggles that
    /// change the same value, the later one of `ProfileToggle.all` counts.
    package func profile(with settings: [ToggleSetting] = []) -> ClientProfile {
        var profile = self.base
        for toggle in self.toggles(with: settings) { toggle.apply(to: &profile) }
        return profile
    }
}
