import Foundation
import Plan
import RunDriver
import ScenarioFile
import SimBase

/// `list`: the scenarios at hand, as commands find them by name.
enum ListCommand {
    static let command = Command(
        name: "list", usage: "",
        summary: "Lists the available scenarios: name, description and path",
        options: [Option(name: "--names", value: nil, help: "print only the names, one on a line")],
        positionalsMin: 0, positionalsMax: 0, example: "swiftwing-sim list", run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let current = FileManager.default.currentDirectoryPath
        let folders = [current] + (try LoadedScenario.folders()).filter { $0 != current }
        guard !arguments.has("--names") else {
            for name in Self.names(in: folders) { console.out(name) }
            return .success
        }
        var known: Set<String> = []
        var rows: [[String]] = []
        for path in ScenarioFinder.all(in: folders) {
            let name = Self.name(of: path)
            // A name means the first that is found; the others are there by their paths only.
            let isHidden = !known.insert(name).inserted
            let path = path.hasPrefix(current + "/") ? String(path.dropFirst(current.count + 1)) : path
            rows.append([isHidden ? path : name, Self.description(path), path])
        }
        guard !rows.isEmpty else {
            console.out("no scenarios found")
            console.error(
                "help: 'swiftwing-sim new NAME' creates one; searched in \(folders.joined(separator: ", "))")
            return .success
        }
        console.out(
            TextTable.lines(rows, indent: 0, columns: console.tableColumns).joined(separator: "\n"))
        return .success
    }

    /// The names that commands understand, each once.
    private static func names(in folders: [String]) -> [String] {
        var names: [String] = []
        for name in ScenarioFinder.all(in: folders).map(Self.name) where !names.contains(name) {
            names.append(name)
        }
        return names
    }

    private static func name(of path: String) -> String {
        String(URL(filePath: path).lastPathComponent.dropLast(ScenarioFinder.suffix.count))
    }

    private static func description(_ path: String) -> String {
        do {
            let loaded = try LoadedScenario(
                path: path, overrides: [], environment: ProcessInfo.processInfo.environment)
            return Printable.line(loaded.scenario.description, bytesMax: 100)
        } catch {
            return "(invalid: see 'swiftwing-sim check')"
        }
    }
}
