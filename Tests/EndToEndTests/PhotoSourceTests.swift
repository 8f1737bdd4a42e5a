import Foundation
import Testing

extension SideBySide {
    /// Where the photos of a scenario come from.
    @Suite struct PhotoSourceTests {
        private static let options =
            [
                ShortRun.scenario, "--quiet", "--set", "faults=[]", "--set", "fleet.commuters.phones=2",
                "--set", "fleet.commuters.scans=2", "--set", "fleet.commuters.network=perfect", "--set",
                "server.job-time=100ms..200ms",
            ] + ShortRun.objectiveOfScansAlone

        private func run(_ photos: String, _ more: String...) async throws -> Outcome {
            let scratch = try Scratch()
            return try await Binary.run(
                ["run"] + Self.options
                    + ["--set", "fleet.commuters.photos=\(photos)", "--output", scratch.folder.path + "/run"]
                    + more)
        }

        @Test func `phones take painted photos`() async throws {
            let outcome = try await self.run("{paint: 3, size: 160x120}")
            #expect(outcome.code == 0)
            #expect(outcome.output.contains("4 captured = 4 completed"))
            #expect(outcome.complaint.isEmpty, "--quiet tells of no painting")
        }

        @Test func `phones take the photos of a list, and each is preprocessed`() async throws {
            let outcome = try await self.run(
                "[shelves/shelf-3-landscape-dark.jpg, shelves]", "--set", "fleet.commuters.preprocess=each")
            #expect(outcome.code == 0)
            #expect(outcome.output.contains(#/preprocess\.time +4 /#))
        }

        @Test func `a list with what is not there is refused before anything starts`() async throws {
            let outcome = try await self.run("[shelves, none.jpg]")
            #expect(outcome.code == 66 && outcome.output.isEmpty)
            #expect(outcome.complaint.contains("no photos 'none.jpg'"))
        }

        @Test func `plan tells of painted photos without painting them`() async throws {
            let outcome = try await Binary.run(
                ["plan"] + Self.options.filter { $0 != "--quiet" } + [
                    "--set", "fleet.commuters.photos={paint: 1000, size: 4032x3024}",
                ])
            #expect(outcome.code == 0)
            #expect(outcome.output.contains("2 phones, contract, 1000 photos"))
        }
    }
}
