import SimBase
import Talaria
import Testing

@testable import TargetTrial

/// What a trial asks a target by itself, and what it makes of the answers.
@Suite struct ProbeTests {
    private static let book = #"{"title":"Solaris","author":"Lem","isbn":"9780156027601"}"#

    private static func probed() -> TriedTarget {
        TriedTarget {
            $0.probes = true
            $0.witness = 1_000_000
        }
    }

    private static func results(_ books: String...) -> String {
        #"{"success":true,"data":{"jobId":"j","results":[\#(books.joined(separator: ","))]}}"#
    }

    @Test func `a job is asked for as a second device would`() {
        var target = Self.probed()
        target.upload(job: "i", device: 2, token: "u")
        _ = target.ask("GET", "/v3/jobs/scans/i/stream", device: 2, token: "u")
        _ = target.probes()
        target.upload()
        _ = target.open()
        let probes = target.probes()
        #expect(
            probes.map(\.kind).sorted() == [
                "foreign-token", "other-device", "status", "without-device", "without-token", "witness",
            ])
        #expect(probes.first { $0.kind == "without-token" }?.token == nil)
        #expect(probes.first { $0.kind == "foreign-token" }?.token == "Bearer u")
        #expect(probes.first { $0.kind == "status" }?.token == "Bearer t")
        #expect(probes.first { $0.kind == "without-device" }?.hasDevice == false)
        #expect(probes.allSatisfy { $0.target.hasPrefix("/v3/jobs/scans/j") })
        #expect(target.probes().isEmpty, "each is asked once")
    }

    @Test func `what is foreign is of another device and has another token`() {
        var target = Self.probed()
        target.upload(job: "i")
        _ = target.open(job: "i")
        _ = target.probes()
        target.upload()
        _ = target.open()
        let kinds = target.probes().map(\.kind)
        #expect(kinds.contains("status") && !kinds.contains("foreign-token"))
        #expect(!kinds.contains("other-device"))
    }

    @Test(arguments: [false, true]) func `a job is asked whether it has ended unless it is deleted`(
        isDeleted: Bool
    ) {
        var target = TriedTarget {
            $0.probes = true
            $0.jobMax = .seconds(10)
        }
        target.upload()
        target.complete(target.open())
        _ = target.probes()
        if isDeleted { target.exchange("DELETE", "/v3/jobs/scans/j/cleanup", 204) }
        target.wait(.seconds(20))
        #expect(target.probes().contains { $0.kind == "status" } == !isDeleted)
    }

    @Test func `one of two streams may be ahead`() {
        var target = Self.probed()
        target.upload()
        let phone = target.open()
        let witness = target.open()
        // The answer to the phone is on its way for longer.
        target.play(witness, from: 2, to: 3)
        target.play(phone, from: 1, to: 3)
        target.complete(phone)
        target.complete(witness)
        #expect(target.rules == [])
        let resumed = target.open(after: "1000-progress")
        target.play(resumed, from: 2, to: 3)
        #expect(target.rules == [])
    }

    @Test func `nothing is asked unless it is wanted`() {
        var target = TriedTarget()
        target.upload()
        _ = target.open()
        #expect(target.probes().isEmpty)
    }

    @Test(arguments: ["without-token", "without-device"]) func `what has no right is refused`(kind: String) {
        var target = Self.probed()
        target.upload()
        _ = target.open()
        for probe in target.probes() where probe.kind == kind {
            target.answer(probe.id, 401, Self.problem(401, "UNAUTHORIZED"))
        }
        #expect(target.rules == [])
        target.upload(job: "k")
        _ = target.open(job: "k")
        for probe in target.probes() where probe.kind == kind {
            target.answer(probe.id, 200, #"{"data":{"jobId":"k","status":"processing"}}"#)
        }
        #expect(target.rules == [.auth])
    }

    @Test func `a 403 is not the answer of the contract`() {
        var target = Self.probed()
        target.upload()
        _ = target.open()
        for probe in target.probes() where probe.kind == "without-token" {
            target.answer(probe.id, 403, Self.problem(403, "FORBIDDEN"))
        }
        #expect(target.rules == [.errorForm])
    }

    @Test func `a deleted job is asked for after a while`() {
        var target = Self.probed()
        target.upload()
        target.complete(target.open())
        _ = target.probes()
        target.exchange("DELETE", "/v3/jobs/scans/j/cleanup", 204)
        #expect(target.probes().isEmpty)
        target.wait(.seconds(3))
        let probes = target.probes().filter { $0.kind == "deleted" }
        #expect(probes.count == 3)
        for probe in probes where probe.target.contains("/results") {
            target.answer(probe.id, 200, Self.results())
        }
        for probe in probes where !probe.target.contains("/results") {
            target.answer(probe.id, 410, Self.problem(410, "GONE"))
        }
        #expect(target.rules == [.cleanup])
    }

    @Test func `both forms of results have the books of the stream`() {
        var target = Self.probed()
        target.upload()
        target.complete(target.open(), books: "[\(Self.book)]")
        let probes = target.probes()
        #expect(probes.contains { $0.target.hasSuffix("format=full") })
        for probe in probes where probe.kind == "results" {
            target.answer(probe.id, 200, Self.results(Self.book))
        }
        #expect(target.rules == [])
        let bare = #"{"title":"Solaris","author":"Lem","isbn":null}"#
        for probe in probes where probe.kind == "full-results" {
            target.answer(probe.id, 200, Self.results(bare))
        }
        #expect(target.rules == [.resultsAgree])
        #expect(target.broken[0].text.contains("lost its ISBN"))
    }

    @Test func `a probe that comes after a DELETE proves nothing`() {
        var target = Self.probed()
        target.upload()
        target.complete(target.open(), books: "[\(Self.book)]")
        let probes = target.probes()
        _ = target.ask("DELETE", "/v3/jobs/scans/j/cleanup")
        for probe in probes where probe.kind == "results" {
            target.answer(probe.id, 410, Self.problem(410, "GONE"))
        }
        #expect(target.rules == [])
    }

    @Test func `a job may be hidden from another device`() {
        var target = Self.probed()
        target.upload(job: "i", device: 2, token: "u")
        _ = target.ask("GET", "/v3/jobs/scans/i/stream", device: 2, token: "u")
        _ = target.probes()
        target.upload()
        _ = target.open()
        for probe in target.probes() where probe.kind == "other-device" {
            target.answer(probe.id, 404, Self.problem(404, "NOT_FOUND"))
        }
        #expect(target.rules == [])
    }

    // MARK: Second streams

    private static func witnessed(_ target: inout TriedTarget) -> (phone: UInt64, witness: UInt64) {
        target.upload()
        let phone = target.open()
        let witness = target.probes().first { $0.kind == "witness" }?.id ?? 0
        target.answer(witness, 200, type: "text/event-stream")
        return (phone, witness)
    }

    @Test func `two streams show the same events`() {
        var target = Self.probed()
        let (phone, witness) = Self.witnessed(&target)
        target.play(witness, to: 3)
        target.play(phone, from: 1, to: 1)
        target.play(phone, from: 3, to: 3)
        target.complete(witness)
        target.complete(phone)
        #expect(target.rules == [.streamsAgree])
        #expect(target.canceled().isEmpty)
        target.wait(.seconds(3))
        #expect(target.canceled().contains(witness), "a second stream ends soon after its job")
    }

    @Test func `a second stream may begin late and a state is no event`() {
        var target = Self.probed()
        let (phone, witness) = Self.witnessed(&target)
        target.play(phone, to: 2)
        target.send(phone, "progress", id: "2500-initial", #"{"jobId":"j","processedCount":0}"#)
        target.play(witness, from: 2, to: 3)
        target.play(phone, from: 3, to: 3)
        target.complete(phone)
        target.complete(witness)
        #expect(target.rules == [])
    }

    @Test func `what a second stream shows is not left out of a resumed one`() {
        var target = Self.probed()
        let (phone, witness) = Self.witnessed(&target)
        target.play(phone, to: 1)
        target.close(phone)
        target.play(witness, to: 3)
        let second = target.open(after: "1000-progress")
        target.play(second, from: 3, to: 3)
        #expect(target.rules == [.resume])
    }

    @Test func `an event that comes again has the data that it had`() {
        var target = Self.probed()
        let (phone, witness) = Self.witnessed(&target)
        target.play(witness, to: 3)
        target.close(phone)
        let second = target.open(after: "1000-progress")
        target.send(second, "progress", id: "2000-progress", #"{"jobId":"j","processedCount":7}"#)
        #expect(target.rules == [.resume])
        #expect(target.broken[0].text.contains("other data"))
    }

    @Test func `an unknown id is not the target's undoing`() {
        var target = Self.probed()
        target.upload()
        target.complete(target.open())
        let probe = target.probes().first { $0.kind == "unknown-id" }?.id ?? 0
        target.answer(probe, 500, Self.problem(500, "INTERNAL_ERROR"))
        #expect(target.rules.contains(.resume))
    }

    @Test(arguments: [true, false]) func `the status of a job that is over is asked for`(isDeleted: Bool) {
        var target = Self.probed()
        target.upload()
        target.complete(target.open())
        _ = target.probes()
        if isDeleted { target.exchange("DELETE", "/v3/jobs/scans/j/cleanup", 204) }
        target.wait(.seconds(2))
        let probe = target.probes().first { $0.kind == "status" }?.id
        #expect((probe != nil) == !isDeleted)
        guard let probe else { return }
        target.answer(probe, 200, #"{"data":{"jobId":"j","status":"processing"}}"#)
        #expect(target.rules == [.statusAgrees])
    }

    @Test(arguments: [(204, [TargetRule.terminal]), (410, []), (404, [])])
    func `who comes back to a job that is over gets its end`(status: Int, rules: [TargetRule]) {
        var target = Self.probed()
        target.upload()
        target.complete(target.open())
        let probe = target.probes().first { $0.kind == "unknown-id" }?.id ?? 0
        target.exchange("DELETE", "/v3/jobs/scans/j/cleanup", 204)
        target.answer(probe, status, status == 204 ? "" : Self.problem(status, "NOT_FOUND"))
        #expect(target.rules.filter { $0 != .errorForm } == rules)
    }

    static func problem(_ status: Int, _ code: String) -> String {
        let retryable = ProblemCode(rawValue: code)?.retryable ?? false
        return
            #"{"success":false,"type":"t","title":"t","status":\#(status),"code":"\#(code)","retryable":\#(retryable)}"#
    }
}

/// What a target says of its jobs, times and texts.
@Suite struct TargetWordTests {
    @Test(arguments: ["stream", "", "results"]) func `a job is there until it is deleted`(what: String) {
        let path = "/v3/jobs/scans/j" + (what.isEmpty ? "" : "/" + what)
        var target = TriedTarget()
        target.upload()
        target.exchange("GET", path, 404, ProbeTests.problem(404, "NOT_FOUND"))
        #expect(
            target.rules == (what == "results" ? [] : [.jobKept]), "results are there once it is completed")
        var deleted = TriedTarget()
        deleted.upload()
        _ = deleted.ask("DELETE", "/v3/jobs/scans/j/cleanup")
        deleted.exchange("GET", path, 404, ProbeTests.problem(404, "NOT_FOUND"))
        #expect(deleted.rules == [])
    }

    @Test func `a stream is a stream and does not end before its job`() {
        var target = TriedTarget()
        target.upload()
        target.exchange("GET", "/v3/jobs/scans/j/stream", 204)
        #expect(target.rules == [.terminal])
        let first = target.open()
        target.wait(.seconds(2))
        target.end(first)
        #expect(target.rules == [.terminal, .terminal])
        let second = target.open()
        target.wait(.seconds(30))
        target.end(second)
        #expect(target.rules.count == 2, "a stream may have a longest time")
    }

    @Test func `a canceled job does not complete`() {
        var target = TriedTarget()
        target.upload()
        let stream = target.open()
        target.exchange("DELETE", "/v3/jobs/scans/j", 200, #"{"success":true}"#)
        target.wait(.seconds(3))
        target.complete(stream)
        #expect(target.rules == [.statusAgrees])
    }

    @Test(arguments: [
        ("2026-02-01T12:00:00.000Z", []), ("2026-02-01T14:05:00+02:00", []),
        ("2026-02-01T12:00:00", [TargetRule.times]), ("2026-02-01T05:00:00Z", [.times]), ("today", [.times]),
    ])
    func `a timestamp has a zone and the time`(text: String, rules: [TargetRule]) {
        var target = TriedTarget { $0.wallClockAtZero = 1_769_947_200_000 }
        target.upload()
        let stream = target.open()
        target.send(
            stream, "progress", id: "1769947200000-progress", #"{"jobId":"j","timestamp":"\#(text)"}"#)
        #expect(target.rules == rules)
    }

    @Test(
        arguments: [
            (1_769_947_200_000, []), (1_769_947_700_000, []), (1_769_947_200, [TargetRule.times]),
            (1_769_947_200_000 + 25_200_000, [.times]), (1_769_947_200_000 - 25_200_000, [.times]),
        ] as [(Int64, [TargetRule])])
    func `an id has the time of its event`(id: Int64, rules: [TargetRule]) {
        var target = TriedTarget { $0.wallClockAtZero = 1_769_947_200_000 }
        target.upload()
        target.send(target.open(), "progress", id: "\(id)-progress", #"{"jobId":"j"}"#)
        #expect(target.rules == rules)
    }

    @Test func `what comes again is as old as its job`() {
        var target = TriedTarget {
            $0.wallClockAtZero = 1_769_947_200_000
            $0.tokenLifetime = .hours(2)
        }
        target.upload()
        target.wait(.seconds(1_800))
        target.send(
            target.open(), "progress", id: "1769947201000-progress",
            #"{"jobId":"j","timestamp":"2026-02-01T12:00:01.000Z"}"#)
        #expect(target.rules == [])
    }

    @Test(arguments: [#""isbn":"null""#, #""isbn":"9780306406157","coverUrl":"undefined""#])
    func `a missing value is no word`(member: String) {
        var target = TriedTarget()
        target.upload()
        target.complete(target.open(), books: #"[{"title":"T","author":"A",\#(member)}]"#)
        #expect(target.rules == [.text])
    }

    @Test(arguments: [
        "Les MisÃ©rables", "War &amp; Peace", "Caf\u{FFFD}", #"Caf\\u00e9"#, "Stanis?aw",
    ])
    func `a title has no sign of a wrong encoding`(title: String) {
        var target = TriedTarget()
        target.upload()
        target.complete(target.open(), books: #"[{"title":"\#(title)","author":"A"}]"#)
        #expect(target.rules == [.text])
    }

    @Test(arguments: ["Who Goes There?", "Á Ð Ñ", "Ça va", "R & D", "Straße 9¾", "日本 😀", "What If? 2"])
    func `an odd title is a title`(title: String) {
        #expect(TextSigns.sign(in: title) == nil)
    }

    @Test func `a title is written in one way`() {
        var target = TriedTarget()
        target.upload()
        target.complete(target.open(), books: #"[{"title":"Café","author":"A"}]"#)
        target.exchange(
            "GET", "/v3/jobs/scans/j/results", 200,
            #"{"data":{"jobId":"j","results":[{"title":"Cafe\#u{301}","author":"A"}]}}"#)
        #expect(target.rules == [.resultsAgree])
    }

    @Test(arguments: [
        (401, "MISSING_PARAMETER", false), (429, "RATE_LIMIT_EXCEEDED", false), (404, "NOT_FOUND", true),
    ])
    func `a code has its status and its word on retries`(status: Int, code: String, retryable: Bool) {
        var target = TriedTarget()
        target.upload()
        target.exchange(
            "GET", "/v3/jobs/scans/j/results", status,
            #"{"success":false,"type":"t","title":"t","status":\#(status),"code":"\#(code)","retryable":\#(retryable),"retryAfterMs":1000}"#,
            token: "x")
        #expect(target.rules == [.errorForm])
    }

    @Test func `the delay of events is above the fastest`() {
        var delays = EventDelays()
        #expect(delays.aboveLeast(-5_000, at: .zero) == .zero)
        #expect(delays.aboveLeast(-4_800, at: .zero + .seconds(1)) == .milliseconds(200))
        #expect(delays.aboveLeast(-5_100, at: .zero + .seconds(31)) == .zero)
        #expect(delays.aboveLeast(-5_000, at: .zero + .seconds(40)) == .milliseconds(100))
        #expect(delays.aboveLeast(-4_000, at: .zero + .seconds(200)) == .zero, "the clocks have drifted")
    }
}
