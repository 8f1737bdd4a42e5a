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

    /// `EX_IOERR` of sysexits: cannot write output (DESIGN.md section 4).
    package static let exitCode: Int32 = 74

    package var description: String {
        let failed = self.failures.map { "cannot write \($0.path): \($0.reason)" }.joined(separator: "; ")
        return self.saved.isEmpty
            ? failed + "; nothing was saved" : failed + "; saved: " + self.saved.joined(separator: ", ")
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
