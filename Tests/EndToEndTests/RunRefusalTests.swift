import Foundation
import Testing

extension SideBySide {
    /// Everything that can be wrong before a run starts is said before it starts, and leaves nothing behind.
    @Suite struct RunRefusalTests {
        /// Arguments, the code, and what the complaint says. `FILE` is a file, where folders cannot be.
        private static let cases: [(arguments: [String], code: Int32, says: [String])] = [
            (
                ["Tests/EndToEndTests/Fixtures/broken.scenario"], 65,
                [
                    "broken.scenario:2:11: unknown version", "did you mean `fleet`?",
                    "the number of phones must be a number from 1 to", "unknown profile `contrct`",
                    "unknown link `ltee`", "the key `commuters` is given twice",
                ]
            ),
            (["nowhere"], 66, ["no scenario `nowhere`\n"]),
            (
                ["flaky-network", "--set", "fleet.commuters.photos=nowhere"], 66,
                ["no photos 'nowhere'"]
            ),
            (["flaky-network", "--output", "FILE/run"], 74, ["cannot write ", "FILE/run: Not a directory"]),
            (["flaky-network", "--state", "FILE/state"], 74, ["cannot use the state folder: "]),
            (
                ["flaky-network", "--phones", "500000"], 104,
                ["500000 phones need ", " file descriptors, but the limit is "]
            ),
            (["flaky-network", "--phnoes", "5"], 64, ["did you mean '--phones'?"]),
            (["flaky-network", "--phones", "none"], 64, ["--phones"]),
            (["flaky-network", "--target", "nonsense"], 64, ["--target expects an http or https URL"]),
            (["flaky-network", "--cacert", "ca.pem"], 64, ["--cacert requires --target"]),
            (["flaky-network", "--http", "2"], 64, ["--http requires --target"]),
            (
                ["flaky-network", "--target", "http://127.0.0.1:9", "--http", "2"], 64,
                ["--http 2 requires an https URL"]
            ),
            (
                ["flaky-network", "--target", "https://127.0.0.1:9", "--http", "3"], 64,
                ["--http expects 1.1 or 2, not '3'"]
            ),
            (
                ["flaky-network", "--target", "http://someone:hush@127.0.0.1"], 64,
                ["does not accept a user name or password in the URL"]
            ),
            (
                ["flaky-network", "--target", "http://127.0.0.1:9", "--header", "hush"], 64,
                ["--header expects 'Name: value'"]
            ),
            (
                ["flaky-network", "--target", "http://127.0.0.1:9", "--header", "Host: hush"], 64,
                ["--header cannot set 'Host': the phones send this header themselves"]
            ),
            (
                ["flaky-network", "--target", "https://127.0.0.1:9", "--cacert", "nowhere.pem"], 66,
                ["cannot read the certificate authorities in nowhere.pem"]
            ),
            (
                ["flaky-network", "--target", "http://a.test:80", "--resolve", "a.test:81:127.0.0.1"], 64,
                ["--resolve is for a.test:81, but the target is a.test:80"]
            ),
            (
                ["flaky-network", "--target", "http://a.test:80", "--resolve", "a.test:80:b.test"], 64,
                ["--resolve expects a numeric address"]
            ),
            (["flaky-network", "--max-rate", "5"], 64, ["--max-rate '5': a rate needs a unit"]),
            (
                ["steady-load", "--max-rate", "5/s"], 64, ["in a closed model the backend sets the rate"]
            ),
            ([], 64, []),
        ]

        @Test(arguments: cases) func `what cannot run is refused with its code and leaves nothing`(
            arguments: [String], code: Int32, says: [String]
        ) async throws {
            try await self.expectRefusal(arguments, code: code, says: says)
        }

        @Test func `a dead target is found before any load`() async throws {
            // A port that was in use a moment ago, and is not now.
            let base = try await ServeProcess.during([]) { $0.base }
            try await self.expectRefusal(
                ["flaky-network", "--target", base], code: 69,
                says: ["the target \(base) does not answer: ", "only this one request was sent"])
        }

        private func expectRefusal(_ arguments: [String], code: Int32, says: [String]) async throws {
            let scratch = try Scratch()
            let file = try scratch.file("file")
            let temporary = scratch.folder.appending(path: "temporary")
            try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
            let output =
                arguments.contains("--output")
                ? [] : ["--output", scratch.folder.appending(path: "report").path]
            let outcome = try await Subprocess.run(
                Binary.path,
                ["run"] + arguments.map { $0.replacing("FILE", with: file.path) } + output + ["--quiet"],
                environment: Subprocess.environment.merging(["TMPDIR": temporary.path]) { $1 })
            #expect(outcome.code == code)
            #expect(outcome.output == "")
            #expect(!outcome.complaint.isEmpty)
            for text in says {
                let expected = text.replacing("FILE", with: file.path)
                #expect(outcome.complaint.contains(expected), "\(outcome.complaint)")
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
            #expect(left.sorted() == ["file", "temporary"], "no report of a run that never was")
            let temporaries = try FileManager.default.contentsOfDirectory(atPath: temporary.path)
            #expect(temporaries == [], "no state of phones that never were")
        }

        // MARK: Photographs

        /// A folder with `Images/mixed`, which holds these files.
        private func folder(with photos: [String: Data]) throws -> Scratch {
            let scratch = try Scratch()
            let images = scratch.folder.appending(path: "Images/mixed")
            try FileManager.default.createDirectory(at: images, withIntermediateDirectories: true)
            for (name, bytes) in photos { try bytes.write(to: images.appending(path: name)) }
            return scratch
        }

        private func run(in folder: Scratch) async throws -> Outcome {
            try await Subprocess.run(
                Binary.path,
                ["run", ShortRun.scenario, "--output", "report", "--quiet", "--no-color"]
                    + ShortRun.options + ShortRun.objectiveOfScansAlone
                    + ShortRun.set([
                        "fleet.commuters.photos=mixed", "fleet.commuters.phones=2",
                        "fleet.commuters.scans=1",
                        "faults=[]",
                    ]),
                folder: folder.folder, seconds: 40)
        }

        @Test func `a folder without photographs is refused`() async throws {
            let text = Data("no photograph".utf8)
            let folder = try self.folder(with: ["README.txt": text])
            let none = try await self.run(in: folder)
            #expect(none.code == 65)
            let reason = "no photos (*.jpg or *.jpeg) in Images/mixed"
            #expect(none.complaint.contains(reason), "\(none.complaint)")
            #expect(none.complaint.contains("looked for "), "\(none.complaint)")
            let broken = try await self.run(in: try self.folder(with: ["broken.jpg": text]))
            #expect(broken.code == 65)
            #expect(broken.complaint.contains("Images/mixed: "), "\(broken.complaint)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.folder.path) == ["Images"])
        }

        @Test func `a broken photograph is named and passed over`() async throws {
            let good = try Data(contentsOf: Package.photo)
            let folder = try self.folder(
                with: ["good.jpg": good, "broken.jpg": good.prefix(3_000), "text.jpeg": Data("text".utf8)])
            let outcome = try await self.run(in: folder)
            #expect(outcome.hasPassed, "\(outcome)")
            #expect(outcome.output.contains("photo skipped: broken.jpg: "))
            #expect(outcome.output.contains("photo skipped: text.jpeg: "))
            #expect(!outcome.output.contains("good.jpg"))
            let report = RunReport(folder: folder.folder.appending(path: "report"))
            let summary = try report.summary()
            #expect(summary.scans.completed == 2 && summary.scans.isConserved)
            #expect(try report.text("report.md").contains("photo skipped: broken.jpg: "))
        }
    }
}
