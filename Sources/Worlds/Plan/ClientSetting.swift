package import Phone
import SimBase

/// A value of a client that a scenario sets by a key of its own, beside the profile and its toggles.
package struct ClientSetting: Sendable {
    /// The key in a group of a scenario.
    package let key: String
    /// Whether it changes how the client works, and not what it is used for.
    let isBehavior: Bool
    private let value: @Sendable (ClientProfile) -> String
    private let isEqual: @Sendable (ClientProfile, ClientProfile) -> Bool
    private let copy: @Sendable (ClientProfile, inout ClientProfile) -> Void

    private init<Value: Equatable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<ClientProfile, Value> & Sendable, isBehavior: Bool = true,
        _ text: @escaping @Sendable (Value) -> String = { "\($0)" }
    ) {
        self.key = key
        self.isBehavior = isBehavior
        self.value = { text($0[keyPath: path]) }
        self.isEqual = { $0[keyPath: path] == $1[keyPath: path] }
        self.copy = { $1[keyPath: path] = $0[keyPath: path] }
    }

    private static func toggle(_ key: String, _ path: any WritableKeyPath<ClientProfile, Bool> & Sendable)
        -> Self
    {
        Self(key, path) { $0 ? "on" : "off" }
    }

    private static func word<Value: RawRepresentable & Equatable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<ClientProfile, Value> & Sendable, isBehavior: Bool = true
    ) -> Self where Value.RawValue == String {
        Self(key, path, isBehavior: isBehavior) { $0.rawValue }
    }

    private static func time(
        _ key: String, _ path: any WritableKeyPath<ClientProfile, Interval> & Sendable,
        isBehavior: Bool = true
    ) -> Self {
        Self(key, path, isBehavior: isBehavior) { "\($0.wholeMilliseconds)ms" }
    }

    package static let all: [Self] = [
        .toggle("resume", \.stream.resumes), .toggle("cleanup", \.cleanup.isMade),
        .toggle("inline-books", \.results.usesInlineBooks), .word("result-events", \.events.result),
        Self("streams-max", \.stream.slots), .time("request-timeout", \.requestTimeout),
        .word("status-polling", \.status.polling), .time("status-interval", \.status.interval),
        Self("status-requests-max", \.status.requestsMax), .word("stream-token", \.token.stream),
        Self("token-refresh", \.token.refreshAfter) { $0.map { "\($0.wholeMilliseconds)ms" } ?? "off" },
        .word("journey", \.journey, isBehavior: false),
        .word("transport", \.stream.transport, isBehavior: false),
        .time("idle-timeout", \.stream.idleTimeout, isBehavior: false),
        Self("photos-per-scan", \.upload.photos, isBehavior: false),
        Self("regions", \.upload.regions, isBehavior: false),
        Self("cancel", \.cancel, isBehavior: false), Self("review", \.reviewer, isBehavior: false),
        Self("text-enrichment", \.upload.enriches, isBehavior: false),
        Self("enrichment-answer", \.upload.enrichment, isBehavior: false),
        Self("photo-below", \.upload.photoBelow, isBehavior: false),
        // Part of `request-timeout`, which a profile may have for each kind of request.
        Self("timeouts", \.timeouts, isBehavior: false),
    ]

    package func differs(_ one: ClientProfile, _ other: ClientProfile) -> Bool {
        !self.isEqual(one, other)
    }

    /// Gives the second client the value of the first.
    package func copy(from one: ClientProfile, to other: inout ClientProfile) { self.copy(one, &other) }

    /// `resume: off`
    package func text(_ client: ClientProfile) -> String { "\(self.key): \(self.value(client))" }
}

extension FleetGroup {
    /// What its phones do otherwise than the client of the contract, as a scenario says it: `profile: swiftwing-head`, `gap-5:
    /// on`, `resume: off`.
    package var deviations: [String] {
        (self.profile.name == NamedProfile.contract.name ? [] : ["profile: \(self.profile.name)"])
            + self.toggles.map { "\($0.toggle.key): \($0.isOn ? "on" : "off")" }
            + self.settings.map { $0.text(self.profile) }
    }

    /// Those that differ from the profile with its toggles.
    package var settings: [ClientSetting] {
        guard let base = self.unchangedProfile else { return [] }
        return ClientSetting.all.filter { $0.isBehavior && $0.differs(self.profile, base) }
    }

    /// The profile with its toggles, without the settings; nil for one that is not in the table.
    package var unchangedProfile: ClientProfile? {
        ProfileTable.named(self.profile.name)?.profile(with: self.toggles)
    }
}
