import Foundation
import Testing

extension SideBySide {
    /// The same journey with a client that others wrote: Python's `requests` and `sseclient-py`.
    @Suite struct PublishedClientTests {
        private struct Journey: Codable, Equatable {
            var upload: Int
            var first, second, all: [String]
            var droppedRunning: Bool
            var ends: [String]
            var processed: [Int]
            var books, results: [String]
            var cleanup, afterwards: Int
        }

        private static let python = Package.root.appending(path: ".build/venv/bin/python")

        @Test func `a published client that loses its connection misses nothing and sees nothing twice`()
            async throws
        {
            try #require(
                FileManager.default.isExecutableFile(atPath: Self.python.path),
                "there is no published event-stream client: run `make test`, which installs it")
            let script = Package.tests.appending(path: "Tools/journey.py").path
            let options = ["--set", "server.job-time=2s", "--set", "server.ping=300ms"]
            let journey = try await ServeProcess.during(options) { serve in
                let outcome = try await Subprocess.run(
                    Self.python, [script, serve.base, Package.photo.path], seconds: 40)
                try #require(outcome.code == 0, "\(outcome.complaint)")
                return try JSONDecoder().decode(Journey.self, from: Data(outcome.output.utf8))
            }

            let start = try #require(journey.first.first.flatMap { journey.all.firstIndex(of: $0) })
            #expect(journey.first.count == 2)
            #expect(journey.second.count >= 3)
            #expect(
                journey
                    == Journey(
                        upload: 202, first: journey.first, second: journey.second,
                        all: journey.all[..<start] + journey.first + journey.second,
                        droppedRunning: true, ends: ["completed"],
                        processed: Array(0...journey.books.count), books: journey.books,
                        results: journey.books, cleanup: 204, afterwards: 410))
            #expect(Set(journey.all).count == journey.all.count)
        }
    }
}
