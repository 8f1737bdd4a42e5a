import Foundation
import RunJudge

/// The file of the running program.
package enum ProgramFile {
    /// Its path, wherever it was called from.
    package static func path() throws -> String {
        if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            return path
        }
        guard let path = Bundle.main.executablePath else {
            throw CommandFailure(.internalError, "cannot determine the path of this program")
        }
        return path
    }
}
