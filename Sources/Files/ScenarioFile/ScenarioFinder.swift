import BuiltIn
import Foundation
import SimBase

/// Finds scenarios by path or by bare name.
package enum ScenarioFinder {
    package static let suffix = ".scenario"
    /// The maximum number of listed files.
    package static let filesMax = 1_000

    /// The folders next to the scenarios that have one for each known deviation of a client.
    package static let groups = ["gaps", "quirks"]

    /// A name under which there is nothing.
    package struct NotFound: Error, Hashable, Sendable {
        package var name: String
        /// The searched paths, in this order.
        package var paths: [String]
        /// A scenario whose name is near.
        package var nearest: String?
        /// The scenarios in it, if it is a folder.
        package var inFolder: [String]?

        /// The text for the user, without a trailing newline.
        package var text: String {
            if let inFolder { return self.text(ofFolder: inFolder) }
            var lines = ["no scenario `\(self.name)`"]
            lines += self.paths.map { "    looked for \($0)" }
            if let nearest = self.nearest { lines.append("help: did you mean `\(nearest)`?") }
            return lines.joined(separator: "\n")
        }

        private func text(ofFolder files: [String]) -> String {
            "`\(self.name)` is a folder, not a scenario\nhelp: "
                + (files.isEmpty
                    ? "it has no file whose name ends with `\(ScenarioFinder.suffix)`"
                    : "name one of its files: \(files.prefix(5).joined(separator: ", "))\(files.count > 5 ? ", ..." : "")")
        }
    }

    /// The path of a scenario. With a slash in it the name is a path and only that; otherwise it is looked for in the current
    /// folder, in the folders, one of which can be that of the built-in files, and in their groups. Both as it is and with
    /// `.scenario` added; built-in scenarios and those of groups only have names with it.
    package static func find(_ name: String, current: String, folders: [String]) throws(NotFound) -> String {
        var candidates = [name, name + self.suffix]
        var inGroups: [String] = []
        if name.hasSuffix(self.suffix) { candidates.removeLast() }
        if !name.contains("/") {
            let inFolders = folders.flatMap { folder in
                (BuiltInFiles.isPath(folder) ? candidates.suffix(1) : candidates[...]).map {
                    "\(folder)/\($0)"
                }
            }
            inGroups = folders.flatMap { folder in
                Self.groups.map { "\(folder)/\($0)/\(candidates.last ?? name)" }
            }
            candidates += inFolders
        }
        for candidate in candidates + inGroups
        where !name.isEmpty && self.isFile(self.absolute(candidate, from: current)) {
            return candidate
        }
        let path = self.absolute(name, from: current)
        if self.isFolder(path) {
            throw NotFound(name: name, paths: candidates, inFolder: self.all(in: [path]).map(self.file))
        }
        let stem = self.stem(name.split(separator: "/").last.map(String.init) ?? name)
        let known = (self.all(in: [current] + folders) + self.all(inGroupsOf: folders)).map { self.stem($0) }
        throw NotFound(
            name: name, paths: candidates, nearest: Spelling.nearest(to: stem, among: known))
    }

    /// The path of a scenario that the file at `path` names: in the folder of that file, then, unless the name is a
    /// path, in the current folder and in the folders. `current` and `folders` are absolute.
    package static func find(
        _ name: String, beside path: String, current: String, folders: [String]
    ) throws(NotFound) -> String {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
            separator: "/")
        let isRoot = path.hasPrefix("/") && folder.isEmpty
        let start = isRoot ? "/" : folder.isEmpty ? current : self.absolute(folder, from: current)
        let found = try self.find(
            name, current: start, folders: (start == current ? [] : [current]) + folders)
        return Self.isAbsolute(found) || (folder.isEmpty && !isRoot) ? found : "\(folder)/\(found)"
    }

    /// The paths of all scenarios in the folders, by folder and then by name. Folders that are not there have none.
    package static func all(in folders: [String]) -> [String] {
        folders.flatMap { folder in
            let names =
                BuiltInFiles.isPath(folder)
                ? BuiltInFiles.names(inFolder: folder)
                : (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.filter { $0.hasSuffix(self.suffix) && !$0.hasPrefix(".") }
                .sorted { self.stem($0).compare(self.stem($1), options: .numeric) == .orderedAscending }
                .prefix(self.filesMax).map { "\(folder)/\($0)" }
        }
    }

    /// The paths of the scenarios of the groups, by group, folder and name.
    package static func all(inGroupsOf folders: [String]) -> [String] {
        self.groups.flatMap { group in self.all(in: folders.map { "\($0)/\(group)" }) }
    }

    /// The group of a path; nil for a scenario that is in none.
    package static func group(of path: String) -> String? {
        let folders = path.split(separator: "/").dropLast()
        return self.groups.first { $0 == folders.last.map(String.init) }
    }

    /// Returns the folders of scenarios: `Scenarios` in the current folder, `Scenarios` of the package that contains the build
    /// folder of the program, and the built-in files. Only folders that exist, each once.
    package static func folders(executable: String, current: String) -> [String] {
        let own = "\(current)/Scenarios"
        return (self.isFolder(own) ? [own] : []) + self.packageFolder(executable).filter { $0 != own }
            + [BuiltInFiles.folder]
    }

    private static func packageFolder(_ executable: String) -> [String] {
        var folder = URL(fileURLWithPath: executable).resolvingSymlinksInPath().deletingLastPathComponent()
        // .build/<triple>/<configuration>/swiftwing-sim is three folders below the package.
        for _ in 0..<5 where folder.path != "/" {
            let scenarios = folder.appending(path: "Scenarios").path
            if self.isFile(folder.appending(path: "Package.swift").path), self.isFolder(scenarios) {
                return [scenarios]
            }
            folder.deleteLastPathComponent()
        }
        return []
    }

    private static func file(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    private static func stem(_ path: String) -> String {
        let file = self.file(path)
        return file.hasSuffix(self.suffix) ? String(file.dropLast(self.suffix.count)) : file
    }

    private static func isAbsolute(_ path: String) -> Bool {
        path.hasPrefix("/") || BuiltInFiles.isPath(path)
    }

    static func absolute(_ path: String, from folder: String) -> String {
        self.isAbsolute(path) ? path : "\(folder)/\(path)"
    }

    private static func isFile(_ path: String) -> Bool {
        if BuiltInFiles.isPath(path) { return BuiltInFiles.contains(path) }
        var isFolder: ObjCBool = false
        return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && !isFolder.boolValue
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && isFolder.boolValue
    }
}
