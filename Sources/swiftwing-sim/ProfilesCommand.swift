import Phone
import Plan
import RunDriver
import RunJudge

/// `profiles`: the clients that a scenario may name, what one does value by value, or how two differ.
enum ProfilesCommand {
    static let command = Command(
        name: "profiles", usage: "[NAME [NAME]]",
        summary:
            "Lists the client profiles, prints the values of one, or what to change in the first to get the second",
        options: [JSONOutput.option],
        positionalsMin: 0, positionalsMax: 2, example: "swiftwing-sim profiles swiftwing-head contract",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let profiles = try arguments.positionals.map { name in
            guard let profile = ProfileTable.named(name) else {
                throw CommandFailure.unknown(
                    "profile", name, among: ProfileTable.all.map(\.name), help: "profiles")
            }
            return profile
        }
        guard !arguments.has(JSONOutput.name) else {
            let members =
                switch profiles.count {
                case 0: ProfilesJSON.list
                case 1: ProfilesJSON.values(profiles[0])
                default: ProfilesJSON.difference(profiles[0], profiles[1])
                }
            JSONOutput.print(members, console)
            return .success
        }
        let lines =
            switch profiles.count {
            case 0: Self.list(columns: console.tableColumns)
            case 1: Self.values(profiles[0], columns: console.tableColumns)
            default: ProfileDifference(profiles[0], profiles[1]).lines(columns: console.tableColumns)
            }
        console.out(lines.joined(separator: "\n"))
        return .success
    }

    private static func list(columns: Int?) -> [String] {
        let profiles = ProfileTable.all.map { [$0.name, $0.summary, $0.source] }
        let toggles = ProfileToggle.all.map { [$0.key, $0.title, $0.source] }
        return TextTable.lines(profiles, indent: 0, columns: columns)
            + ["", "Toggles, each `on` or `off` in a group of a scenario:"]
            + TextTable.lines(toggles, indent: 2, columns: columns)
            + ["", "Deviations without a toggle:"]
            + ProfileText.hidden(ProfileToggle.hidden, columns: columns)
    }

    private static func values(_ profile: NamedProfile, columns: Int?) -> [String] {
        let values = profile.profile()
        let rows = ProfileDescription.all.flatMap { value in
            ["  \(value.name): \(value.text(values))"]
                + ProfileText.folded("    \(value.behavior(values)) (\(value.source))", columns)
        }
        let toggles = profile.toggles(with: []).map { toggle in
            [toggle.key, toggle.title, toggle.harm?.rawValue ?? "", toggle.source]
        }
        return ["\(profile.name): \(profile.summary) (\(profile.source))"]
            + rows + (toggles.isEmpty ? [] : ["", "Toggles that are on:"])
            + TextTable.lines(toggles, indent: 2, columns: columns)
            + ProfileText.unproven(profile, columns: columns)
    }
}

/// Parts of what `profiles` prints of one client or two.
enum ProfileText {
    /// The section of Docs/swiftwing-head.md about a defect of the app; nil for another toggle.
    static func page(of toggle: ProfileToggle) -> String? {
        toggle.family == .quirk ? "Docs/swiftwing-head.md, Q\(toggle.number)" : nil
    }

    /// A line of prose within the terminal, or within `columnsMax` if there is none.
    static func folded(_ line: String, _ columns: Int?) -> [String] {
        let margin = line.prefix { $0 == " " }.count
        return TextFold.lines(line, columns: columns ?? Self.columnsMax, indent: margin)
    }

    /// The width of prose that goes to a file.
    static let columnsMax = 120

    static func hidden(_ hidden: [ProfileToggle], columns: Int?) -> [String] {
        TextTable.lines(
            hidden.map { [$0.key, $0.title, $0.source] }, indent: 2, columns: columns)
    }

    /// The toggles that a client may have without a proof; empty if it has none.
    static func unproven(_ profile: NamedProfile, columns: Int?) -> [String] {
        guard !profile.unproven.isEmpty else { return [] }
        let rows = profile.unproven.map { toggle in
            let sources = [toggle.source, Self.page(of: toggle)].compactMap { $0 }
            return [toggle.key, toggle.title, sources.joined(separator: "; ")]
        }
        let text = """
            Not simulated in \(profile.name) by default, because no source proves it. Check first whether the app has it: look at how \
            its code splits a stream into lines. With it no scan is completed, whatever else is mended. What to do: split the bytes, and not \
            characters or text, at CR LF, LF and CR, and keep the empty lines: an empty line is what ends an event.
            """
        return [""] + Self.folded(text, columns) + TextTable.lines(rows, indent: 2, columns: columns)
    }
}
