import Testing

@testable import Phone

struct ProfileTests {
    /// The names of all values of a profile, taken from the type itself.
    private func names(of value: Any, under prefix: String = "") -> [String] {
        Mirror(reflecting: value).children.flatMap { child -> [String] in
            let label = child.label ?? ""
            let key = prefix + label.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
            let mirror = Mirror(reflecting: child.value)
            let isGroup = mirror.displayStyle == .struct && !"\(mirror.subjectType)".contains("Interval")
            return isGroup ? self.names(of: child.value, under: key + ".") : [key]
        }
    }

    @Test func `every value of a profile is shown`() {
        let names = self.names(of: ClientProfile.contract).filter { $0 != "name" }
        #expect(Set(ProfileValue.all.map(\.name)) == Set(names))
        #expect(ProfileValue.all.count == names.count)
    }

    @Test(arguments: ProfileToggle.all) func `every toggle changes a value of the contract's client`(
        toggle: ProfileToggle
    ) {
        var profile = ClientProfile.contract
        toggle.apply(to: &profile)
        #expect(profile != .contract)
        #expect(ProfileValue.all.contains { $0.text(profile) != $0.text(.contract) })
        #expect(ProfileToggle(key: toggle.key) == toggle)
    }

    @Test func `no two toggles of a family are the same client`() {
        for family in ProfileToggle.families {
            let profiles = ProfileToggle.all.filter { $0.key.hasPrefix(family) }
                .map { NamedProfile.contract.profile(with: [.init($0, isOn: true)]) }
            #expect(!profiles.isEmpty && Set(profiles).count == profiles.count)
        }
    }

    @Test func `a profile without its toggles is the contract's client by another name`() {
        let off = NamedProfile.swiftwingLegacy.toggles.map { ToggleSetting($0, isOn: false) }
        var profile = NamedProfile.swiftwingLegacy.profile(with: off)
        #expect(profile != .contract)
        profile.name = "contract"
        #expect(profile == .contract)
    }

    @Test func `the order of settings does not matter`() {
        let settings: [ToggleSetting] = [
            .init(.gap(.resultsDeviceID), isOn: true), .init(.gap(.deviceID), isOn: true),
        ]
        let profile = NamedProfile.contract.profile(with: settings)
        #expect(profile == NamedProfile.contract.profile(with: settings.reversed()))
        #expect(profile.identity.upload == .perScan && profile.identity.results == .absent)
    }
}
