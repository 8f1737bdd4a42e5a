import Foundation
import RunJudge

/// Commits of the Git repository that the program is called in.
package enum GitCommit {
    /// Returns the hash of a commit, in hexadecimal digits.
    package static func hash(of name: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "git", "rev-parse", "--verify", "--quiet", "--end-of-options", "\(name)^{commit}",
        ]
        let (output, complaint) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = complaint
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CommandFailure(
                .usage, "git does not know the commit '\(name)'",
                hint: "--seeds @REV+N works inside a Git repository; otherwise name the seeds, as in 1..1000")
        }
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
