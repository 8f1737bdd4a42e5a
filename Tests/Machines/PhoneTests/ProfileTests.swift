import SimBase
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
        // The journey is what a group does, and what is canceled or reviewed is its users' choice: no traits of a client.
        let names = self.names(of: ClientProfile.contract).filter {
            $0 != "name" && $0 != "journey" && !$0.hasPrefix("cancel.") && !$0.hasPrefix("reviewer.")
        }
        #expect(Set(ProfileDescription.all.map(\.name)) == Set(names))
        #expect(ProfileDescription.all.count == names.count)
    }

    /// The profiles by themselves, and `contract` with each toggle.
    private static let clients =
        [
            NamedProfile.contract, .swiftwingHead, .swiftwingLegacy, .swiftwingPolling, .wingtip, .books,
            .booksOld, .booksHandler,
        ]
        .map { $0.profile() }
        + ProfileToggle.all.map { NamedProfile.contract.profile(with: [.init($0, isOn: true)]) }

    @Test func `clients that differ in a value are told apart by what they do`() {
        for client in Self.clients {
            for value in ProfileDescription.all {
                #expect(value.behavior(client).hasSuffix("."), "\(value.name)")
                guard value.text(client) != value.text(.contract) else { continue }
                // One of these is shown by itself, in a column of its own.
                let isShown = ["upload.user-agent", "upload.part"].contains(value.name)
                #expect(
                    isShown || value.behavior(client) != value.behavior(.contract),
                    "\(client.name): \(value.name) \(value.text(client))")
            }
        }
    }

    @Test func `a value names the documents that it comes from by their paths`() {
        for value in ProfileDescription.all { #expect(value.source.contains(#/^Docs\/\w+\.md section/#)) }
    }

    @Test(arguments: [
        (Interval.milliseconds(5_200), "5.2s"), (.milliseconds(500), "500ms"), (.seconds(30), "30s"),
        (.milliseconds(1_050), "1.05s"), (.zero, "none"),
    ]) func `times of a second or more are shown in seconds`(time: Interval, text: String) {
        var profile = ClientProfile.contract
        profile.events.overlay = time
        #expect(ProfileDescription.all.first { $0.name == "events.overlay" }?.text(profile) == text)
    }

    @Test(arguments: ProfileToggle.all) func `every toggle changes a value of the contract's client`(
        toggle: ProfileToggle
    ) {
        var profile = ClientProfile.contract
        toggle.apply(to: &profile)
        #expect(profile != .contract)
        #expect(ProfileDescription.all.contains { $0.text(profile) != $0.text(.contract) })
        #expect(ProfileToggle(key: toggle.key) == toggle)
    }

    @Test func `no two toggles of a family are the same client`() {
        for family in ProfileToggle.Family.allCases {
            let profiles = ProfileToggle.all.filter { $0.family == family }
                .map { NamedProfile.contract.profile(with: [.init($0, isOn: true)]) }
            #expect(!profiles.isEmpty && Set(profiles).count == profiles.count)
        }
    }

    @Test func `the table has every number of a family, in order`() {
        let rows = ProfileToggle.Family.allCases.map { family in
            ProfileToggle.rows.filter { $0.family == family }
        }
        #expect(rows.map { $0.map(\.number) } == [14, 24, 5, 8].map { Array(1...$0) })
        #expect(rows.flatMap(\.self) == ProfileToggle.rows)
    }

    @Test func `a profile without its toggles is the contract's client by another name`() {
        let off = NamedProfile.swiftwingLegacy.toggles.map { ToggleSetting($0, isOn: false) }
        var profile = NamedProfile.swiftwingLegacy.profile(with: off)
        #expect(profile != .contract)
        profile.name = "contract"
        profile.token = ClientProfile.contract.token
        #expect(profile == .contract)
    }

    @Test func `the order of settings does not matter`() {
        let settings: [ToggleSetting] = [
            .init(.resultsDeviceID, isOn: true), .init(.scanDeviceIDs, isOn: true),
        ]
        let profile = NamedProfile.contract.profile(with: settings)
        #expect(profile == NamedProfile.contract.profile(with: settings.reversed()))
        #expect(profile.identity.upload == .perScan && profile.identity.results == .absent)
    }
}
