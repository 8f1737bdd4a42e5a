import Foundation
import Testing

extension SideBySide {
    /// Published clients against each dialect: what they lose is what Docs/clients.md says.
    @Suite struct ClientMatrixTests {
        /// Those that end with the stream. The others take longer, and are on the page only.
        private static let clients = ["curl", "httpx-sse", "larzsse", "py-sse-client"]

        @Test(arguments: ["contract", "live-2026-02", "bendv3", "legacy-openapi", "wingtip"])
        func `published clients lose what the page says`(dialect: String) async throws {
            try #require(
                FileManager.default.fileExists(atPath: Package.root.appending(path: ".build/clients").path),
                "there are no published clients: run `make test`, which installs them")
            let script = Package.root.appending(path: "Tests/Clients/clients.py").path
            let page = Package.root.appending(path: "Docs/clients.md").path
            let clients = Self.clients.flatMap { ["--client", $0] }
            let arguments = ["python3", script, "--binary", Binary.path.path, "--dialect", dialect]
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), arguments + clients + ["--check", page], seconds: 55)
            #expect(outcome.code == 0, "\(outcome.complaint)")
            // Of each: its version, a job, its end, and four cells of a cut. And one of larzsse, which sends no headers.
            #expect(outcome.output == "29 cells, 0 other than in \(page)\n")
        }
    }
}
