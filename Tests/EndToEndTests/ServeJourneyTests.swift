import Foundation
import Testing

extension EndToEnd {
    /// `serve` on its good days, as `curl` sees it.
    @Suite struct ServeJourneyTests {
        private static let quick = ["--set", "server.job-time=300ms..500ms"]

        @Test func `a photo becomes books: upload, stream, status, results, cleanup`() async throws {
            try await ServeProcess.during(Self.quick) { serve in
                var phone = Curl(base: serve.base)
                let accepted = try await self.upload(phone)
                phone.token = accepted.authToken
                let job = accepted.jobId

                let stream = try await phone.stream(job)
                #expect(stream.status == 200)
                #expect(stream.headers["content-type"] == "text/event-stream")
                #expect(stream.headers["cache-control"] == "no-cache, no-store, must-revalidate")
                #expect(stream.headers["x-accel-buffering"] == "no")
                #expect(stream.body.hasPrefix(": connection established\n"))
                let completed = try self.checked(StreamEvent.all(in: stream.body), of: job)
                let books = try #require(completed.books)
                #expect((3...8).contains(books.count))

                let status = try await phone.get(accepted.statusUrl)
                #expect(status.status == 200)
                #expect(
                    try status.decoded(Status.self)
                        == Status(
                            success: true,
                            data: .init(
                                jobId: job, status: "completed", progress: 1, processedCount: books.count,
                                totalCount: books.count)))

                let results = try await phone.get(completed.resultsUrl + "?format=lite")
                #expect(results.status == 200)
                #expect(results.headers["content-type"] == "application/json")
                #expect(
                    try results.decoded(Results.self)
                        == Results(
                            success: true, data: .init(jobId: job, status: "completed", results: books)))

                let cleanup = try await phone.delete("/v3/jobs/scans/\(job)/cleanup")
                #expect(cleanup.status == 204)
                #expect(cleanup.body.isEmpty)
            }
        }

        @Test func `a client follows a job by its status alone`() async throws {
            try await ServeProcess.during(["--set", "server.job-time=2s..3s"]) { serve in
                var phone = Curl(base: serve.base)
                let accepted = try await self.upload(phone)
                phone.token = accepted.authToken
                var seen: [String] = []
                while seen.last != "completed", seen.count < 8 {
                    let reply = try await phone.get(accepted.statusUrl)
                    try #require(reply.status == 200, "\(reply.body)")
                    seen.append(try reply.decoded(Status.self).data.status)
                    let early = try await phone.get(accepted.statusUrl)
                    #expect(early.status == 429 && early.headers["retry-after"] == "2")
                    try await Task.sleep(for: .milliseconds(2_050))
                }
                #expect(seen.first == "initialized" && seen.last == "completed")
                let results = try await phone.get("\(accepted.statusUrl)/results?format=lite")
                #expect((3...8).contains(try results.decoded(Results.self).data.results.count))
                #expect(try await phone.delete("\(accepted.statusUrl)/cleanup").status == 204)
                #expect(try await phone.get(accepted.statusUrl).status == 410)
            }
        }

        @Test func `the server describes its API as the file in Docs does`() async throws {
            try await ServeProcess.during(Self.quick) { serve in
                let answer = try await Curl(base: serve.base).get("/openapi.yaml")
                #expect(answer.status == 200 && answer.headers["content-type"] == "application/yaml")
                let file = Package.root.appending(path: "Docs/talaria-openapi.yaml")
                #expect(answer.body == (try String(contentsOf: file, encoding: .utf8)))
            }
        }

        @Test func `a cleaned job is gone, and may be cleaned again`() async throws {
            try await ServeProcess.during(Self.quick) { serve in
                var phone = Curl(base: serve.base)
                let accepted = try await self.upload(phone)
                phone.token = accepted.authToken
                let path = "/v3/jobs/scans/\(accepted.jobId)"
                _ = try await phone.stream(accepted.jobId)

                for _ in 1...2 { #expect(try await phone.delete(path + "/cleanup").status == 204) }
                for path in [path + "/stream", path + "/results?format=lite", path] {
                    expectProblem(try await phone.get(path), 410, "GONE", retryable: false, at: path)
                }
            }
        }

        @Test func `a stream that is resumed brings exactly what came later`() async throws {
            try await ServeProcess.during(Self.quick) { serve in
                var phone = Curl(base: serve.base)
                let accepted = try await self.upload(phone)
                phone.token = accepted.authToken
                let all = StreamEvent.all(in: try await phone.stream(accepted.jobId).body)
                let middle = all.count / 2
                let id = try #require(all[middle].id)

                let resumed = try await phone.stream(accepted.jobId, after: id)

                #expect(resumed.status == 200)
                #expect(resumed.body.hasPrefix(": reconnected from event \(id)\n"))
                #expect(StreamEvent.all(in: resumed.body) == Array(all[(middle + 1)...]))

                let ended = try await phone.stream(accepted.jobId, after: all.last?.id)
                #expect(
                    StreamEvent.all(in: ended.body) == [all[all.count - 1]],
                    "no client is left without an end")
                let fresh = try await phone.stream(accepted.jobId)
                #expect(StreamEvent.all(in: fresh.body) == [all[all.count - 1]], "the current state")
            }
        }

        @Test(arguments: ["faults=[{do: strip-books, on: stream}]", "server.completed-size-max=200B"])
        func `books that a completed event does not bring are in the results`(change: String) async throws {
            try await ServeProcess.during(Self.quick + ["--set", change]) { serve in
                var phone = Curl(base: serve.base)
                let accepted = try await self.upload(phone)
                phone.token = accepted.authToken

                let events = StreamEvent.all(in: try await phone.stream(accepted.jobId).body)
                let completed = try self.checked(events, of: accepted.jobId)
                let results = try await phone.get(completed.resultsUrl + "?format=lite")

                #expect(events.last?.data.contains("\"books\"") == false)
                #expect(
                    try results.decoded(Results.self).data.results.count == completed.summary.totalDetected)
            }
        }

        @Test func `five photos make one job, and pings come between its events`() async throws {
            let options = ["--set", "server.job-time=1s", "--set", "server.ping=100ms"]
            try await ServeProcess.during(options) { serve in
                var phone = Curl(base: serve.base)
                let accepted = try await self.upload(phone, photos: 5)
                phone.token = accepted.authToken

                let events = StreamEvent.all(in: try await phone.stream(accepted.jobId).body)

                let pings = events.filter(\.isPing)
                let story = events.filter { !$0.isPing }
                #expect((3...10).contains(pings.count))
                #expect(pings.allSatisfy { $0.id == nil })
                for ping in pings {
                    let data = try ping.decoded([String: String].self)
                    #expect(data.keys.sorted() == ["timestamp", "type"] && data["type"] == "ping")
                }
                let first = try #require(events.first { $0.name == "progress" })
                #expect(try first.decoded(ProgressData.self).totalCount == 5)
                _ = try self.checked(story, of: accepted.jobId)
            }
        }

        @Test func `links are absolute when the scenario says so`() async throws {
            try await ServeProcess.during(["--set", "server.links=https://api.example"]) { serve in
                let reply = try await Curl(base: serve.base).upload([Curl.photo])
                let data = try reply.decoded(Accepted.self).data
                #expect(data.sseUrl == "https://api.example/v3/jobs/scans/\(data.jobId)/stream")
                #expect(data.statusUrl == "https://api.example/v3/jobs/scans/\(data.jobId)")
            }
        }

        // MARK: Pieces of journeys

        /// Uploads and compares the whole 202.
        private func upload(_ phone: Curl, photos: Int = 1) async throws -> Accepted.Job {
            let reply = try await phone.upload(Array(repeating: Curl.photo, count: photos))
            try #require(reply.status == 202, "\(reply.body)")
            #expect(reply.headers["content-type"] == "application/json")
            let accepted = try reply.decoded(Accepted.self)
            let job = "/v3/jobs/scans/\(accepted.data.jobId)"
            #expect(
                accepted
                    == Accepted(
                        success: true,
                        data: .init(
                            jobId: accepted.data.jobId, authToken: accepted.data.authToken,
                            sseUrl: "\(job)/stream", statusUrl: job),
                        _links: .init(
                            self: .init(href: job, rel: "self", method: "GET"),
                            stream: .init(href: "\(job)/stream", rel: "stream", method: "GET"),
                            cancel: .init(href: job, rel: "cancel", method: "DELETE")),
                        metadata: .init(
                            timestamp: accepted.metadata.timestamp,
                            requestId: reply.headers["x-request-id"] ?? "")))
            #expect(UUID(uuidString: accepted.data.jobId) != nil)
            #expect(accepted.data.authToken.wholeMatch(of: /[0-9a-f]{64}/) != nil)
            let age = try #require(expectedTime(accepted.metadata.timestamp)).timeIntervalSinceNow
            #expect(abs(age) < 60, "the backend tells the time of day")
            return accepted.data
        }

        /// What is true of every job that ends well; its `completed` event.
        private func checked(_ events: [StreamEvent], of job: String) throws -> CompletedData {
            let ids = events.compactMap(\.id)
            #expect(ids.count == events.count, "only pings have no id")
            let moments = ids.compactMap { Int($0.prefix { $0 != "-" }) }
            #expect(moments == Array(Set(moments)).sorted(), "ids are unique and rise")
            #expect(zip(ids, events).allSatisfy { $0.hasSuffix("-\($1.name)") })
            #expect(events.dropLast().allSatisfy { $0.name == "progress" })

            let progress = try events.dropLast().map { try $0.decoded(ProgressData.self) }
            #expect(progress.allSatisfy { $0.jobId == job && $0.type == "progress" && !$0.message.isEmpty })
            #expect(progress.map(\.progress) == progress.map(\.progress).sorted())
            #expect(progress.allSatisfy { (0...1).contains($0.progress) })

            let last = try #require(events.last)
            #expect(last.name == "completed")
            let completed = try last.decoded(CompletedData.self)
            let books = completed.summary.totalDetected
            #expect(
                completed
                    == CompletedData(
                        type: "completed", jobId: job, resultsUrl: "/v3/jobs/scans/\(job)/results",
                        summary: completed.summary, books: completed.books))
            #expect(completed.summary.approved + completed.summary.needsReview == books)
            #expect(completed.books.map { $0.count == books } ?? true)
            return completed
        }
    }
}

/// ISO 8601 with milliseconds.
func expectedTime(_ text: String) -> Date? {
    try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
}

/// The reply is a problem document, whole and consistent; returns it for what else there is to check.
@discardableResult
func expectProblem(
    _ reply: Reply, _ status: Int, _ code: String, retryable: Bool, at path: String? = nil,
    location: SourceLocation = #_sourceLocation
) -> ProblemDocument? {
    #expect(reply.status == status, sourceLocation: location)
    #expect(reply.headers["content-type"] == "application/problem+json", sourceLocation: location)
    guard let problem = try? reply.decoded(ProblemDocument.self) else {
        Issue.record("no problem document: \(reply.body)", sourceLocation: location)
        return nil
    }
    let kebab = code.lowercased().replacing("_", with: "-")
    #expect(
        problem
            == ProblemDocument(
                success: false, type: "https://api.oooefam.net/errors/\(kebab)", title: problem.title,
                status: status, detail: problem.detail,
                instance: path.map { String($0.prefix { $0 != "?" }) } ?? problem.instance, code: code,
                retryable: retryable, retryAfterMs: problem.retryAfterMs,
                metadata: .init(
                    timestamp: problem.metadata.timestamp, requestId: reply.headers["x-request-id"] ?? "")),
        sourceLocation: location)
    #expect(!problem.title.isEmpty && !problem.detail.isEmpty, sourceLocation: location)
    #expect(expectedTime(problem.metadata.timestamp) != nil, sourceLocation: location)
    return problem
}
