import Phone
import Plan
import RunDriver

/// `profiles`: the clients that a scenario may name, what one does value by value, or how two differ.
enum ProfilesCommand {
    static let command = Command(
        name: "profiles", usage: "[NAME [NAME]]",
        summary: "Lists the client profiles, prints the values of one, or the differences of two",
        options: [],
        positionalsMin: 0, positionalsMax: 2, example: "swiftwing-sim profiles swiftwing-legacy contract",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let profiles = try arguments.positionals.map { name in
            guard let profile = ProfileTable.named(name) else {
                throw CommandFailure.unknown("profile", name, among: ProfileTable.all.map(\.name))
            }
            return profile
        }
        let lines =
            switch profiles.count {
            case 0: Self.list(columns: console.tableColumns)
            case 1: Self.values(profiles[0], columns: console.tableColumns)
            default: Self.difference(profiles[0], profiles[1], columns: console.tableColumns)
            }
        console.out(lines.joined(separator: "\n"))
        return .success
    }

    private static func list(columns: Int?) -> [String] {
        let profiles = ProfileTable.all.map { [$0.name, $0.summary, "Docs/contract.md \($0.source)"] }
        let toggles = ProfileToggle.all.map { [$0.key, $0.title, "Docs/contract.md \($0.source)"] }
        return TextTable.lines(profiles, indent: 0, columns: columns)
            + ["", "Toggles, each `on` or `off` in a group of a scenario:"]
            + TextTable.lines(toggles, indent: 2, columns: columns)
            + ["", "Deviations without a toggle:"]
            + Self.table(HiddenToggle.allCases, columns: columns)
    }

    private static func table(_ hidden: [HiddenToggle], columns: Int?) -> [String] {
        TextTable.lines(
            hidden.map { [$0.key, $0.reason, "Docs/contract.md \($0.source)"] }, indent: 2, columns: columns)
    }

    private static func values(_ profile: NamedProfile, columns: Int?) -> [String] {
        let values = profile.profile()
        let rows = ProfileValue.all.map { [$0.name, $0.text(values), $0.meaning, $0.source] }
        let toggles = profile.toggles(with: []).map { [$0.key, $0.title, $0.source] }
        return ["\(profile.name): \(profile.summary) (Docs/contract.md \(profile.source))"]
            + TextTable.lines(rows, indent: 2, columns: columns)
            + (toggles.isEmpty ? [] : ["", "Toggles that are on:"])
            + TextTable.lines(toggles, indent: 2, columns: columns)
    }

    // MARK: Difference

    /// The values of both, under the toggle that they come from; last, the values that come from none.
    private static func difference(_ left: NamedProfile, _ right: NamedProfile, columns: Int?) -> [String] {
        let (ours, theirs) = (left.profile(), right.profile())
        let (onLeft, onRight) = (left.toggles(with: []), right.toggles(with: []))
        var unexplained = Self.changed(ours, theirs)
        var lines: [String] = []
        for toggle in ProfileToggle.all where onLeft.contains(toggle) != onRight.contains(toggle) {
            var profile = onLeft.contains(toggle) ? theirs : ours
            toggle.apply(to: &profile)
            let values = Self.changed(profile, onLeft.contains(toggle) ? theirs : ours)
            unexplained.removeAll { value in values.contains { $0.name == value.name } }
            lines += ["", "\(toggle.key): \(toggle.title) (Docs/contract.md \(toggle.source))"]
            lines += Self.table(values, ours, theirs, columns: columns)
        }
        if !unexplained.isEmpty {
            lines += ["", "Values that no toggle changes:"]
            lines += TextTable.lines(
                unexplained.map { [$0.name, $0.text(ours), $0.text(theirs), $0.meaning, $0.source] },
                indent: 2,
                columns: columns)
        }
        let hidden = HiddenToggle.allCases.filter { left.hidden.contains($0) != right.hidden.contains($0) }
        if !hidden.isEmpty {
            lines += ["", "Deviations without a toggle:"] + Self.table(hidden, columns: columns)
        }
        guard !lines.isEmpty else { return ["\(left.name) and \(right.name) are identical"] }
        return ["Values of \(left.name), and of \(right.name):"] + lines
    }

    private static func changed(_ left: ClientProfile, _ right: ClientProfile) -> [ProfileValue] {
        ProfileValue.all.filter { $0.text(left) != $0.text(right) }
    }

    private static func table(
        _ values: [ProfileValue], _ left: ClientProfile, _ right: ClientProfile, columns: Int?
    ) -> [String] {
        TextTable.lines(
            values.map { [$0.name, $0.text(left), $0.text(right), $0.meaning] }, indent: 2, columns: columns)
    }
}
