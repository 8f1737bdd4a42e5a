import Phone
import Plan
import RunDriver
import SimBase

/// `profiles`: the clients that a scenario may name, what one does value by value, or how two differ.
enum ProfilesCommand {
    static let command = Command(
        name: "profiles", usage: "[NAME [NAME]]",
        summary: "Lists the client profiles, prints the values of one, or the differences of two",
        options: [],
        positionalsMin: 0, positionalsMax: 2, example: "swiftwing-sim profiles contract",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let profiles = try arguments.positionals.map { name in
            guard let profile = ProfileTable.named(name) else {
                throw CommandFailure.unknown("profile", name, among: ProfileTable.all.map(\.name))
            }
            return profile
        }
        let lines: [String]
        switch profiles.count {
        case 0: lines = ProfileTable.all.map(\.name)
        case 1:
            lines = TextTable.lines(
                Self.rows(profiles[0]).map { [$0.key, $0.value] }, indent: 0, columns: console.tableColumns)
        default: lines = Self.difference(profiles[0], profiles[1], columns: console.tableColumns)
        }
        console.out(lines.joined(separator: "\n"))
        return .success
    }

    private static func difference(
        _ left: ClientProfile, _ right: ClientProfile, columns: Int?
    ) -> [String] {
        let rows = zip(Self.rows(left), Self.rows(right)).filter { $0.value != $1.value }
        guard !rows.isEmpty else { return ["\(left.name) and \(right.name) are identical"] }
        return TextTable.lines(rows.map { [$0.key, $0.value, $1.value] }, indent: 0, columns: columns)
    }

    /// Every value of a profile by its name, taken from the type itself, so that none can be forgotten here.
    private static func rows(_ profile: ClientProfile) -> [(key: String, value: String)] {
        Self.rows(of: profile, under: "")
    }

    private static func rows(of value: Any, under prefix: String) -> [(key: String, value: String)] {
        Mirror(reflecting: value).children.flatMap { child -> [(key: String, value: String)] in
            let key = prefix + Self.words(child.label ?? "")
            switch child.value {
            case let flag as Bool: return [(key, flag ? "on" : "off")]
            case let time as Interval: return [(key, Self.text(time))]
            case let value where Mirror(reflecting: value).displayStyle == .struct:
                return Self.rows(of: value, under: key + ".")
            default: return [(key, String(describing: child.value))]
            }
        }
    }

    /// `idleTimeout` as scenarios spell it: `idle-timeout`.
    private static func words(_ label: String) -> String {
        label.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
    }

    private static func text(_ time: Interval) -> String {
        let milliseconds = time.wholeMilliseconds
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000)s" : "\(milliseconds)ms"
    }
}
