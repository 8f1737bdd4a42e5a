import JSON
import Observations
import Phone
import SimBase
import SimTestSupport
import Talaria
import Testing

/// What an open stream says, event by event.
struct EventTests {
    private func streaming(clockZero: Int64 = 0) -> TestPhone {
        var phone = TestPhone(clockZero: clockZero)
        phone.captureToStream()
        _ = phone.takeSightings()
        _ = phone.take()
        return phone
    }

    private func applied(
        _ id: String?, latency: Interval? = nil, replayed: Bool = false, kind: EventKind = .progress
    ) -> PhoneObservation {
        .eventApplied(job: "job-1", id: id, kind: kind, latency: latency, replayed: replayed)
    }

    @Test func `pings are counted with the gap between them and shown to nobody`() {
        var phone = streaming()
        phone.stream(Wording.event("ping", id: nil, "{}"))
        phone.now = phone.now + .seconds(30)
        phone.stream(Wording.event("ping", id: "30-ping", "not even JSON"))
        #expect(phone.takeSightings() == [.ping(id: nil, gap: nil), .ping(id: "30-ping", gap: .seconds(30))])
        #expect(phone.take().allSatisfy { if case .observe = $0 { true } else { false } })
    }

    @Test func `a gap between pings does not span a reconnect`() {
        var phone = streaming()
        phone.stream(Wording.event("ping", id: nil, "{}"))
        phone.fail(.stream, .reset)
        phone.pass(.seconds(1))
        phone.openStream()
        phone.stream(Wording.event("ping", id: nil, "{}"))
        #expect(phone.payloads.last == .ping(id: nil, gap: nil))
    }

    @Test func `the id of a ping is remembered, where it has one`() {
        var phone = streaming()
        phone.stream(Wording.progress("1") + Wording.event("ping", id: "2-ping", "{}"))
        phone.fail(.stream, .reset)
        phone.pass(.seconds(1))
        #expect(phone.request(.stream)?.headers.contains(HeaderField("Last-Event-ID", "2-ping")) == true)
    }

    @Test func `unknown events and bad JSON are ignored, counted, and not asked for again`() {
        var phone = streaming()
        phone.stream(Wording.event("stopped", id: "1", "{}"))
        phone.stream(Wording.event("progress", id: "2", "{not json"))
        phone.stream(Wording.event("enrichment_degraded", id: nil, "[]"))
        phone.stream("data: no name\n\n")
        #expect(
            phone.takeSightings() == [
                .firstEvent(job: "job-1", took: .zero),
                .eventIgnored(job: "job-1", id: "1", name: "stopped", malformed: false),
                .eventIgnored(job: "job-1", id: "2", name: "progress", malformed: true),
                .eventIgnored(job: "job-1", id: nil, name: "enrichment_degraded", malformed: true),
                .eventIgnored(job: "job-1", id: nil, name: "message", malformed: false),
            ])
        phone.fail(.stream, .reset)
        phone.pass(.seconds(1))
        #expect(phone.request(.stream)?.headers.contains(HeaderField("Last-Event-ID", "2")) == true)
    }

    @Test func `a name that cannot be shown is not shown`() {
        var phone = streaming()
        phone.stream(Wording.event("<script>alert(1)</script>", id: "1", "{}"))
        #expect(
            phone.payloads.last
                == .eventIgnored(job: "job-1", id: "1", name: "unreadable", malformed: false))
    }

    @Test func `a degraded enrichment is applied`() {
        var phone = streaming()
        let data = JSON.encode(
            DegradedData(
                jobId: "job-1", isbn: nil, title: "T", reason: "isbndb_circuit_open", timestamp: "now"))
        phone.stream(Wording.event("enrichment_degraded", id: "4", String(decoding: data, as: UTF8.self)))
        #expect(phone.payloads.last == applied("4", kind: .enrichmentDegraded))
    }

    @Test func `progress without text or with an unknown status is progress`() {
        var phone = streaming()
        phone.stream(
            Wording.event("progress", id: "1", #"{"type":"progress","jobId":"job-1","status":"surprise"}"#))
        #expect(phone.payloads.last == applied("1"))
    }

    @Test func `an event that a server sends again is applied once`() {
        var phone = streaming()
        phone.stream(Wording.progress("1") + Wording.progress("2"))
        phone.fail(.stream, .reset)
        phone.pass(.seconds(1))
        phone.openStream()
        _ = phone.takeSightings()
        _ = phone.take()
        phone.stream(Wording.progress("1") + Wording.progress("2") + Wording.progress("3"))
        #expect(phone.takeSightings() == [applied("3")])
        #expect(phone.take().contains(.store(.lastEventID(ScanNumber(1), "3"), phone.lastWriteID)))
    }

    @Test func `events without an id, or with the id of another, are not taken for repetitions`() {
        var phone = streaming()
        phone.stream(Wording.progress(nil) + Wording.progress(nil))
        phone.stream(Wording.progress("1"))
        phone.stream(
            Wording.event("progress", id: "1", #"{"type":"progress","jobId":"job-1","progress":0.6}"#))
        #expect(
            phone.takeSightings()
                == [
                    .firstEvent(job: "job-1", took: .zero), applied(nil), applied(nil), applied("1"),
                    applied("1"),
                ])
    }

    @Test func `an id that cannot stand in a header is not sent back`() {
        var phone = streaming()
        phone.stream(
            Wording.progress("1") + Wording.progress("\u{1}2")
                + Wording.progress(String(repeating: "3", count: 600)))
        // What is observed of an event is where the phone goes on from.
        #expect(
            phone.takeSightings() == [
                .firstEvent(job: "job-1", took: .zero), applied("1"), applied(nil), applied(nil),
            ])
        phone.fail(.stream, .reset)
        phone.pass(.seconds(1))
        #expect(phone.request(.stream)?.headers.contains(HeaderField("Last-Event-ID", "1")) == true)
    }

    @Test func `a block with nothing but an id moves the index to resume from, in the record too`() {
        var phone = streaming()
        phone.stream(Wording.progress("1") + "id: 2\n\n")
        #expect(phone.record?.job?.lastEventID == "2")
        _ = phone.take()
        phone.stream("id: 2\nevent: progress\n\n" + "id: \u{1}\n\n")
        #expect(phone.take() == [], "the same once more, and one that cannot stand in a header")
        phone.fail(.stream, .reset)
        phone.pass(.seconds(1))
        #expect(phone.request(.stream)?.headers.contains(HeaderField("Last-Event-ID", "2")) == true)
        let next = TestPhone(restored: phone.store.scans)
        #expect(next.request(.stream)?.headers.contains(HeaderField("Last-Event-ID", "2")) == true)
    }

    @Test(arguments: [400, AppLimits.rememberedEventsMax, 3 * AppLimits.rememberedEventsMax])
    func `a job of any length that is sent again whole is no progress`(events: Int) {
        var phone = streaming()
        let whole = (1...events).map { Wording.progress("\($0)") }
        phone.stream(whole.joined())
        phone.fail(.stream, .reset)
        phone.pass(.seconds(1))
        _ = phone.take()
        for _ in 0..<12 {
            phone.openStream()
            phone.stream(whole.joined())
            #expect(phone.record?.job?.lastEventID == "\(events)")
            phone.fail(.stream, .reset)
            while phone.request(.stream) == nil, let wake = phone.app.nextWake {
                phone.pass(wake - phone.now)
            }
        }
        #expect(phone.now > .zero + .seconds(30), "the backoff has grown")
        phone.openStream()
        _ = phone.takeSightings()
        phone.stream(Wording.progress("\(events)") + Wording.progress("new"))
        #expect(phone.takeSightings() == [applied("new")])
        #expect(phone.record?.job?.lastEventID == "new")
    }

    @Test func `an empty id takes the index to resume from away`() {
        var phone = streaming()
        phone.stream(Wording.progress("1") + "id\n" + Wording.progress(nil))
        phone.fail(.stream, .reset)
        phone.pass(.seconds(1))
        #expect(phone.request(.stream)?.headers.contains { $0.name == "Last-Event-ID" } == false)
    }

    @Test func `the first event is measured once, on a stream opened from the start`() {
        var phone = streaming()
        phone.now = phone.now + .milliseconds(7)
        phone.stream(Wording.event("ping", id: nil, "{}"))
        #expect(phone.takeSightings() == [.ping(id: nil, gap: nil)])
        phone.now = phone.now + .milliseconds(5)
        phone.stream(Wording.progress("1"))
        phone.stream(Wording.progress("2"))
        #expect(
            phone.takeSightings() == [
                .firstEvent(job: "job-1", took: .milliseconds(12)), applied("1"), applied("2"),
            ])
        phone.fail(.stream, .reset)
        phone.pass(.seconds(1))
        phone.openStream()
        _ = phone.takeSightings()
        phone.stream(Wording.progress("3"))
        #expect(phone.takeSightings() == [applied("3")])
    }

    // MARK: Stamps

    @Test func `a stamp before an event is its latency, against the machine's clock`() {
        var phone = streaming(clockZero: 5_000_000)
        phone.now = .zero + .milliseconds(20)
        phone.stream(": t=23000000\n" + Wording.progress("1"))
        #expect(phone.payloads.last == applied("1", latency: .milliseconds(2)))
        phone.stream(": t=15000000 replayed\n" + Wording.progress("2"))
        #expect(phone.payloads.last == applied("2", latency: .milliseconds(10), replayed: true))
        phone.stream(Wording.progress("3"))
        #expect(phone.payloads.last == applied("3"), "a stamp speaks of one event")
    }

    @Test func `the stamp of a ping or of an ignored event is not the next event's`() {
        var phone = streaming()
        phone.stream(": t=1\n" + Wording.event("ping", id: nil, "{}") + Wording.progress("1"))
        #expect(phone.payloads.last == applied("1"))
        phone.stream(": t=1\n" + Wording.event("odd", id: nil, "{}") + Wording.progress("2"))
        #expect(phone.payloads.last == applied("2"))
        phone.stream(": t=1\n" + Wording.progress("2") + Wording.progress("3"))
        #expect(phone.payloads.last == applied("3"))
    }

    @Test func `a stamp a little ahead is no latency at all`() {
        var phone = streaming()
        phone.stream(": t=100000000\n" + Wording.progress("1"))
        #expect(phone.payloads.last == applied("1", latency: .zero))
    }

    @Test(arguments: [
        "t=", "t=-5", "t=1x", "t=1 replayedx", "t=1  replayed", "t=99999999999999999999999",
        "t=9223372036854775807",
        "t=100000001", "T=1", "connection established", "", "t", "t=1 replayed ",
    ])
    func `any other comment says nothing`(comment: String) {
        var phone = streaming(clockZero: 0)
        phone.stream(":\(comment)\n" + Wording.progress("1"))
        #expect(phone.payloads.last == applied("1"))
        var early = streaming(clockZero: .min)
        early.stream(": \(comment)\n" + Wording.progress("1"))
        #expect(early.payloads.last == applied("1"))
    }

    @Test func `a latency beyond a day is not ours`() {
        var phone = streaming(clockZero: 100 * 3_600 * 1_000_000_000)
        phone.stream(": t=1\n" + Wording.progress("1"))
        #expect(phone.payloads.last == applied("1"))
    }
}
