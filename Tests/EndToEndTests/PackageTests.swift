import Foundation
import Testing

extension SideBySide {
    /// What brings the program to those who have no clone, from Distributed.
    @Suite struct PackageTests {
        @Test func `the action for GitHub reports each way in which a run can end`() async throws {
            let python = Package.root.appending(path: ".build/venv/bin/python")
            try #require(
                FileManager.default.isExecutableFile(atPath: python.path), "`.ci/packages test` installs it")
            let script = Package.root.appending(path: "Tests/Packages/github.py").path
            let outcome = try await Subprocess.run(python, ["-B", script, Binary.path.path], seconds: 200)
            #expect(outcome.code == 0, "\(outcome)")
        }

        /// `make deb-test` installs the package that is released in a root of Debian; this takes seconds.
        @Test func `a release has the same bytes each time, and its package leaves nothing behind`()
            async throws
        {
            let script = Package.root.appending(path: "Tests/Packages/unpacked")
            let outcome = try await Subprocess.run(script, [Binary.path.path], seconds: 200)
            #expect(outcome.code == 0, "\(outcome)")
        }
    }
}
