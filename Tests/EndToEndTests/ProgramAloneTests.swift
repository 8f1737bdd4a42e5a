import Foundation
import Testing

extension SideBySide {
    /// The program copied to another folder, without the package that it was built from.
    @Suite struct ProgramAloneTests {
        private final class Place {
            let scratch: Scratch
            let program: URL
            let folder: URL

            init() throws {
                self.scratch = try Scratch()
                self.program = self.scratch.folder.appending(path: "bin/swiftwing-sim")
                self.folder = self.scratch.folder.appending(path: "empty")
                for folder in [self.program.deletingLastPathComponent(), self.folder] {
                    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                }
                try Child.copy(Binary.path, to: self.program)
            }

            func run(_ words: String...) async throws -> Outcome {
                try await Subprocess.run(self.program, words, folder: self.folder, seconds: 50)
            }

            func write(_ name: String, _ data: Data) throws {
                let file = self.folder.appending(path: name)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try data.write(to: file)
            }
        }

        @Test func `it lists, checks and plans every scenario`() async throws {
            let place = try Place()
            let list = try await place.run("list", "--all")
            #expect(list.code == 0 && list.complaint.isEmpty, "\(list)")
            // Those of known deviations come behind the others, and so does a heading before each section.
            let lines = list.output.split(separator: "\n").prefix { $0 != "gaps" }
                .filter { $0.contains("  ") }
            let shipped = try FileManager.default.contentsOfDirectory(
                atPath: Package.root.appending(path: "Scenarios").path
            ).filter { $0.hasSuffix(".scenario") }
            #expect(lines.count == shipped.count && lines.allSatisfy { $0.hasSuffix("built in") })
            let names = try await place.run("list", "--names").output.split(separator: "\n").map(String.init)
            #expect(names == shipped.map { String($0.dropLast(9)) }.sorted())
            for name in names {
                let check = try await place.run("check", name)
                #expect(check.output == "built-in:/\(name).scenario: ok\n" && check.code == 0, "\(check)")
            }
            // Plans read the photos, and this one a captured stream.
            for name in ["captured-stream", "flaky-network", "segmented-shelves"] {
                #expect(try await place.run("plan", name).code == 0, "\(name)")
            }
        }

        @Test func `it runs flaky-network with its photos`() async throws {
            let place = try Place()
            let run = try await Subprocess.run(
                place.program, ["run"] + ShortRun.arguments + ["--quiet"], folder: place.folder, seconds: 50)
            // A busy machine is not what this test is about.
            #expect(run.hasPassed, "\(run)")
            #expect(run.output.contains("24 captured = 24 completed"), "\(run)")
            let again = try await place.run("report", "Reports/latest")
            #expect(again.code == run.code && again.output.contains("flaky-network"))
        }

        @Test func `its scenarios are extended, copied and shadowed`() async throws {
            let place = try Place()
            #expect(try await place.run("new", "mine", "--from", "flaky-network").code == 0)
            #expect(try await place.run("check", "mine").output == "mine.scenario: ok\n")
            try place.write(
                "Scenarios/wider.scenario", Data("scenario: 1\nextends: captured-stream\nseed: 7\n".utf8))
            #expect(try await place.run("check", "wider").code == 0)
            #expect(try await place.run("simulate", "wider", "--quiet").code == 0)
            let captured = try await place.run("new", "stream", "--from", "captured-stream")
            #expect(captured.complaint.contains("write `extends: built-in:/captured-stream.scenario`"))
            let shadow = try await place.run("new", "flaky-network")
            #expect(
                shadow.complaint.contains(
                    "'flaky-network' now means flaky-network.scenario, and no longer built-in:/flaky-network.scenario"
                ), "\(shadow)")
            #expect(try await place.run("check", "flaky-network").output == "flaky-network.scenario: ok\n")
            let original = try await place.run("check", "built-in:/flaky-network")
            #expect(original.output == "built-in:/flaky-network.scenario: ok\n")
            let list = try await place.run("list").output.split(separator: "\n")
            #expect(list.contains { $0.hasPrefix("wider ") && $0.hasSuffix(" Scenarios/wider.scenario") })
            #expect(
                list.contains {
                    $0.hasPrefix("built-in:/flaky-network.scenario ") && $0.hasSuffix("built in")
                })
        }

        @Test func `phones take photos of a folder anywhere`() async throws {
            let place = try Place()
            let photo = try Data(contentsOf: Package.photo)
            try place.write("elsewhere/one.jpg", photo)
            try place.write("tests/mine/two.jpg", photo)
            try place.write("notes/notes.txt", Data())
            let elsewhere = place.folder.appending(path: "elsewhere").path
            try place.write(
                "tests/photos.scenario",
                Data(
                    """
                    scenario: 1
                    fleet:
                      near: {phones: 1, arrivals: 1/s, photos: mine}
                      far: {phones: 1, arrivals: 1/s, photos: [\(elsewhere), ../elsewhere/one.jpg]}
                    """.utf8))
            let plan = try await place.run("plan", "tests/photos.scenario")
            #expect(plan.code == 0 && plan.complaint.isEmpty, "\(plan)")
            #expect(plan.output.contains("1 phone, contract, 1 photo"), "\(plan)")
            #expect(plan.output.contains("1 phone, contract, 2 photos"), "\(plan)")
            #expect(try await place.run("check", "tests/photos.scenario").code == 0)
            let run = try await place.run("run", "tests/photos.scenario", "--quiet")
            #expect(run.hasPassed && run.output.contains("2 captured = 2 completed"), "\(run)")

            let set = "fleet.near.photos=../notes"
            let check = try await place.run("check", "tests/photos.scenario", "--set", set)
            #expect(check.code == 65, "\(check)")
            #expect(check.output.contains("no photos (*.jpg or *.jpeg) in tests/../notes"), "\(check)")
            let refused = try await place.run("run", "tests/photos.scenario", "--set", set)
            #expect(refused.code == 65 && refused.complaint.contains("looked for"), "\(refused)")
        }
    }
}
