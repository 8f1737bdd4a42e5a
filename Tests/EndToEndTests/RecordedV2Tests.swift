import Foundation
import Testing

extension SideBySide {
    /// `serve --record` and `serve --replay` with the journeys of v2.
    @Suite struct RecordedV2Tests {
        private struct Envelope<Data: Decodable>: Decodable { var data: Data }

        private struct Started: Decodable {
            var jobId, authToken, token, sseUrl, statusUrl: String
        }

        /// What one client got, without its token.
        private struct Story: Equatable {
            var job: String
            var events: [StreamEvent]
            var results: String
        }

        private static let photo = ["-X", "POST", "-F", "photos=@\(Package.photo.path);type=image/jpeg"]
        private static let batch = [
            "-X", "POST", "-H", "Content-Type: application/json", "-d",
            #"{"barcodes":["9780141439587","9780306406157"]}"#,
        ]

        /// An upload of v2, its stream and its results.
        private static func follow(_ upload: String, _ options: [String], _ serve: ServeProcess) async throws
            -> (Story, token: String)
        {
            var phone = Curl(base: serve.base)
            let reply = try await phone.get(upload, options)
            try #require(reply.status == 202, "\(reply)")
            let job = try reply.decoded(Envelope<Started>.self).data
            #expect(job.token == job.authToken)
            phone.token = job.authToken
            let stream = try await phone.get(job.sseUrl, ["-N", "-H", "Accept: text/event-stream"])
            #expect(stream.status == 200, "\(stream)")
            let results = try await phone.get("\(job.statusUrl)/results")
            #expect(results.status == 200, "\(results)")
            return (
                Story(job: job.jobId, events: StreamEvent.all(in: stream.body), results: results.body),
                job.authToken
            )
        }

        private static func stories(_ serve: ServeProcess) async throws -> [(Story, token: String)] {
            [
                try await self.follow("/api/batch-scan", self.photo, serve),
                try await self.follow("/api/batch-enrich", self.batch, serve),
            ]
        }

        /// A job of v3.
        private static func older(_ serve: ServeProcess) async throws -> [StreamEvent] {
            var phone = Curl(base: serve.base)
            let job = try await phone.upload([Curl.photo]).decoded(Accepted.self).data
            phone.token = job.authToken
            return StreamEvent.all(in: try await phone.stream(job.jobId).body)
        }

        /// At the server itself, and at a proxy in front of it.
        @Test(arguments: [false, true])
        func `dotted names of events are recorded and played as they were sent`(isProxied: Bool) async throws
        {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let file = scratch.folder.appending(path: "run.ndjson").path
            let dotted = ["--set", "server.job-time=300ms", "--set", "server.v2.event-names=dotted"]
            let recorded: [(Story, token: String)]
            if isProxied {
                recorded = try await ServeProcess.during(dotted) { server in
                    let proxy = try await ServeProcess.start(
                        Binary.path,
                        ["proxy", "--port", "0", "--upstream", server.base, "--record", file])
                    let stories = try await Self.stories(proxy)
                    #expect(await proxy.end() == 0)
                    return stories
                }
            } else {
                recorded = try await ServeProcess.during(dotted + ["--record", file]) {
                    try await Self.stories($0)
                }
            }
            for ((story, _), subject) in zip(recorded, ["photoscan", "enrichment"]) {
                let names = story.events.map(\.name)
                #expect(names.last == "\(subject).completed" && names.count > 2)
                #expect(names.dropLast().allSatisfy { $0 == "\(subject).progress" })
            }
            let played = try await ServeProcess.during(["--replay", file]) { try await Self.stories($0) }
            #expect(played.map(\.0) == recorded.map(\.0))
        }

        @Test(arguments: [false, true])
        func `a recording of v2 is played, alone and beside v3`(isMixed: Bool) async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let file = scratch.folder.appending(path: "run.ndjson").path
            var v3: [StreamEvent] = []
            let recorded = try await ServeProcess.during([
                "--set", "server.job-time=1s", "--record", file,
            ]) { serve in
                if isMixed { v3 = try await Self.older(serve) }
                return try await Self.stories(serve)
            }
            let text = try String(contentsOfFile: file, encoding: .utf8)
            for (story, token) in recorded {
                #expect(story.events.first?.name == "initialized" || story.events.first?.name == "processing")
                #expect(story.events.last?.name == "completed")
                #expect(story.results.contains(#""books":[{"#))
                #expect(!text.contains(token))
            }
            try await ServeProcess.during(["--replay", file]) { serve in
                let played = try await Self.stories(serve)
                #expect(played.map(\.0) == recorded.map(\.0))
                #expect(zip(played, recorded).allSatisfy { $0.token != $1.token })
                let uploadOfV3 = try await Curl(base: serve.base).upload([Curl.photo]).status
                #expect(uploadOfV3 == (isMixed ? 202 : 404))
                // The recording starts again, with jobs of other ids.
                let again = try await Self.stories(serve).map(\.0)
                for (story, before) in zip(again, recorded.map(\.0)) {
                    #expect(story.job != before.job && story.events.count == before.events.count)
                }
            }
            guard isMixed else { return }
            let playedV3 = try await ServeProcess.during(["--replay", file]) { try await Self.older($0) }
            #expect(playedV3 == v3 && v3.last?.name == "completed")
        }
    }
}
