/// Something could not be written. It says what could be.
package struct OutputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One file, or the folder itself, and the system's words.
    package struct Failure: Hashable, Sendable {
        package var path: String
        package var reason: String

        package init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }
    }

    package var failures: [Failure]
    /// Names of the files that are there and whole.
    package var saved: [String]

    package init(failures: [Failure], saved: [String]) {
        self.failures = failures
        self.saved = saved
    }

    /// The folder or file, the reason of the first failure, and what else could not be written:
    /// `cannot write to Reports/x: No space left on device (events.ndjson and 9 more)`.
    package var description: String {
        guard let first = self.failures.first else { return "cannot write" }
        let (folder, name) = Self.halves(first.path)
        let isOneFolder = self.failures.allSatisfy { Self.halves($0.path).folder == folder }
        guard self.failures.count > 1 || !self.saved.isEmpty, isOneFolder, !folder.isEmpty else {
            let more = self.failures.count > 1 ? " (and \(self.failures.count - 1) more)" : ""
            return "cannot write to \(first.path): \(first.reason)\(more)"
        }
        let more = self.failures.count > 1 ? " and \(self.failures.count - 1) more" : ""
        return "cannot write to \(folder): \(first.reason) (\(name)\(more))"
    }

    private static func halves(_ path: String) -> (folder: Substring, name: Substring) {
        guard let slash = path.lastIndex(of: "/") else { return ("", path[...]) }
        return (path[..<slash], path[path.index(after: slash)...])
    }
}

extension OutputError {
    /// Writes files that people named, each whole or not at all; throws when any could not be, having written the others.
    package static func write(_ files: [(path: String, text: String)]) throws(OutputError) {
        var error = OutputError(failures: [], saved: [])
        for (path, text) in files {
            do throws(Failure) {
                try OutputFile.write(Array(text.utf8), to: path)
                error.saved.append(path)
            } catch let failure {
                error.failures.append(failure)
            }
        }
        guard error.failures.isEmpty else { throw error }
    }
}
