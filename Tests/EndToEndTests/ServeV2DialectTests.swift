import Foundation
import Testing

extension SideBySide {
    /// `serve` with each switch of v2, as `curl` sees it.
    @Suite struct ServeV2DialectTests {
        private struct Started: Decodable {
            struct Job: Decodable {
                let jobId: String
                let authToken: String?
                let token: String?
                let sseUrl: String
                let statusUrl: String
            }

            let success: Bool?
            let data: Job
        }

        private static let quick = ["--set", "server.job-time=2s"]

        private static func options(_ changes: String...) -> [String] {
            Self.quick + changes.flatMap { ["--set", $0] }
        }

        private func upload(_ phone: Curl) async throws -> Reply {
            try await phone.get(
                "/api/batch-scan", ["-F", "photos=@\(Package.photo.path);type=image/jpeg", "-X", "POST"])
        }

        private func start(_ phone: Curl) async throws -> Started {
            let reply = try await self.upload(phone)
            try #require(reply.status == 202, "\(reply.body)")
            return try reply.decoded(Started.self)
        }

        /// A job that has completed, and a phone with its token.
        private func complete(_ serve: ServeProcess) async throws -> (
            phone: Curl, job: Started.Job, stream: Reply
        ) {
            var phone = Curl(base: serve.base)
            let job = try await self.start(phone).data
            phone.token = job.authToken ?? job.token
            return (phone, job, try await phone.get(job.sseUrl, ["-N"]))
        }

        @Test func `results live as long as the scenario says`() async throws {
            try await ServeProcess.during(Self.options("server.v2.results-lifetime=4s")) { serve in
                let (phone, job, _) = try await self.complete(serve)
                #expect(try await phone.get("\(job.statusUrl)/results").status == 200)
                try await Task.sleep(for: .milliseconds(4_100))
                let over = try await phone.get("\(job.statusUrl)/results")
                #expect(over.status == 404 && over.body.contains(#""code":"NOT_FOUND""#))
            }
        }

        @Test(arguments: [("bearer", 200, 401), ("query", 401, 200), ("either", 200, 200)])
        func `a stream has its token where the scenario says`(place: String, header: Int, query: Int)
            async throws
        {
            try await ServeProcess.during(Self.options("server.v2.stream-auth=\(place)")) { serve in
                var phone = Curl(base: serve.base)
                let job = try await self.start(phone).data
                #expect(
                    try await phone.get("\(job.sseUrl)?token=\(job.authToken ?? "")", ["-N"]).status == query)
                phone.token = job.authToken
                #expect(try await phone.get(job.sseUrl, ["-N"]).status == header)
            }
        }

        @Test func `events have dotted names`() async throws {
            try await ServeProcess.during(Self.options("server.v2.event-names=dotted")) { serve in
                let (_, job, stream) = try await self.complete(serve)
                #expect(stream.body.contains("event: photoscan.progress\n"))
                #expect(stream.body.contains("event: photoscan.completed\n"))
                #expect(!stream.body.contains("event: processing\n"))
                #expect(stream.body.contains(#""resultsUrl":"/api/v2/scans/\#(job.jobId)/results""#))
            }
        }

        @Test func `a stream that polls brings the state at its looks`() async throws {
            try await ServeProcess.during(Self.options("server.v2.progress=poll")) { serve in
                let (_, _, stream) = try await self.complete(serve)
                // A job of 2 s has 6 to 11 events, and its stream looks three times.
                let names = StreamEvent.all(in: stream.body).map(\.name)
                #expect(names.last == "completed" && (2...5).contains(names.count), "\(names)")
            }
        }

        @Test func `answers have no success`() async throws {
            try await ServeProcess.during(Self.options("server.v2.envelope=plain")) { serve in
                let phone = Curl(base: serve.base)
                #expect(try await self.start(phone).success == nil)
                let error = try await phone.get("/api/v2/scans/scan_x/results")
                #expect(error.status == 401 && error.body.hasPrefix(#"{"error":"#))
                #expect(!error.body.contains("success"))
            }
        }

        @Test(arguments: [("auth-token", true, false), ("token", false, true)])
        func `the token has one name`(names: String, isNew: Bool, isOld: Bool) async throws {
            try await ServeProcess.during(Self.options("server.v2.tokens=\(names)")) { serve in
                let job = try await self.start(Curl(base: serve.base)).data
                #expect((job.authToken != nil) == isNew && (job.token != nil) == isOld)
            }
        }

        @Test func `an open circuit refuses uploads for what is left of its cooldown`() async throws {
            let options = Self.options(
                "server.circuit-breaker={failures: 1, cooldown: 60s}",
                "faults=[{do: retryable-error, on: stream, code: PROVIDER_ERROR}]")
            try await ServeProcess.during(options) { serve in
                let (phone, _, stream) = try await self.complete(serve)
                #expect(stream.body.contains("event: failed\n"))
                let refused = try await self.upload(phone)
                #expect(refused.status == 503 && refused.body.contains(#""code":"CIRCUIT_OPEN""#))
                struct Body: Decodable {
                    struct Failure: Decodable {
                        struct Details: Decodable { let retryAfterMs: Int }
                        let details: Details
                    }
                    let error: Failure
                }
                let wait = try refused.decoded(Body.self).error.details.retryAfterMs
                #expect((50_000...60_000).contains(wait))
                #expect(refused.headers["retry-after"] == String((wait + 999) / 1_000))
                // Scans of v3 go on.
                #expect(try await phone.upload([Curl.photo]).status == 202)
            }
        }

        @Test func `a form with a second part is told what is wrong`() async throws {
            let csv = FileManager.default.temporaryDirectory.appending(path: "two-\(UUID()).csv")
            try Data("Title\nEmma\n".utf8).write(to: csv)
            defer { try? FileManager.default.removeItem(at: csv) }
            try await ServeProcess.during([]) { serve in
                let reply = try await Curl(base: serve.base).get(
                    "/api/v2/imports",
                    ["-F", "file=@\(csv.path);type=text/csv", "-F", "note=1", "-X", "POST"])
                #expect(reply.status == 400)
                #expect(reply.body.contains("The upload must have one part, file, and no other."))
            }
        }
    }
}
