import Foundation
import Testing

extension SideBySide {
    /// Phones that are the same ones in the next run, with what they had not finished.
    @Suite struct RunStateTests {
        /// The state folder, as far as the test reads it.
        private struct State {
            private struct DeviceLine: Decodable {
                var d: Int?
                var identity: String?
            }

            private struct BookLine: Decodable {
                var d, scan, ordinal: Int
            }

            let folder: URL

            /// By phone; one that was given twice is there twice.
            func identities() throws -> [Int: [String]] {
                try self.lines(of: "devices.journal", DeviceLine.self).reduce(into: [:]) { all, line in
                    guard let device = line.d, let identity = line.identity else { return }
                    all[device, default: []].append(identity)
                }
            }

            /// Phone, scan and index of every book in a library.
            func books() throws -> [[Int]] {
                try self.lines(of: "library.journal", BookLine.self).map { [$0.d, $0.scan, $0.ordinal] }
            }

            private struct ScanLine: Decodable {
                var d: Int
                var scan: Int?
                var settled: String?
            }

            /// Takes every line of one scan that no line settles out of the journal of scans.
            func removeUnsettledScan() throws -> (device: Int, scan: Int) {
                let lines = try self.lines(of: "scans.journal", ScanLine.self)
                let settled = Set(lines.filter { $0.settled != nil }.map { [$0.d, $0.scan ?? 0] })
                let left = try #require(lines.first { !settled.contains([$0.d, $0.scan ?? 0]) })
                let scan = (device: left.d, scan: try #require(left.scan))
                let path = self.folder.appending(path: "scans.journal")
                let kept = try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
                    .filter { !$0.hasPrefix("{\"d\":\(scan.device),\"scan\":\(scan.scan),") }
                try Data((kept.joined(separator: "\n") + "\n").utf8).write(to: path)
                return scan
            }

            private func lines<Line: Decodable>(of name: String, _ type: Line.Type) throws -> [Line] {
                try Data(contentsOf: self.folder.appending(path: name)).split(separator: UInt8(ascii: "\n"))
                    .map { try JSONDecoder().decode(type, from: $0) }
            }
        }

        private static let devices = 6

        private static func arguments(_ state: State, _ more: [String]) -> [String] {
            [ShortRun.scenario, "--state", state.folder.path] + ShortRun.options
                + ShortRun.objectiveOfScansAlone
                + ShortRun.set(["fleet.commuters.phones=\(Self.devices)", "fleet.commuters.arrivals=6/s"])
                + more
        }

        @Test func `a run that is interrupted is finished by the next one on its state`() async throws {
            let scratch = try Scratch()
            let state = State(folder: scratch.folder.appending(path: "state"))

            let first = try RunProcess(Self.arguments(state, []))
            try await first.waitForLog("an accepted upload") { $0.isPhone("upload-accepted") }
            first.signal(SIGINT)
            let interrupted = try await first.end(seconds: 30)
            #expect(interrupted.code == 105, "\(interrupted)")
            #expect(interrupted.complaint == SideBySide.InterruptionTests.announcement + "\n")
            let one = try first.report.summary()
            #expect(one.exit == 105 && !one.passed)
            #expect(one.scans.isConserved && one.scans.lost == 0, "\(one.scans)")
            #expect(one.scans.waiting > 0)
            #expect(try first.report.text("report.md").contains("105: interrupted"))
            let identities = try state.identities()
            #expect(identities.keys.sorted() == Array(0..<Self.devices))
            #expect(identities.values.allSatisfy { $0.count == 1 })

            // Nothing new is captured: what is done is what had been left.
            let second = try RunProcess(Self.arguments(state, ["--duration", "1ms"]))
            let finished = try await second.end(seconds: 50)
            #expect(finished.hasPassed, "\(finished)")
            let two = try second.report.summary()
            #expect(two.scans.captured == 0)
            #expect(two.scans.restored == one.scans.waiting)
            #expect(two.scans.completed == one.scans.waiting, "\(two.scans)")
            #expect(two.scans.isConserved && two.broken.isEmpty)
            #expect(two.books.duplicated == 0)
            #expect(try state.identities() == identities)

            // Every scan that was ever captured has its books, and each of them once.
            let books = try state.books()
            #expect(Set(books).count == books.count)
            #expect(books.count == one.books.received + two.books.received)
            let captured = try first.report.log().filter { $0.isPhone("captured") }
            #expect(Set(books.map { Array($0[..<2]) }) == Set(captured.map { [$0.device, $0.scan ?? 0] }))
            #expect(one.scans.completed + two.scans.completed == one.scans.captured)
        }

        @Test func `a record that is gone is told by name, also by the report of a killed run`() async throws
        {
            let scratch = try Scratch()
            let state = State(folder: scratch.folder.appending(path: "state"))
            let first = try RunProcess(Self.arguments(state, []))
            try await first.waitForLog("an accepted upload") { $0.isPhone("upload-accepted") }
            first.signal(SIGINT)
            #expect(try await first.end(seconds: 30).code == 105)
            let scan = try state.removeUnsettledScan()
            let name = "phone \(scan.device) scan \(scan.scan)"

            let killed = try RunProcess(Self.arguments(state, []))
            try await killed.waitForLog("an accepted upload") { $0.isPhone("upload-accepted") }
            killed.signal(SIGKILL)
            #expect(try await killed.end(seconds: 10).code == SIGKILL)
            let again = try await Binary.run(["report", killed.report.folder.path])
            try self.expectLoss(of: scan, in: try killed.report.summary(), again)
            #expect(try killed.report.text("report.md").contains(name))

            // It stays true, and a run that comes to its end counts the books, too.
            let last = try RunProcess(Self.arguments(state, ["--duration", "1ms"]))
            let summary = try await {
                let outcome = try await last.end(seconds: 50)
                let summary = try last.report.summary()
                try self.expectLoss(of: scan, in: summary, outcome)
                return summary
            }()
            #expect(summary.scans.isConserved, "\(summary.scans)")
            let books = summary.books
            let missing = try #require(books.missing.number)
            #expect(missing > 0 && books.expected.number == books.received + missing, "\(books)")
            #expect(try last.report.text("report.md").contains(name))
        }

        private func expectLoss(
            of scan: (device: Int, scan: Int), in summary: Summary, _ outcome: Outcome,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let name = "phone \(scan.device) scan \(scan.scan)"
            #expect(outcome.code == 97 && summary.exit == 97, "\(outcome)", sourceLocation: sourceLocation)
            let words = outcome.output.split { $0.isWhitespace }.joined(separator: " ")
            #expect(words.contains(name), "\(outcome)", sourceLocation: sourceLocation)
            #expect(summary.scans.lost == 1, sourceLocation: sourceLocation)
            #expect(summary.warnings.contains { $0.contains(name) }, sourceLocation: sourceLocation)
            let custody = summary.invariants.first { $0.id == "scan.custody" }
            #expect(custody?.violations == .known(1), sourceLocation: sourceLocation)
            #expect(custody?.first?.device == scan.device, sourceLocation: sourceLocation)
            #expect(custody?.first?.scan == scan.scan, sourceLocation: sourceLocation)
        }

        @Test func `what one run uses is nobody else's`() async throws {
            let scratch = try Scratch()
            let state = State(folder: scratch.folder.appending(path: "state"))
            let first = try RunProcess(Self.arguments(state, []))
            try await first.waitForLog("an accepted upload") { $0.isPhone("upload-accepted") }

            let second = try RunProcess(Self.arguments(state, []))
            let refused = try await second.end(seconds: 10)
            #expect(refused.code == 74, "\(refused)")
            #expect(refused.complaint.contains("another run is using \(state.folder.path)"), "\(refused)")
            #expect(refused.complaint.contains("use another folder with --state"))

            let folder = first.report.folder.path
            let over = try await Binary.run(["simulate", "flaky-network", "--output", folder])
            #expect(over.code == 74, "\(over)")
            #expect(over.complaint.contains("another run is writing to this folder"))
            let early = try await Binary.run(["report", folder])
            #expect(early.code == 65, "\(early)")
            #expect(early.complaint.contains("a run is still writing to \(folder)"))

            first.signal(SIGINT)
            #expect(try await first.end(seconds: 30).code == 105)

            // The phones of a smaller fleet are others, and would leave the rest behind.
            let small = try RunProcess(
                Self.arguments(state, ["--duration", "1ms"]) + ShortRun.set(["fleet.commuters.phones=1"]))
            let alone = try await small.end(seconds: 50)
            #expect(alone.code == 65, "\(alone)")
            #expect(
                alone.complaint.contains(
                    "is that of another fleet: commuters \(Self.devices), and this run has commuters 1"))
            let finished = try await RunProcess(Self.arguments(state, ["--duration", "1ms"])).end(seconds: 50)
            #expect(finished.hasPassed, "\(finished)")
            let books = try state.books()
            #expect(Set(books).count == books.count)
        }

        @Test
        func
            `a state folder that has lost a journal is refused, and one that has lost records names the scans`()
            async throws
        {
            let scratch = try Scratch()
            let state = State(folder: scratch.folder.appending(path: "state"))
            let first = try RunProcess(Self.arguments(state, ["--threads", "2"]))
            try await first.waitForLog("an accepted upload") { $0.isPhone("upload-accepted") }
            first.signal(SIGKILL)
            _ = try await first.end(seconds: 30)
            let whole = scratch.folder.appending(path: "whole")
            try FileManager.default.copyItem(at: state.folder, to: whole)
            func damaged(_ damage: (URL) throws -> Void) async throws -> Outcome {
                try FileManager.default.removeItem(at: state.folder)
                try FileManager.default.copyItem(at: whole, to: state.folder)
                try damage(state.folder)
                return try await RunProcess(Self.arguments(state, ["--duration", "1ms"])).end(seconds: 50)
            }
            for suffix in ["", "-0.1"] {
                let names = ["devices\(suffix).journal", "scans\(suffix).journal"]
                let gone = try await damaged { folder in
                    for name in names { try FileManager.default.removeItem(at: folder.appending(path: name)) }
                }
                #expect(gone.code == 65 && gone.complaint.contains("\(names[0]) is missing"), "\(gone)")
                let empty = try await damaged { folder in
                    for name in names { try Data().write(to: folder.appending(path: name)) }
                }
                #expect(empty.code == 65 && empty.complaint.contains("\(names[0]) has 0 of "), "\(empty)")
            }
            let lost = try await damaged { try Data().write(to: $0.appending(path: "scans.journal")) }
            #expect(lost.code == 97, "\(lost)")
            let words = lost.output.split { $0.isWhitespace }.joined(separator: " ")
            #expect(words.contains("scans.journal has 0 of "), "\(lost)")
            let torn = try await damaged {
                try Data("?".utf8).write(to: $0.appending(path: "manifest.ndjson"))
            }
            #expect(torn.code == 65 && torn.complaint.contains("manifest.ndjson is damaged"), "\(torn)")
        }

        @Test func `a phone calls itself what its state says, whatever the seed`() async throws {
            let scratch = try Scratch()
            let state = State(folder: scratch.folder.appending(path: "state"))
            var seen: [Set<String>] = []
            for seed in ["1", "2"] {
                let server = try await HostileServer(.html)
                let run = try RunProcess(
                    Self.arguments(state, ["--target", server.process.base, "--seed", seed])
                        + ShortRun.set(["drain=1s", "fleet.commuters.scans=1", "faults=[]"]))
                let outcome = try await run.end(seconds: 20)
                #expect(outcome.code == 99, "\(outcome)")
                #expect(try run.report.text("report.md").contains("**no scan was completed: "))
                // The request before any load belongs to no phone.
                seen.append(Set(try server.requests().filter { $0[0] == "POST" }.map { $0[2] }))
                #expect(await server.process.end() == 0)
            }
            let known = Set(try state.identities().values.joined())
            #expect(known.count == Self.devices)
            #expect(!seen[0].isEmpty && !seen[1].isEmpty)
            #expect(seen[0].union(seen[1]).isSubset(of: known))
        }
    }
}
