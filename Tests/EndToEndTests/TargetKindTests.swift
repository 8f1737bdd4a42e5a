import Foundation
import Testing

extension SideBySide {
    /// Some kinds of scenarios of Tests/Targets, whose backends have the forms of one plan; `make targets` runs all.
    @Suite struct TargetKindTests {
        @Test(arguments: [
            ["texts", "flat-texts"], ["nested-for-flat", "flat-for-nested"], ["progressive", "old-phones"],
            ["canceling", "resumed-previews"], ["photos-for-texts"], ["books", "book-look-ups"],
        ])
        func `phones complete against it, and the report has what they did not expect`(kinds: [String])
            async throws
        {
            let scratch = try Scratch()
            let script = Package.root.appending(path: "Tests/Targets/targets.py").path
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"),
                ["python3", script, "--binary", Binary.path.path, "--output", scratch.folder.path]
                    + ["--no-faults", "--runs", "1"] + kinds.flatMap { ["--kind", $0] }, seconds: 90)
            #expect(outcome.code == 0, "\(outcome)")
        }
    }
}
