import Phone
import Plan
import RunArchive

/// What `profiles` prints for programs.
enum ProfilesJSON {
    static var list: [String: JSONValue] {
        [
            "profiles": .array(ProfileTable.all.map(Self.summary)),
            "toggles": .array(ProfileToggle.all.map(Self.toggle)),
            "hidden_toggles": .array(ProfileToggle.hidden.map(Self.hidden)),
        ]
    }

    static func values(_ profile: NamedProfile) -> [String: JSONValue] {
        let values = profile.profile()
        return [
            "profile": Self.summary(profile),
            "values": .array(
                ProfileDescription.all.map { value in
                    .object([
                        "name": .string(value.name),
                        "value": .string(value.text(values)),
                        "behavior": .string(value.behavior(values)),
                        "source": .string(value.source),
                    ])
                }),
            "toggles": .array(profile.toggles(with: []).map(Self.toggle)),
            "hidden_toggles": .array(profile.hidden.map(Self.hidden)),
            "unproven_toggles": .array(profile.unproven.map(Self.toggle)),
        ]
    }

    /// The values in which two clients differ, and the toggles that only one of them has.
    static func difference(_ left: NamedProfile, _ right: NamedProfile) -> [String: JSONValue] {
        let (ours, theirs) = (left.profile(), right.profile())
        let (onLeft, onRight) = (left.toggles(with: []), right.toggles(with: []))
        func side(_ value: ProfileDescription, _ profile: ClientProfile) -> JSONValue {
            .object([
                "value": .string(value.text(profile)), "behavior": .string(value.behavior(profile)),
            ])
        }
        return [
            "from": Self.summary(left), "to": Self.summary(right),
            "differences": .array(
                ProfileDescription.all.filter { $0.text(ours) != $0.text(theirs) }.map { value in
                    .object([
                        "name": .string(value.name), "source": .string(value.source),
                        "from": side(value, ours), "to": side(value, theirs),
                    ])
                }),
            "toggles_only_in_from": .array(onLeft.filter { !onRight.contains($0) }.map(Self.toggle)),
            "toggles_only_in_to": .array(onRight.filter { !onLeft.contains($0) }.map(Self.toggle)),
        ]
    }

    // MARK: Parts

    private static func summary(_ profile: NamedProfile) -> JSONValue {
        .object([
            "name": .string(profile.name), "summary": .string(profile.summary),
            "source": .string(profile.source),
        ])
    }

    private static func toggle(_ toggle: ProfileToggle) -> JSONValue {
        .object([
            "key": .string(toggle.key), "title": .string(toggle.title),
            "harm": toggle.harm.map { .string($0.rawValue) } ?? .null,
            "source": .string(toggle.source),
        ])
    }

    private static func hidden(_ toggle: ProfileToggle) -> JSONValue {
        .object([
            "key": .string(toggle.key), "reason": .string(toggle.title),
            "source": .string(toggle.source),
        ])
    }
}
