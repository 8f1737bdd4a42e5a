import Foundation
import Testing

/// The page for the developers of the app, which is made from some hundred runs of `simulate`.
enum AppPage {
    static let committed = Package.root.appending(path: "Docs/swiftwing-head.md")

    static func make(_ words: [String] = []) async throws -> Outcome {
        let page = Package.root.appending(path: "Tests/Quirks/page.py").path
        return try await Subprocess.run(
            URL(filePath: "/usr/bin/env"), ["python3", page, "--binary", Binary.path.path] + words,
            seconds: 480)
    }
}

extension SideBySide {
    @Suite struct AppPageTests {
        @Test func `the tables of the page of the app at HEAD are what runs show`() async throws {
            let made = try await AppPage.make(["--few"])
            let committed = try String(contentsOf: AppPage.committed, encoding: .utf8).split(separator: "\n")
            let lines = made.output.split(separator: "\n")
            #expect(made.code == 0 && lines.count > 25, "\(made)")
            let differing = lines.filter { !committed.contains($0) }
            #expect(differing == [], "`make docs` writes Docs/swiftwing-head.md again")
        }
    }
}

extension Searches {
    @Suite struct AppPageTests {
        @Test func `the page of the app at HEAD is made from runs`() async throws {
            let made = try await AppPage.make()
            let committed = try String(contentsOf: AppPage.committed, encoding: .utf8)
            #expect(made.code == 0, "\(made.complaint)")
            #expect(made.output == committed, "`make docs` writes Docs/swiftwing-head.md again")
        }
    }
}
