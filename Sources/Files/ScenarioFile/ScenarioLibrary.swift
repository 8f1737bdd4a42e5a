import BuiltIn
import Foundation

/// The files that a scenario can name: scenarios that it extends, and captured streams.
package struct ScenarioLibrary: Sendable {
    /// A scenario that was found.
    package struct Found: Hashable, Sendable {
        /// The name of the file in error messages.
        package var path: String
        /// The identity of the file, independent of its name.
        package var identity: String
        package var bytes: [UInt8]
    }

    /// Why there is none.
    package struct Missing: Error, Hashable, Sendable {
        /// One sentence without a full stop.
        package var message: String
        package var help: String?

        package init(_ message: String, help: String?) {
            self.message = message
            self.help = help
        }
    }

    private let finding: @Sendable (_ name: String, _ path: String) throws(Missing) -> Found
    private let capturing: @Sendable (_ name: String, _ path: String) throws(Missing) -> Found
    private let identifying: @Sendable (_ path: String) -> String

    package init(
        find: @escaping @Sendable (_ name: String, _ path: String) throws(Missing) -> Found,
        capture: @escaping @Sendable (_ name: String, _ path: String) throws(Missing) -> Found,
        identity: @escaping @Sendable (_ path: String) -> String
    ) {
        self.finding = find
        self.capturing = capture
        self.identifying = identity
    }

    /// The scenario that the file at `path` calls `name`.
    func find(_ name: String, extendedBy path: String) throws(Missing) -> Found {
        try self.finding(name, path)
    }

    /// The captured stream that the file at `path` calls `name`.
    func capture(_ name: String, of path: String) throws(Missing) -> Found {
        try self.capturing(name, path)
    }

    func identity(of path: String) -> String { self.identifying(path) }

    /// A library without scenarios, for a text that is not in a file.
    package static let none = ScenarioLibrary(
        find: { _, _ throws(Missing) in
            throw Missing("`extends` is not available for this scenario", help: nil)
        },
        capture: { _, _ throws(Missing) in
            throw Missing(
                "`replay` is not available for this scenario", help: "give the stream itself in `stream`")
        }, identity: { $0 })

    /// Files: next to the scenario that extends, then in the folders where scenarios are looked for by their
    /// name. `current` and `folders` are absolute. `read` gives the bytes of a file that is not built in, or
    /// nil.
    package static func files(
        current: String, folders: [String], read: @escaping @Sendable (String) -> [UInt8]?
    ) -> ScenarioLibrary {
        @Sendable func absolute(_ path: String) -> String { ScenarioFinder.absolute(path, from: current) }
        @Sendable func content(_ path: String) -> [UInt8]? {
            BuiltInFiles.isPath(path) ? BuiltInFiles.contents(of: path) : read(absolute(path))
        }
        return ScenarioLibrary(
            find: { name, path throws(Missing) in
                let found: String
                do throws(ScenarioFinder.NotFound) {
                    found = try ScenarioFinder.find(name, beside: path, current: current, folders: folders)
                } catch {
                    throw Missing(
                        "no scenario \(Findings.quoted(name))",
                        help: error.nearest.map { "did you mean `\($0)`?" }
                            ?? "looked for \(error.paths.joined(separator: ", "))")
                }
                guard let bytes = content(found) else {
                    throw Missing("cannot read \(found)", help: nil)
                }
                return Found(
                    path: found, identity: Self.resolved(absolute(found)), bytes: bytes)
            },
            capture: { name, path throws(Missing) in
                let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
                let found =
                    name.hasPrefix("/") || folder.isEmpty
                    ? name : (folder + [name[...]]).joined(separator: "/")
                guard let bytes = content(found) else {
                    throw Missing(
                        "cannot read the captured stream \(found)",
                        help: "the path is relative to the folder of the scenario")
                }
                return Found(path: found, identity: Self.resolved(absolute(found)), bytes: bytes)
            }, identity: { Self.resolved(absolute($0)) })
    }

    private static func resolved(_ path: String) -> String {
        BuiltInFiles.isPath(path)
            ? path : URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
    }
}
