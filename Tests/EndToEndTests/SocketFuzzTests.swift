import Foundation
import Testing

extension SideBySide {
    /// `Tests/SocketFuzz`: what the socket fuzzers found, once more, and whether they find what they look for.
    @Suite struct SocketFuzzTests {
        private static let script = Package.root.appending(path: "Tests/SocketFuzz/fuzz.py").path

        private func fuzz(_ arguments: [String]) async throws -> Outcome {
            let environment = Subprocess.environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
            return try await Subprocess.run(
                URL(filePath: "/usr/bin/env"), ["python3", Self.script] + arguments,
                environment: environment, seconds: 120)
        }

        @Test func `every exchange that the socket fuzzers found is survived`() async throws {
            let outcome = try await self.fuzz(["--corpus", "--binary", Binary.path.path])
            #expect(outcome.code == 0, "\(outcome.output)\(outcome.complaint)")
            #expect(outcome.output.hasSuffix("no failure\n"))
        }

        @Test func `the socket fuzzers find every planted failure`() async throws {
            let outcome = try await self.fuzz(["--self-test"])
            #expect(outcome.code == 0, "\(outcome.output)\(outcome.complaint)")
            #expect(outcome.output.hasSuffix(" 0 missed\n"))
        }

        @Test func `a case is a function of its seed and number`() async throws {
            let arguments = ["--print", "--seed", "11", "--case", "0", "1", "2", "4", "5"]
            let first = try await self.fuzz(arguments)
            #expect(first.code == 0, "\(first.complaint)")
            #expect(first.output.split(separator: "\n").count == 5)
            #expect(try await self.fuzz(arguments) == first)
        }
    }
}
