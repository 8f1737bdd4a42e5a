import Foundation
import Testing

extension SideBySide {
    /// A Talaria that somebody else wrote from the contract, behind TLS and HTTP/2, and our faults in front of it.
    @Suite struct OtherBackendTests {
        /// What it has done, by its own count.
        private struct Counters: Decodable {
            var uploads, streams, results, cleanups: Int
        }

        private struct Attempts: Decodable {
            var counters: [String: Count]

            struct Count: Decodable {
                var number: Int?
                init(from decoder: any Decoder) throws {
                    self.number = try? decoder.singleValueContainer().decode(Int.self)
                }
            }

            subscript(name: String) -> Int { self.counters[name]?.number ?? 0 }
        }

        @Test func `a run against it loses nothing, every fault fires, and its counts are the summary's`()
            async throws
        {
            let backend = try await Self.start()
            let front = try await TLSFront(.good, upstream: backend.port)
            let (outcome, process) = try await ShortRun.finished(
                front.options + [
                    "--cacert", front.authority, "--seed", "7",
                    // The backend counts every request, and the phones' alone are in the summary.
                    "--set", "trial.probes=off", "--set", "trial.witness=off",
                ])
            #expect(outcome.code == 0, "\(outcome)")
            let summary = try process.report.summary()
            #expect(summary.scans.isConserved && summary.scans.lost == 0)
            #expect(summary.scans.completed == ShortRun.scans)
            for (id, count) in summary.faults {
                #expect(try #require(count.number) > 0, "\(id) never fired")
            }
            #expect(try front.requests().allSatisfy { $0[0] == "HTTP/2.0" })

            let seen = try JSONDecoder().decode(
                Counters.self,
                from: Data(try await Curl(base: backend.base).get("/_counters").body.utf8))
            let sent = try JSONDecoder().decode(
                Attempts.self, from: Data(try process.report.text("summary.json").utf8))
            let log = try process.report.log()
            func lost(_ operation: String) -> Int {
                log.count { $0.isPhone("request-failed") && $0.operation == operation }
            }
            // A request that died on the phone's link may have reached the backend or not; all others are
            // equal. The gateway answers 429 and 401 instead of the backend.
            func equal(_ seen: Int, _ sent: Int, _ operation: String) {
                let lost = lost(operation)
                #expect((sent - lost...sent).contains(seen), "\(operation): \(seen) of \(sent), \(lost) lost")
            }
            equal(seen.uploads, sent["upload.attempts"] - sent["http.429"], "upload")
            equal(
                seen.streams,
                sent["sse.connect.attempts"] + sent["sse.reconnect.attempts"] - sent["http.401"], "stream")
            equal(seen.results, sent["results.attempts"], "results")
            equal(seen.cleanups, sent["cleanup.attempts"], "cleanup")
        }

        private static func start() async throws -> ServeProcess {
            let python = Package.root.appending(path: ".build/venv/bin/python")
            try #require(
                FileManager.default.isExecutableFile(atPath: python.path),
                "there is no backend of another make: run `make test`, which installs it")
            return try await ServeProcess.start(
                python,
                [
                    Package.tests.appending(path: "Tools/talaria.py").path, "--port", "0", "--job-time",
                    "0.3..0.9", "--ping", "1", "--books", "3..8", "--seed", "7",
                ])
        }
    }
}
