import Foundation
import Testing

extension SideBySide {
    /// Values of `--header` that are in no list of processes, and in no file of a run.
    @Suite struct HeaderSecretTests {
        private static func run(_ front: TLSFront, _ more: [String]) throws -> RunProcess {
            try RunProcess(
                [ShortRun.scenario] + ShortRun.options
                    + ShortRun.set(["faults=[]", "fleet.commuters.preprocess=once"])
                    + ShortRun.objectiveOfScansAlone + front.options + ["--cacert", front.authority] + more)
        }

        @Test(arguments: [[], ["--processes", "2"]])
        func `a secret of a file reaches the target, and nobody else`(more: [String]) async throws {
            let serve = try await ServeProcess.start([])
            let front = try await TLSFront(.good, upstream: serve.port)
            let scratch = try Scratch()
            let file = try scratch.file("gateway", Data("X-Gateway-Key: hush-hush\n\nX-Other: b: c\r\n".utf8))
            let run = try Self.run(front, ["--header", "@\(file.path)"] + more)
            var seen: [ProcessLine] = []
            let isUnderWay = try await Patience.until(seconds: 40) {
                seen = try await ProcessLine.all().filter { $0.command.contains(front.authority) }
                return try front.requests().count > 5
            }
            #expect(isUnderWay && seen.count >= (more.isEmpty ? 1 : 3), "\(seen)")
            #expect(seen.allSatisfy { !$0.command.contains("hush-hush") })
            let outcome = try await run.end(seconds: 60)
            #expect(try run.report.summary().scans.completed == ShortRun.scans, "\(outcome)")
            #expect(try front.requests().allSatisfy { $0[4] == "hush-hush" })
            try Self.expect("hush-hush", isNotIn: run, outcome)
            #expect(try run.report.text("report.md").contains("--header @\(file.path)"), "\(outcome)")
        }

        @Test func `a literal secret is not handed on to the processes on their command lines`() async throws
        {
            let serve = try await ServeProcess.start([])
            let front = try await TLSFront(.good, upstream: serve.port)
            let run = try Self.run(front, ["--header", "X-Gateway-Key: hush-hush", "--processes", "2"])
            var children: [ProcessLine] = []
            let isUnderWay = try await Patience.until(seconds: 40) {
                children = try await ProcessLine.all().filter { $0.parent == run.number }
                return children.count == 2
            }
            #expect(isUnderWay && children.allSatisfy { !$0.command.contains("hush-hush") }, "\(children)")
            let outcome = try await run.end(seconds: 60)
            #expect(try front.requests().count > 5 && front.requests().allSatisfy { $0[4] == "hush-hush" })
            try Self.expect("hush-hush", isNotIn: run, outcome)
            #expect(
                try run.report.text("report.md").contains("--header 'X-Gateway-Key: (left-out)'"),
                "\(outcome)")
        }

        @Test func `a variable of the environment is named in the report, and its value is not`() async throws
        {
            let serve = try await ServeProcess.start([])
            let front = try await TLSFront(.good, upstream: serve.port)
            let run = try Self.run(front, ["--header", "X-Gateway-Key: ${TMPDIR}"])
            let outcome = try await run.end(seconds: 50)
            #expect(try front.requests().count > 5)
            #expect(try front.requests().allSatisfy { $0[4] == run.folder.folder.path })
            #expect(
                try run.report.text("report.md").contains("--header 'X-Gateway-Key: ${TMPDIR}'"), "\(outcome)"
            )
        }

        @Test(arguments: [
            ("X-A: ${NOT_SET_ANYWHERE}", 64, "the environment variable `NOT_SET_ANYWHERE` is not set"),
            ("X-A: ${", 64, "without a closing"), ("@/nowhere/at/all", 66, "cannot read /nowhere/at/all"),
            ("@/dev/zero", 66, "it is not a file"), ("hush-hush", 64, "--header expects 'Name: value'"),
        ]) func `what is no header is refused, without its text`(header: String, code: Int32, says: String)
            async throws
        {
            let outcome = try await Binary.run(
                ["run", "flaky-network", "--target", "http://127.0.0.1:9", "--header", header])
            #expect(outcome.code == code && outcome.complaint.contains(says), "\(outcome)")
            #expect(!outcome.complaint.contains("hush-hush"))
        }

        private static func expect(_ secret: String, isNotIn run: RunProcess, _ outcome: Outcome) throws {
            #expect(!outcome.output.contains(secret) && !outcome.complaint.contains(secret), "\(outcome)")
            let folder = run.report.folder
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            #expect(names.count > 8)
            for name in names {
                let data = (try? Data(contentsOf: folder.appending(path: name))) ?? Data()
                #expect(data.range(of: Data(secret.utf8)) == nil, "\(name)")
            }
        }
    }
}
