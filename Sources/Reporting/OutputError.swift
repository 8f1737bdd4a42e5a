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
