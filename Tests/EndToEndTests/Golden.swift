import Foundation
import Testing

/// What the program printed, held to a file that is reviewed when it changes.
/// `SWIFTWING_SIM_REGOLD=1 swift test --filter CommandLineTests` writes the files again.
enum Golden {
    private static let isRewriting = ProcessInfo.processInfo.environment["SWIFTWING_SIM_REGOLD"] == "1"
    private static let folder = Package.tests.appending(path: "Goldens")

    /// Commands as they would be typed in the package's folder, with everything that came of them.
    static func transcript(_ commands: [[String]]) async throws -> String {
        var text = ""
        for arguments in commands {
            let outcome = try await Binary.run(arguments)
            let words = arguments.map { $0.contains(" ") || $0.isEmpty ? "'\($0)'" : $0 }
            text += (["$ swiftwing-sim"] + words).joined(separator: " ") + "\n"
            text += outcome.output
            if !outcome.complaint.isEmpty { text += "(standard error)\n" + outcome.complaint }
            text += "(exit code \(outcome.code))\n\n"
        }
        return text.replacing(Package.root.path, with: "PACKAGE")
    }

    static func expect(
        _ text: String, is name: String, location: SourceLocation = #_sourceLocation
    ) throws {
        let file = self.folder.appending(path: name)
        guard !self.isRewriting else {
            try Data(text.utf8).write(to: file)
            return
        }
        let golden = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) }
        #expect(
            text == golden, "Goldens/\(name) differs; SWIFTWING_SIM_REGOLD=1 writes it anew",
            sourceLocation: location)
    }
}
