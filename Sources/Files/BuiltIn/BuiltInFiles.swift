internal import CBuiltIn

/// The files that are a part of the program: the shipped scenarios, and the captured streams and photos that they name.
///
/// Their paths begin with `built-in:/`, as those of other files begin with a folder: the scenarios are in the folder `built-in:`
/// itself, captured streams in `built-in:/captures`, photos in `built-in:/Images`. A path that a scenario has relative to its own
/// folder so leads to a file that is built in as well.
package enum BuiltInFiles {
    /// The commit that the program was built from, with `+changes` if it had others; nil if the build did not say it.
    package static let commit: String? = {
        let text = unsafe String(cString: shim_built_in_commit())
        return text.isEmpty ? nil : text
    }()

    /// The folder of the scenarios.
    package static let folder = "built-in:"

    /// All of them, by kind and then by name.
    package static let paths: [String] = (0..<shim_built_in_count()).map { index in
        let path = unsafe String(cString: shim_built_in_file(index).path)
        return "\(Self.folder)/\(path)"
    }

    /// Whether a path is one of a file or folder of the program. There may be nothing under it.
    package static func isPath(_ path: String) -> Bool {
        path == Self.folder || path.hasPrefix(Self.folder + "/")
    }

    package static func contains(_ path: String) -> Bool { Self.paths.contains(path) }

    /// Nil if there is no such file.
    package static func contents(of path: String) -> [UInt8]? {
        guard let index = Self.paths.firstIndex(of: path) else { return nil }
        let file = unsafe shim_built_in_file(index)
        return unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }

    /// The names of the files in a folder, in their order. A folder that does not exist has none.
    package static func names(inFolder path: String) -> [String] {
        let prefix = path + "/"
        return Self.paths.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
            .filter { !$0.contains("/") }
    }
}
