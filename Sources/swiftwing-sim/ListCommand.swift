import BuiltIn
import Foundation
import Plan
import RunArchive
import RunDriver
import RunJudge
import ScenarioFile
import SimBase

/// `list`: the scenarios that commands find by name.
enum ListCommand {
    static let command = Command(
        name: "list", usage: "",
        summary: "Lists the available scenarios: name, description, and path or 'built in'",
        options: [
            Option(
                name: "--all", value: nil,
                help:
                    "also list what a bug once needed, and a scenario for each known deviation of a client (gaps, inconsistencies, quirks)"
            ),
            Option(name: "--names", value: nil, help: "print only the names, one on a line"),
            JSONOutput.option,
        ],
        positionalsMin: 0, positionalsMax: 0, example: "swiftwing-sim list", run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let current = FileManager.default.currentDirectoryPath
        let folders = [current] + (try LoadedScenario.folders()).filter { $0 != current }
        let paths =
            ScenarioFinder.all(in: folders)
            + (arguments.has("--all") ? ScenarioFinder.all(inGroupsOf: folders) : [])
        guard !arguments.has("--names") else {
            for name in Self.names(paths) { console.out(name) }
            return .success
        }
        let all = arguments.has("--all")
        let entries = Self.entries(paths, current: current).filter {
            all || $0.group != ScenarioSection.regressions.rawValue
        }
        guard !arguments.has(JSONOutput.name) else {
            JSONOutput.print(["scenarios": .array(entries.map(\.json))], console)
            return .success
        }
        let groups = ScenarioSection.allCases.map(\.rawValue) + ScenarioFinder.groups
        // Those of the user come first.
        let own = entries.filter { $0.group == nil }
        let sections: [(String?, [Entry])] =
            [(nil, own)]
            + groups.map { group in
                (group, Self.inOrder(entries.filter { $0.group == group }))
            }
        for (index, section) in sections.filter({ !$0.1.isEmpty }).enumerated() {
            if index > 0 { console.out("") }
            Self.print(section.1, heading: section.0, console)
        }
        return .success
    }

    /// As a section has them.
    private static func inOrder(_ entries: [Entry]) -> [Entry] {
        let names = ScenarioSection.allCases.flatMap(\.names)
        return entries.enumerated().sorted {
            let left = names.firstIndex(of: $0.element.name) ?? names.count
            let right = names.firstIndex(of: $1.element.name) ?? names.count
            return (left, $0.offset) < (right, $1.offset)
        }.map(\.element)
    }

    private static func print(_ entries: [Entry], heading: String?, _ console: Console) {
        if let heading { console.out(heading) }
        let rows = entries.map { entry in
            [
                entry.isHidden ? entry.path : entry.name,
                entry.description ?? "(invalid: see 'swiftwing-sim check')",
                entry.isBuiltIn ? "built in" : entry.path,
            ]
        }
        console.out(
            TextTable.lines(rows, indent: 0, columns: console.tableColumns).joined(separator: "\n"))
    }

    private struct Entry {
        var name: String
        /// The value of a `ScenarioSection`, or one of `ScenarioFinder.groups`; nil for a scenario of the user.
        var group: String?
        /// Relative to the current folder if it is in it.
        var path: String
        /// Nil for an invalid scenario.
        var description: String?
        /// Whether the name means another scenario, so that only the path means this one.
        var isHidden: Bool
        /// Whether it is a part of the program, and its path that of no file.
        var isBuiltIn: Bool

        var json: JSONValue {
            .object([
                "name": .string(self.name), "path": .string(self.path),
                "group": self.group.map { .string($0) } ?? .null,
                "description": self.description.map { .string($0) } ?? .null,
                "valid": .bool(self.description != nil), "hidden": .bool(self.isHidden),
                "built_in": .bool(self.isBuiltIn),
            ])
        }
    }

    private static func entries(_ paths: [String], current: String) -> [Entry] {
        // A name means the first that is found; the others are there by their paths only.
        var known: [String: [String]] = [:]
        return paths.compactMap { path in
            let name = Self.name(of: path)
            let others = known[name, default: []]
            known[name] = others + [path]
            let isBuiltIn = BuiltInFiles.isPath(path)
            guard !isBuiltIn || !Self.isCopy(path, of: others) else { return nil }
            let shown = path.hasPrefix(current + "/") ? String(path.dropFirst(current.count + 1)) : path
            return Entry(
                name: name,
                group: ScenarioFinder.group(of: path) ?? Self.section(of: name, at: path)?.rawValue,
                path: shown,
                description: Self.description(shown), isHidden: !others.isEmpty,
                isBuiltIn: isBuiltIn)
        }
    }

    /// Nil for a scenario that only has the name of a shipped one.
    private static func section(of name: String, at path: String) -> ScenarioSection? {
        let builtIn = "\(BuiltInFiles.folder)/\(name)\(ScenarioFinder.suffix)"
        guard path == builtIn || Self.isCopy(builtIn, of: [path]) else { return nil }
        return ScenarioSection(of: name)
    }

    /// Whether one of the files is the built-in scenario itself, as in the package that this program was built from.
    private static func isCopy(_ path: String, of files: [String]) -> Bool {
        let bytes = BuiltInFiles.contents(of: path)
        return files.contains { (try? LoadedScenario.bytes(of: $0)) == bytes }
    }

    /// The names that commands understand, each once.
    private static func names(_ paths: [String]) -> [String] {
        var names: [String] = []
        for name in paths.map(Self.name) where !names.contains(name) {
            names.append(name)
        }
        return names
    }

    private static func name(of path: String) -> String {
        String(URL(filePath: path).lastPathComponent.dropLast(ScenarioFinder.suffix.count))
    }

    /// Nil for an invalid scenario.
    private static func description(_ path: String) -> String? {
        let loaded = try? LoadedScenario(
            path: path, overrides: [], environment: ProcessInfo.processInfo.environment)
        return loaded.map { Printable.line($0.scenario.description, bytesMax: 100) }
    }
}
