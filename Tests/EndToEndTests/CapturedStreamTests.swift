import Foundation
import Testing

extension SideBySide {
    /// `dialect: {replay: capture.sse}` with the shipped capture.
    @Suite struct CapturedStreamTests {
        private static let scenario = Package.root.appending(path: "Scenarios/captured-stream.scenario")
        private static let capture = Package.root.appending(path: "Scenarios/captures/live-2026-02.sse")
        private static let job = "4f1c2f0e-6f0b-4c3a-9d57-2a8f4b1f7c10"

        private struct Upload: Decodable {
            struct Job: Decodable { var jobId, authToken: String }
            var data: Job
        }

        private struct Results: Decodable {
            struct Books: Decodable { var results: [Book] }
            struct Book: Decodable { var title: String }
            var data: Books
        }

        /// The events of a stream, with the id of a job as it was captured.
        private static func events(_ text: String, of job: String) -> [String] {
            text.replacing(job, with: Self.job).split(separator: "\n\n").map { block in
                // Comments and `retry:` are the server's own.
                block.split(separator: "\n").filter { !$0.hasPrefix(":") && !$0.hasPrefix("retry:") }
                    .joined(separator: "\n")
            }.filter { !$0.isEmpty && !$0.hasPrefix("event: ping") }
        }

        @Test func `a job of serve has the captured events, and the captured books`() async throws {
            let options = [
                Self.scenario.path, "--set", "faults=[]", "--set", "server.job-time=500ms",
            ]
            try await ServeProcess.during(options) { serve in
                var phone = Curl(base: serve.base)
                let accepted = try await phone.upload([Curl.photo]).decoded(Upload.self).data
                phone.token = accepted.authToken
                let stream = try await phone.stream(accepted.jobId)
                let link = "/v3/jobs/scans/\(Self.job)/results"
                let captured = try String(contentsOf: Self.capture, encoding: .utf8)
                    .replacing("/v3/jobs/ai_scan/scans/\(Self.job)/results", with: link)
                #expect(
                    Self.events(stream.body, of: accepted.jobId) == Self.events(captured, of: Self.job))
                let results = try await phone.get("/v3/jobs/scans/\(accepted.jobId)/results?format=lite")
                let titles = try results.decoded(Results.self).data.results.map(\.title)
                #expect(titles.count == 5 && titles.allSatisfy { captured.contains("\"title\":\"\($0)\"") })
            }
        }

        @Test func `a plan is replayed without the file`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            let plan = scratch.folder.appending(path: "captured.plan.json")
            let report = scratch.folder.appending(path: "report")
            let simulated = try await Binary.run([
                "simulate", Self.scenario.path, "--save-plan", plan.path, "--output", report.path, "--quiet",
            ])
            #expect(simulated.code == 0, "\(simulated)")
            let resolved = report.appending(path: "scenario.resolved").path
            #expect(try await Binary.run(["check", resolved]).code == 0)
            let replayed = try await Binary.run(["replay", plan.path, "--verify"])
            #expect(replayed.code == 0, "\(replayed)")
            #expect(replayed.output.hasPrefix("identical in two processes"))
        }
    }
}
