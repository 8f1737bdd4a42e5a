import Faults
import JSON
import Observations
import OriginServer
import SimBase
import Testing

@testable import Talaria

/// Whatever is asked of the backend of the contract, the contract defines the answer.
@Suite struct ContractAnswersTests {
    /// What a random request may be made of. Some of each is good, so that every answer comes up.
    private struct Choices {
        var random: KeyedRandom
        var count: UInt64 = 0

        mutating func of<Element>(_ elements: [Element]) -> Element {
            self.count += 1
            return elements[Int(self.random.below(UInt64(elements.count), .jobTime, self.count))]
        }
    }

    private func expectDefined(_ reply: OriginReply, _ operation: Operation, _ seen: inout Set<String>) {
        let contract = Journey.scan.contract(of: operation)
        guard let answer = contract?.answers.first(where: { $0.status == reply.status }) else {
            Issue.record("\(operation.name) \(reply.status) is not in the contract")
            return
        }
        seen.insert("\(operation.name) \(reply.status)")
        let type = reply.headers.first { $0.name == "Content-Type" }?.value
        var notes = ContractNotes()
        switch answer.body {
        case .none: #expect(type == nil && reply.body.isEmpty)
        case .events: Issue.record("a stream is no whole answer")
        case .json(let object):
            #expect(type == Contract.jsonType)
            LeanObject(reply.body, into: &notes)?.compare(with: object, into: &notes)
        case .problem:
            #expect(type == Problem.contentType)
            LeanObject(reply.body, into: &notes)?.compare(with: Contract.problem, into: &notes)
        }
        #expect(notes.notes == [], "\(operation.name) \(String(decoding: reply.body, as: UTF8.self))")
    }

    private func expectDefined(eventsIn effects: [OriginEffect], _ kinds: inout Set<String>) throws {
        for case .stream(_, let bytes, let piece) in effects where piece != .preamble {
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            let name = try #require(lines.first { $0.hasPrefix("event: ") }).dropFirst(7)
            let data = try #require(lines.first { $0.hasPrefix("data: ") }).dropFirst(6)
            var notes = ContractNotes()
            _ = JobEvent(name: String(name), bytes: Array(data.utf8), into: &notes)
            #expect(notes.notes == [], "\(name) \(data)")
            kinds.insert(String(name))
        }
    }

    @Test func `every answer and every event is in the contract`() throws {
        var bench = Bench { $0.rateLimit = Quota(requests: 40, window: .seconds(600)) }
        var choices = Choices(random: KeyedRandom(seed: 11))
        var jobs = [
            Bench.Job(id: "3f0c1f9e-8a55-4b7e-9d0e-5d6f0c1b2a39", token: String(repeating: "0", count: 64))
        ]
        var seen: Set<String> = []
        var kinds: Set<String> = []
        for _ in 0..<4_000 {
            let job = choices.of(jobs.suffix(8))
            let path =
                Endpoint.scans
                + choices.of([
                    "", "/\(job.id)", "/\(job.id)/stream", "/\(job.id)/results", "/\(job.id)/cleanup",
                ])
            let method = choices.of(["GET", "GET", "POST", "DELETE"])
            guard let operation = Endpoint(path: path)?.operation(method: method) else { continue }
            let device = choices.of([
                Bench.deviceID, Bench.deviceID, Bench.deviceID, Bench.otherDeviceID, "phone", nil,
            ])
            let token = choices.of([
                "Bearer \(job.token)", "Bearer \(job.token)", "Bearer \(job.token)", "Bearer x", nil,
            ])
            var effects: [OriginEffect]
            if operation == .upload {
                let part = choices.of([
                    Bench.jpeg, Bench.jpeg,
                    UploadPart(name: "photos[]", filename: nil, contentType: nil, bytes: 9, prefix: [1]),
                    UploadPart(
                        name: "photos[]", filename: nil, contentType: nil, bytes: 10_000_001,
                        prefix: [0xFF, 0xD8]),
                ])
                effects = bench.upload(
                    Array(repeating: part, count: choices.of([0, 1, 1, 2, 6])), device: device,
                    contentType: choices.of([
                        "multipart/form-data; boundary=x", "multipart/form-data; boundary=x", "text/plain",
                    ]))
                if let body = effects.reply.flatMap({ JSON.decode(UploadAccepted.self, from: $0.body) }) {
                    jobs.append(Bench.Job(id: body.data.jobId, token: body.data.authToken ?? ""))
                }
            } else {
                effects =
                    bench.ask(
                        method, path, query: choices.of(["format=lite", "format=full", "format=all", nil]),
                        device: device, authorization: token, accept: choices.of(["text/event-stream", nil])
                    ).effects
            }
            if let reply = effects.reply { self.expectDefined(reply, operation, &seen) }
            effects += bench.run(seconds: choices.of([0, 0, 1, 3, 9, 40]))
            try self.expectDefined(eventsIn: effects, &kinds)
        }
        #expect(kinds == ["progress", "completed"])
        #expect(
            seen.isSuperset(of: [
                "upload 202", "upload 400", "upload 413", "stream 401", "stream 404", "stream 410",
                "results 200", "results 400", "results 401", "results 404", "results 410", "cleanup 204",
                "cleanup 400", "cleanup 401", "cleanup 404", "status 200", "status 400", "status 401",
                "status 404", "status 410", "status 429", "cancel 400", "cancel 401", "cancel 404",
                "cancel 409", "cancel 410",
            ]))
    }

    @Test func `a ping, an end by a cancellation and a quota are in the contract`() throws {
        var bench = Bench {
            $0.jobTime = .seconds(50)...(.seconds(50))
            $0.rateLimit = Quota(requests: 1, window: .seconds(600))
        }
        let job = bench.job()
        bench.stream(job)
        bench.run(seconds: 31)
        var seen: Set<String> = []
        for (operation, effects) in [(Operation.cancel, bench.cancel(job)), (.upload, bench.upload())] {
            self.expectDefined(try #require(effects.reply), operation, &seen)
        }
        var kinds: Set<String> = []
        try self.expectDefined(eventsIn: bench.effects, &kinds)
        #expect(seen == ["cancel 200", "upload 429"] && kinds == ["progress", "ping", "error"])
    }

    // MARK: Requests

    private func findings(_ effects: [OriginEffect]) -> [ContractFinding] {
        effects.backendSightings.compactMap { if case .found(let finding) = $0 { finding } else { nil } }
    }

    @Test func `a request of the contract is no finding`() {
        var bench = Bench()
        let job = bench.job()
        bench.stream(job)
        bench.run(seconds: 11)
        bench.results(job)
        _ = bench.status(job)
        bench.cleanup(job)
        #expect(self.findings(bench.effects) == [])
    }

    @Test func `what a request lacks or adds is a finding of the server, without a token`() {
        var bench = Bench()
        let job = bench.job()
        let effects = bench.ask(
            "GET", "/v3/jobs/scans/\(job.id)/results", query: "format=all&token=secret", device: "phone",
            authorization: "Basic secret"
        ).effects
        #expect(
            self.findings(effects).map { [$0.path, $0.expected, $0.seen, $0.excerpt ?? "-"] } == [
                ["query format", "lite or full", "another value", "all"],
                ["query token", "a parameter of the contract", "an unknown parameter", "-"],
                ["header X-Device-ID", "a version 4 UUID", "another value", "phone"],
                ["header Authorization", "a bearer token", "another scheme", "-"],
            ])
        #expect(self.findings(effects).allSatisfy { $0.side == .client && $0.operation == .results })
        let stream = bench.ask("GET", "/v3/jobs/scans/\(job.id)/stream", device: nil).effects
        #expect(
            self.findings(stream).map { [$0.path, $0.seen] } == [
                ["header X-Device-ID", "missing"], ["header Accept", "missing"],
                ["header Authorization", "missing"],
            ])
        let upload = bench.upload(contentType: "image/jpeg")
        #expect(
            self.findings(upload).map { [$0.path, $0.expected] } == [
                ["header Content-Type", "multipart/form-data"]
            ])
    }

    @Test func `parts that the contract does not have are findings`() {
        var bench = Bench()
        let note = UploadPart(name: "note", filename: nil, contentType: "text/plain", bytes: 3, prefix: [1])
        let webp = UploadPart(
            name: "photos[]", filename: nil, contentType: "image/webp", bytes: 9, prefix: [0xFF, 0xD8])
        let effects = bench.upload([Bench.jpeg, note, webp])
        #expect(effects.status == 202)
        #expect(
            self.findings(effects).map { [$0.path, $0.seen, $0.excerpt ?? "-"] } == [
                ["part", "another name", "note"], ["part Content-Type", "another type", "image/webp"],
            ])
    }

    // MARK: Polling

    @Test func `the status is answered once in 2 s for each job`() {
        var bench = Bench()
        let (job, other) = (bench.job(), bench.job(Bench.caller(scan: 2)))
        #expect(bench.status(job).status == 200)
        let early = bench.status(job)
        #expect(early.verdict == "429 RATE_LIMIT_EXCEEDED" && early.header("Retry-After") == "2")
        #expect(bench.status(other).status == 200)
        bench.now = bench.now + .milliseconds(1_500)
        let later = bench.status(job)
        #expect(later.status == 429 && later.bodyText.contains(#""retryAfterMs":500"#))
        // A refused request does not count.
        bench.now = bench.now + .milliseconds(500)
        #expect(bench.status(job).status == 200 && bench.status(job).status == 429)
    }
}
