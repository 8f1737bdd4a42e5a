import Foundation
import Testing

extension SideBySide {
    /// What a kill behind each record costs a phone whose books wait for their person, in both worlds.
    @Suite struct ReviewKillTests {
        /// More than a phone makes for one scan of four books and their review.
        private static let records = 24
        private static let profiles = [
            (prefix: "contract", keys: ""),
            (prefix: "head", keys: ", profile: swiftwing-head, quirk-11: off, quirk-16: off"),
        ]

        private static var scenario: String {
            let phones = Self.profiles.flatMap { profile in
                (1...Self.records).map { (name: "\(profile.prefix)-\($0)", keys: profile.keys, record: $0) }
            }
            let groups = phones.map { phone in
                """
                  \(phone.name): {phones: 1, scans: 1, network: wifi, think: 1s, start: 200ms,\
                 photos: {paint: 1, size: 320x240},\
                 review: {approve: 50%, edit: 40%, reject: 10%, after: 400ms..3s}\(phone.keys)}
                """
            }
            let kills = phones.map {
                "  - {do: kill, id: kill-\($0.name), after: \($0.record) records, for: 300ms, scope: \($0.name)}"
            }
            return """
                scenario: 1
                name: review-kills
                seed: 5
                drain: 30s
                fleet:
                \(groups.joined(separator: "\n"))
                server: {books: 4, job-time: 1s, ping: 500ms, rate-limit: off}
                faults:
                \(kills.joined(separator: "\n"))
                slo: {cleanup.unfinished: count <= \(phones.count)}

                """
        }

        private struct Kills: Decodable {
            struct Group: Decodable {
                struct Books: Decodable {
                    let reviewed: Int
                    let review_lost: Int
                    let review_approved: Int
                    let review_rejected: Int
                }

                let books: Books
            }

            let groups: [String: Group]
            let faults: [String: Int]
        }

        private func kills(_ report: RunReport) throws -> Kills {
            try JSONDecoder().decode(Kills.self, from: Data(try report.text("summary.json").utf8))
        }

        @Test func `a kill costs nothing where the review is durable, and what waits where it is in memory`()
            async throws
        {
            let scratch = try Scratch()
            let file = scratch.folder.appending(path: "kills.scenario")
            try Self.scenario.write(to: file, atomically: true, encoding: .utf8)
            let simulated = RunReport(folder: scratch.folder.appending(path: "simulated"))
            let outcome = try await Subprocess.run(
                Binary.path, ["simulate", file.path, "--output", simulated.folder.path, "--quiet"],
                seconds: 60)
            try #require(outcome.code == 0, "\(outcome)")
            try self.expectKills(in: try self.kills(simulated))
            // The moments of the kills and of the decisions are half a second apart, which a busy machine may not keep.
            var attempt = 1
            while true {
                let process = try RunProcess([file.path])
                let live = try await process.end(seconds: 90)
                try #require(live.hasPassed, "\(live)")
                let kills = try self.kills(process.report)
                guard attempt < 3, try self.lostByHead(kills) != Self.lost else {
                    return try self.expectKills(in: kills)
                }
                attempt += 1
            }
        }

        /// All that waits, and with each decision one less.
        private static let lost = [4, 4, 3, 2, 1]

        private func lostByHead(_ kills: Kills) throws -> [Int] {
            try (1...Self.records).map { try #require(kills.groups["head-\($0)"]).books.review_lost }.filter {
                $0 > 0
            }
        }

        private func expectKills(in kills: Kills) throws {
            for record in 1...Self.records {
                let durable = try #require(kills.groups["contract-\(record)"]).books
                #expect(durable.review_lost == 0, "record \(record)")
                #expect(durable.review_approved + durable.review_rejected == 4, "record \(record)")
                let head = try #require(kills.groups["head-\(record)"]).books
                #expect(head.review_lost + head.review_approved + head.review_rejected == 4)
            }
            #expect(try self.lostByHead(kills) == Self.lost)
            #expect(kills.faults["kill-contract-22"] == 1 && kills.faults["kill-contract-24"] == 0)
        }
    }
}
