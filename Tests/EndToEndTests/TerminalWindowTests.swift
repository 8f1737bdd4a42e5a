import Foundation
import Testing

extension SideBySide {
    /// What a person sees in the window that most terminals open with.
    @Suite struct TerminalWindowTests {
        /// What `Tools/terminal.py` reports.
        private struct Screen: Decodable {
            var code: Int32
            var progress: Int
            var wrapped: [String]
            var text: [String]

            var words: Set<String> {
                Set(self.text.flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) })
            }
        }

        private static func screen(
            columns: Int, _ arguments: [String], in folder: URL = Package.root
        ) async throws -> Screen {
            let script = Package.tests.appending(path: "Tools/terminal.py").path
            let outcome = try await Subprocess.run(
                URL(filePath: "/usr/bin/env"),
                ["python3", script, "\(columns)", "24", Binary.path.path] + arguments, folder: folder,
                seconds: 50)
            try #require(outcome.code == 0, "\(outcome)")
            return try JSONDecoder().decode(Screen.self, from: Data(outcome.output.utf8))
        }

        @Test func `a run shows one line of progress, and no line that is too long`() async throws {
            let scratch = try Scratch()
            let photos = scratch.folder.appending(path: "Images/shelves")
            try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: Package.photo, to: photos.appending(path: "shelf.jpg"))
            let screen = try await Self.screen(
                columns: 80, ["run"] + ShortRun.arguments + ["--output", "report"], in: scratch.folder)
            let output = screen.text.joined(separator: " ")
            #expect(Outcome(code: screen.code, output: output, complaint: "").hasPassed)
            #expect(screen.progress == 1)
            #expect(screen.wrapped == [])
            #expect(screen.text.contains { $0.contains("report/report.html") })
        }

        /// A terminal of 0 columns does not know its size, and counts as one of 80.
        @Test(arguments: [80, 0]) func `no page is wider than the window, and no word of it is broken`(
            columns: Int
        ) async throws {
            for words in [
                "--help", "run --help", "serve --help", "list", "doctor", "plan flaky-network",
                "check flaky-network", "profiles",
            ] {
                let arguments = words.split(separator: " ").map(String.init)
                let narrow = try await Self.screen(columns: columns, arguments)
                #expect(narrow.wrapped == [], "\(words)")
                let wide = try await Self.screen(columns: 500, arguments)
                // Figures of `doctor` may change from one time to the next.
                let broken = narrow.words.subtracting(wide.words).filter { !$0.contains(where: \.isNumber) }
                #expect(broken == [], "\(words)")
            }
        }
    }
}
