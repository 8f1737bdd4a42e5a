import Foundation
import Testing

extension SideBySide {
    /// The pages of runs, as a browser and a person meet them.
    @Suite struct PageTests {
        private static let python = Package.root.appending(path: ".build/venv/bin/python")

        private struct Violation: Decodable {
            var rule, help, first, shown: String
        }

        @Test func `axe finds no violation on the pages, wide and narrow, light and dark`() async throws {
            let scratch = try Scratch()
            func path(_ name: String) -> String { scratch.folder.appending(path: name).path }
            let base = ["simulate", "flaky-network", "--phones", "12", "--quiet", "--output"]
            #expect(try await Binary.run(base + [path("a")]).code == 0)
            let broken = try await Binary.run(
                base + [path("b"), "--set", "fleet.commuters.resume=off", "--baseline", path("a")])
            #expect(broken.code == 97, "\(broken)")
            #expect(
                try await Binary.run(["compare", path("a"), path("b"), "--html", path("compare.html")]).code
                    == 99)
            #expect(
                try await Binary.run(["trend", path("a"), path("b"), "--html", path("trend.html")]).code == 0)
            let pages = ["b/report.html", "compare.html", "trend.html"].map(path)
            let script = Package.tests.appending(path: "Tools/axe.py").path
            let outcome = try await Subprocess.run(Self.python, [script] + pages, seconds: 500)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            let found = try JSONDecoder().decode(
                [String: [Violation]].self, from: Data(outcome.output.utf8))
            #expect(found.count == pages.count)
            for (page, violations) in found { #expect(violations.isEmpty, "\(page): \(violations)") }
        }
    }
}
