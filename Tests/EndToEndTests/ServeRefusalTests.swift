import Foundation
import Testing

extension EndToEnd {
    /// What `serve` refuses, and how: every error is a problem document.
    @Suite struct ServeRefusalTests {
        private static let upload = "/v3/jobs/scans"

        @Test func `a job wants its own token and a device id`() async throws {
            try await ServeProcess.during([]) { serve in
                var phone = Curl(base: serve.base)
                let job = try await phone.upload([Curl.photo]).decoded(Accepted.self).data.jobId
                let paths = ["/stream", "/results", ""].map { "\(Self.upload)/\(job)\($0)" }

                for path in paths {
                    expectProblem(
                        try await phone.get(path), 401, "INVALID_TOKEN", retryable: false, at: path)
                }
                phone.token = String(repeating: "0", count: 64)
                for path in paths {
                    let reply = try await phone.get(path)
                    expectProblem(reply, 401, "INVALID_TOKEN", retryable: false, at: path)
                    #expect(reply.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
                }
                expectProblem(
                    try await phone.delete("\(Self.upload)/\(job)/cleanup"), 401, "INVALID_TOKEN",
                    retryable: false)

                // Docs/contract.md section 1.1: 401 on a stream, 400 elsewhere.
                phone.device = nil
                expectProblem(
                    try await phone.get(paths[0]), 401, "UNAUTHORIZED", retryable: false, at: paths[0])
                expectProblem(
                    try await phone.get(paths[1]), 400, "MISSING_PARAMETER", retryable: false, at: paths[1])
                expectProblem(
                    try await phone.upload([Curl.photo]), 400, "MISSING_PARAMETER", retryable: false,
                    at: Self.upload)
            }
        }

        @Test func `a token expires`() async throws {
            try await ServeProcess.during(["--set", "server.token-lifetime=1ms"]) { serve in
                var phone = Curl(base: serve.base)
                let accepted = try await phone.upload([Curl.photo]).decoded(Accepted.self).data
                phone.token = accepted.authToken
                expectProblem(
                    try await phone.get(accepted.sseUrl), 401, "TOKEN_EXPIRED", retryable: false,
                    at: accepted.sseUrl)
            }
        }

        @Test func `what is not there is not found, and what cannot be done there is refused`() async throws {
            try await ServeProcess.during([]) { serve in
                let phone = Curl(base: serve.base, token: "none")
                let unknown = "\(Self.upload)/\(UUID().uuidString.lowercased())"
                for path in ["/stream", "/results", "", "/cleanup"].map({ unknown + $0 }) {
                    let reply =
                        path.hasSuffix("/cleanup")
                        ? try await phone.delete(path) : try await phone.get(path)
                    expectProblem(reply, 404, "NOT_FOUND", retryable: false, at: path)
                }
                expectProblem(try await phone.get("/nowhere"), 404, "NOT_FOUND", retryable: false)
                let put = try await phone.get(Self.upload, ["-X", "PUT"])
                expectProblem(put, 405, "METHOD_NOT_ALLOWED", retryable: false)
                #expect(put.headers["allow"] == "POST")
            }
        }

        @Test func `a photo over ten megabytes is too large, and a hopeless upload is not even read`()
            async throws
        {
            let scratch = try Scratch()
            let jpeg = try Data(contentsOf: Package.photo)
            let whole = try scratch.file("whole.jpg", jpeg + Data(count: 10_000_000 - jpeg.count))
            let large = try scratch.file("large.jpg", jpeg + Data(count: 11_000_000))
            let huge = try scratch.file("huge.jpg", jpeg + Data(count: 60_000_000))
            try await ServeProcess.during([]) { serve in
                let phone = Curl(base: serve.base)
                #expect(try await phone.upload([Curl.photo(whole)]).status == 202, "the limit itself is fine")
                expectProblem(
                    try await phone.upload([Curl.photo(large)]), 413, "FILE_TOO_LARGE", retryable: false,
                    at: Self.upload)
                // `curl` asks before it sends so much (Expect: 100-continue), and is refused.
                let refused = try await phone.upload(
                    [Curl.photo(huge)], ["-w", "\nsent %{size_upload}", "-H", "Expect: 100-continue"])
                #expect(refused.status == 413)
                #expect(refused.body.hasSuffix("\nsent 0"))
                // Six times nine megabytes pass one by one, but not together.
                let nine = try scratch.file("nine.jpg", jpeg + Data(count: 9_000_000))
                expectProblem(
                    try await phone.upload(Array(repeating: Curl.photo(nine), count: 6)), 413,
                    "FILE_TOO_LARGE", retryable: false, at: Self.upload)
            }
        }

        @Test func `what is no photo, or too many, is a bad request`() async throws {
            let scratch = try Scratch()
            let text = try scratch.file("notes.txt", Data("no photo at all\n".utf8))
            try await ServeProcess.during([]) { serve in
                let phone = Curl(base: serve.base)
                for type in ["text/plain", "image/jpeg"] {
                    expectProblem(
                        try await phone.upload([Curl.photo(text, type: type)]), 400, "INVALID_FILE",
                        retryable: false, at: Self.upload)
                }
                expectProblem(
                    try await phone.upload(["image=@\(Package.photo.path);type=image/jpeg"]), 400,
                    "INVALID_REQUEST", retryable: false, at: Self.upload)
                expectProblem(
                    try await phone.upload(Array(repeating: Curl.photo, count: 6)), 400, "BATCH_TOO_LARGE",
                    retryable: false, at: Self.upload)
                expectProblem(
                    try await phone.get(Self.upload, ["--data", "photos[]=none"]), 400, "INVALID_REQUEST",
                    retryable: false, at: Self.upload)
            }
        }

        @Test func `a device over its quota is told how long to wait; another is not`() async throws {
            let options = ["--set", "server.rate-limit=2 per 20m"]
            try await ServeProcess.during(options) { serve in
                var phone = Curl(base: serve.base)
                for left in [1, 0] {
                    let reply = try await phone.upload([Curl.photo])
                    #expect(reply.status == 202)
                    #expect(reply.headers["x-ratelimit-limit"] == "2")
                    #expect(reply.headers["x-ratelimit-remaining"] == "\(left)")
                }

                let limited = try await phone.upload([Curl.photo])

                let problem = try #require(
                    expectProblem(limited, 429, "RATE_LIMIT_EXCEEDED", retryable: true, at: Self.upload))
                let wait = try #require(problem.retryAfterMs)
                #expect((1_100_000...1_200_000).contains(wait))
                #expect(limited.headers["retry-after"] == "\((wait + 999) / 1_000)", "whole seconds, no less")
                #expect(limited.headers["x-ratelimit-remaining"] == "0")

                phone.device = "0D1F3C5A-7E9B-4A2C-8D4E-6F8091A2B3C4"
                #expect(try await phone.upload([Curl.photo]).status == 202)
            }
        }

        @Test func `a fault of a scenario refuses uploads too`() async throws {
            let fault = "faults=[{do: rate-limit, on: upload, quota: 1 per 4s, per: device, retry-after: 2s}]"
            try await ServeProcess.during(["--set", fault]) { serve in
                let phone = Curl(base: serve.base)
                #expect(try await phone.upload([Curl.photo]).status == 202)
                let limited = try await phone.upload([Curl.photo])
                let problem = try #require(
                    expectProblem(limited, 429, "RATE_LIMIT_EXCEEDED", retryable: true, at: Self.upload))
                #expect(problem.retryAfterMs == 2_000)
                #expect(limited.headers["retry-after"] == "2")
            }
        }
    }
}
