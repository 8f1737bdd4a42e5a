import Foundation
import Testing

extension SideBySide {
    /// `Docs/swiftwing-head.md`: every number in it is that of a simulated run.
    @Suite struct HeadPageTests {
        @Test func `the page of the app at HEAD is made from runs`() async throws {
            let made = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"),
                [
                    "python3", Package.root.appending(path: "Tests/Quirks/page.py").path, "--binary",
                    Binary.path.path, "--jobs", "1",
                ],
                seconds: 300)
            let committed = try String(
                contentsOf: Package.root.appending(path: "Docs/swiftwing-head.md"), encoding: .utf8)
            #expect(made.code == 0, "\(made.complaint)")
            #expect(made.output == committed, "`make docs` writes Docs/swiftwing-head.md again")
        }
    }
}
