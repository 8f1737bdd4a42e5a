import SimBase

/// A client that a scenario may name: values of its own, and the toggles that it has by itself.
package struct NamedProfile: Sendable {
    /// Its values without any toggle.
    package let base: ClientProfile
    package let toggles: [ProfileToggle]
    /// Whether it is an app that people use. Some of these are known to break invariants.
    package let isShipping: Bool
    /// One sentence for lists.
    package let summary: String
    /// The sections of Docs/contract.md that describe it.
    package let source: String

    package var name: String { self.base.name }

    /// The toggles that are on where a scenario has these settings, in the order of `ProfileToggle.all`. The last setting of a
    /// toggle counts.
    package func toggles(with settings: [ToggleSetting]) -> [ProfileToggle] {
        ProfileToggle.all.filter { toggle in
            settings.last { $0.toggle == toggle }?.isOn ?? self.toggles.contains(toggle)
        }
    }

    /// The values of a client with these toggles: those of the base, changed by every toggle that is on.
    package func profile(with settings: [ToggleSetting] = []) -> ClientProfile {
        var profile = self.base
        for toggle in self.toggles(with: settings) { toggle.apply(to: &profile) }
        return profile
    }

    package static let contract = NamedProfile(
        base: .contract, toggles: [], isShipping: false,
        summary: "the client of the design documents", source: "sections 1, 2 and 5")

    package static let swiftwingLegacy = NamedProfile(
        base: Self.base("swiftwing-legacy"), toggles: Gap.allCases.map { .gap($0) }, isShipping: true,
        summary: "the SwiftWing app before its compliance plan", source: "section 5")

    package static let swiftwingHead = NamedProfile(
        base: Self.head, toggles: Quirk.allCases.map { .quirk($0) }, isShipping: true,
        summary: "the SwiftWing app at HEAD", source: "section 4")

    /// The numbers of Docs/contract.md sections 4.2 to 4.5 that are no defects.
    private static var head: ClientProfile {
        var profile = Self.base("swiftwing-head")
        profile.upload.isRepeated = false
        profile.stream.connectTimeout = .seconds(300)
        profile.stream.idleTimeout = .seconds(300)
        profile.backoff = BackoffPolicy(base: .seconds(2), cap: .seconds(4))
        profile.events.failure = .continues
        profile.cleanup.requestsMax = 1
        profile.failedScans = .removed
        return profile
    }

    private static func base(_ name: String) -> ClientProfile {
        var profile = ClientProfile.contract
        profile.name = name
        return profile
    }
}
