import Foundation
import Testing

extension SideBySide {
    /// The scenario that is named by the first sentence of the design, shortened: nothing is lost, and what is judged is
    /// what happened.
    @Suite struct FlakyNetworkRunTests {
        // MARK: Nothing is lost

        @Test func `every fault fires, and no scan is lost`() async throws {
            let (outcome, process) = try await ShortRun.standard()
            #expect(outcome.code == 0, "\(outcome)")
            let summary = try process.report.summary()
            #expect(summary.passed && summary.exit == 0)
            #expect(
                summary.faults.keys.sorted()
                    == ["expire-token-1", "offline-1", "rate-limit-1", "reset-1", "strip-books-1"])
            for (id, count) in summary.faults {
                #expect(try #require(count.number) > 0, "\(id) never fired")
            }
            let scans = summary.scans
            #expect(scans.captured == ShortRun.scans && scans.restored == 0)
            #expect(scans.isConserved, "\(scans)")
            #expect(scans.lost == 0)
            #expect(scans.completed * 100 >= scans.captured * 95, "\(scans)")
            #expect(summary.broken.isEmpty)
            #expect(summary.invariants.count == 13)
        }

        @Test func `a lost stream is resumed with the id of the last event`() async throws {
            let (_, process) = try await ShortRun.standard()
            let resumed = try process.report.summary().disconnections.reduce(0) { $0 + $1.resumed }
            #expect(resumed > 0)
            let log = try process.report.log()
            let asked = log.filter { $0.isPhone("request-sent") && $0.last_event_id != nil }
            #expect(asked.count >= resumed)
            #expect(asked.allSatisfy { $0.operation == "stream" })
        }

        @Test func `the run leaves its four files, and the resolved scenario is good`() async throws {
            let (outcome, process) = try await ShortRun.standard()
            let files = RunReport.names
            #expect(process.report.files == files)
            #expect(files.allSatisfy(outcome.output.contains))
            let resolved = process.report.folder.appending(path: "scenario.resolved").path
            let check = try await Binary.run(["check", resolved])
            #expect(check == Outcome(code: 0, output: "\(resolved): ok\n", complaint: ""))
            let left = try FileManager.default.contentsOfDirectory(atPath: process.folder.folder.path)
            #expect(
                left.sorted() == ["Images", "complaint", "output", "report"],
                "temporary state went with the run")
        }

        // MARK: What the server saw

        @Test func `every phone has connections of its own`() async throws {
            let (_, process) = try await ShortRun.standard()
            let requests = try process.report.log().filter { $0.isBackend("requested") }
            let owners = Dictionary(grouping: requests) { $0.connection }
                .mapValues { Set($0.map(\.device)) }
            #expect(owners[nil] == nil)
            #expect(owners.values.allSatisfy { $0.count == 1 }, "\(owners.filter { $0.value.count > 1 })")
            #expect(owners.values.reduce(into: Set()) { $0.formUnion($1) }.count == ShortRun.devices)
            // And they are used again: a phone does not connect for every request.
            #expect(owners.count < requests.count)
        }

        @Test func `no request reaches the server that the phone did not send, and none twice`() async throws
        {
            let (_, process) = try await ShortRun.standard()
            let log = try process.report.log()
            let sent = log.filter { $0.isPhone("request-sent") }.map(\.exchange)
            let seen = log.filter { $0.isBackend("requested") }.map(\.exchange)
            #expect(seen.count > ShortRun.scans * 3)
            #expect(Set(seen).count == seen.count)
            #expect(Set(sent).count == sent.count)
            #expect(Set(seen).isSubset(of: Set(sent)))
            let jobs = log.filter { $0.isBackend("accepted") }
            let accepted = log.filter { $0.isBackend("answered") && $0.status == 202 }.map(\.exchange)
            #expect(Set(accepted).count == accepted.count)
            #expect(jobs.count == accepted.count)
            #expect(Set(jobs.compactMap(\.job)).count == jobs.count)
        }

        // MARK: What a worse client does

        @Test func `a client that does not resume is found out`() async throws {
            let (outcome, process) = try await ShortRun.finished(
                ShortRun.set(["fleet.commuters.resume=off"]))
            try self.expectBroken(
                outcome, process, always: ["stream.id-monotone"],
                among: ["stream.id-monotone", "stream.no-gap"])
        }

        @Test func `a client that does not clean up is found out`() async throws {
            let (outcome, process) = try await ShortRun.finished(
                ShortRun.set(["fleet.commuters.cleanup=off"]))
            try self.expectBroken(outcome, process, always: ["job.cleaned"], among: ["job.cleaned"])
        }

        private func expectBroken(
            _ outcome: Outcome, _ process: RunProcess, always: Set<String>, among: Set<String>,
            location: SourceLocation = #_sourceLocation
        ) throws {
            let summary = try process.report.summary()
            #expect(outcome.code == 97, sourceLocation: location)
            #expect(summary.exit == 97 && !summary.passed, sourceLocation: location)
            let broken = Set(summary.broken.map(\.id))
            #expect(broken.isSuperset(of: always) && broken.isSubset(of: among), sourceLocation: location)
            let markdown = try process.report.text("report.md")
            for invariant in summary.broken {
                let first = try #require(invariant.first, sourceLocation: location)
                #expect(
                    (0..<ShortRun.devices).contains(first.device) && !first.text.isEmpty,
                    sourceLocation: location)
                #expect(outcome.output.contains("✗ \(invariant.id)"), sourceLocation: location)
                #expect(
                    outcome.output.contains("phone \(first.device), scan "), sourceLocation: location)
                #expect(markdown.contains(invariant.id), sourceLocation: location)
            }
            #expect(summary.scans.isConserved && summary.scans.lost == 0, sourceLocation: location)
        }

        // MARK: The seed

        private struct Decision: Hashable {
            var fault: String?
            var exchange: LogLine.Exchange
        }

        @Test func `two runs of a seed decide alike wherever both come`() async throws {
            let (_, one) = try await ShortRun.standard()
            let (_, other) = try await ShortRun.finished([])
            let (oneLog, otherLog) = (try one.report.log(), try other.report.log())
            let (first, second) = (try Self.decisions(oneLog), try Self.decisions(otherLog))
            let common = first.keys.filter { second[$0] != nil }
            let different = common.filter { first[$0] != second[$0] }
            #expect(different.isEmpty)
            // Only those that chance decides say anything.
            let drawn = common.filter { $0.fault != "rate-limit-1" }
            #expect(drawn.count > 50)
            #expect(Set(drawn.map { first[$0] }) == [true, false])

            #expect(Self.captures(oneLog) == Self.captures(otherLog))
            #expect(Self.captures(oneLog).count == ShortRun.scans)
            let offline = Self.offlinePhones(oneLog)
            #expect(offline == Self.offlinePhones(otherLog))
            #expect(!offline.isEmpty && offline.count < ShortRun.devices)
        }

        private static func decisions(_ log: [LogLine]) throws -> [Decision: Bool] {
            var decisions: [Decision: Bool] = [:]
            for line in log where line.isFault("decided") {
                let key = Decision(fault: line.fault, exchange: line.exchange)
                let isFirst = decisions.updateValue(line.fires == true, forKey: key) == nil
                try #require(line.fires != nil && isFirst)
            }
            return decisions
        }

        /// Whose they are and when they were due.
        private static func captures(_ log: [LogLine]) -> [[Int64]] {
            log.filter { $0.isPhone("captured") }
                .map { [$0.scheduled_ns ?? -1, Int64($0.device), Int64($0.scan ?? -1)] }
                .sorted { $0.lexicographicallyPrecedes($1) }
        }

        private static func offlinePhones(_ log: [LogLine]) -> Set<Int> {
            Set(log.filter { $0.isFault("began") && $0.fault == "offline-1" }.map(\.device))
        }
    }
}
