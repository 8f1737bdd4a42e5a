import JSON
import Metrics
import Observations
import SimBase
import Talaria
import Testing

@testable import Tracing

/// What of a run's observations becomes a span.
@Suite struct SpanFolderTests {
    private static let phone = DeviceNumber(7)

    /// Each observation with its time in milliseconds; scan 0 is the phone. Spans come as they are finished.
    private func fold(
        _ story: [(Int64, UInt32, ObservationPayload)], cause: Cause? = nil, end: Int64? = nil
    ) -> [Span] {
        var folder = SpanFolder(Samples.settings)
        var spans: [Span] = []
        for (moment, scan, payload) in story {
            folder.record(
                Observation(
                    at: .zero + .milliseconds(moment), device: Self.phone, scan: ScanNumber(scan),
                    what: payload),
                cause: cause
            ) { spans.append($0) }
        }
        if let end { folder.finish(at: .zero + .milliseconds(end)) { spans.append($0) } }
        return spans
    }

    private func sent(_ operation: Talaria.Operation, _ attempt: UInt32, job: String? = nil)
        -> ObservationPayload
    {
        .phone(.requestSent(operation, attempt: attempt, job: job, lastEventID: nil))
    }

    private func replied(_ operation: Talaria.Operation, _ attempt: UInt32, _ status: Int)
        -> ObservationPayload
    {
        .phone(.replied(operation, attempt: attempt, status: status, took: .zero))
    }

    private static let whole: [(Int64, UInt32, ObservationPayload)] = [
        (10, 1, .phone(.captured(scheduled: .zero + .milliseconds(5)))),
        (40, 1, .phone(.photoPrepared(took: .milliseconds(20), bytes: 900))),
        (50, 1, .phone(.requestSent(.upload, attempt: 1, job: nil, lastEventID: nil))),
        (90, 1, .phone(.replied(.upload, attempt: 1, status: 202, took: .milliseconds(40)))),
        (95, 1, .phone(.uploadAccepted(job: "j", took: .zero, service: .zero))),
        (96, 1, .phone(.requestSent(.stream, attempt: 1, job: "j", lastEventID: nil))),
        (99, 1, .phone(.replied(.stream, attempt: 1, status: 200, took: .zero))),
        (99, 1, .phone(.streamOpened(job: "j", attempt: 1, after: nil, took: .zero))),
        (120, 1, .phone(.eventApplied(job: "j", id: "e1", kind: .progress, latency: .zero, replayed: false))),
        (
            130, 1,
            .phone(.eventApplied(job: "j", id: "e2", kind: .completed, latency: .zero, replayed: false))
        ),
        (130, 1, .phone(.terminalApplied(job: "j", kind: .completed, inline: .absent))),
        (131, 1, .phone(.requestSent(.results, attempt: 1, job: "j", lastEventID: nil))),
        (140, 1, .phone(.replied(.results, attempt: 1, status: 200, took: .zero))),
        (141, 1, .phone(.resultsDecoded(job: "j", books: 2, took: .zero))),
        (150, 1, .phone(.completed(took: .milliseconds(145)))),
        (151, 1, .phone(.requestSent(.cleanup, attempt: 1, job: "j", lastEventID: nil))),
        (160, 1, .phone(.replied(.cleanup, attempt: 1, status: 204, took: .zero))),
        (160, 1, .phone(.cleanupAnswered(job: "j", status: 204, took: .zero))),
    ]

    @Test func `a scan is one trace, with the ids of the headers of its requests`() {
        let spans = self.fold(Self.whole)
        #expect(
            spans.map { "\($0.name) \($0.start.milliseconds) \($0.end.milliseconds)" } == [
                "preprocess 20 40", "upload 50 95", "stream 96 130", "results 131 141", "scan 5 150",
                "cleanup 151 160",
            ])
        for span in spans {
            let header = Talaria.Operation.allCases.first { $0.name == span.name }.map {
                TraceContext(
                    run: 9, device: Self.phone, scan: ScanNumber(1), operation: $0, attempt: 1
                ).headerValue
            }
            let ids = Samples.ids(of: span)
            if let header { #expect(header == "00-\(ids.trace)-\(ids.span)-01") }
            #expect(ids.parent == (span.name == "scan" ? nil : "0000000000000001"))
            #expect(span.error == nil && span.kind == (header == nil ? .internal : .client))
        }
        #expect(spans[2].events.map { "\($0.name)" } == ["event-applied", "event-applied"])
        #expect(Set(spans.map(\.id)).count == spans.count)
    }

    @Test func `a request has the attributes of the conventions, and a scan its own`() throws {
        let spans = self.fold(Self.whole)
        let stream = spans[2]
        #expect(stream["http.request.method"] == .text("GET"))
        #expect(stream["http.response.status_code"] == .number(200))
        #expect(stream["url.path"] == .text("/base/v3/jobs/scans/j/stream"))
        #expect(stream["url.template"] == .text("/base/v3/jobs/scans/{jobId}/stream"))
        #expect(stream["server.address"] == .text("127.0.0.1"))
        #expect(stream["server.port"] == .number(8_080))
        #expect(stream["network.protocol.version"] == .text("1.1"))
        #expect(stream["device"] == .number(7))
        #expect(stream["group"] == .text("commuters"))
        let scan = spans[4]
        #expect(scan["outcome"] == .text("completed"))
        #expect(scan["job"] == .text("j"))
    }

    static let failures: [([(Int64, UInt32, PhoneObservation)], error: String)] = [
        ([(60, 1, .requestFailed(.upload, attempt: 1, .reset, took: .zero))], "reset"),
        ([(60, 1, .replied(.upload, attempt: 1, status: 503, took: .zero))], "503"),
        (
            [
                (60, 1, .replied(.upload, attempt: 1, status: 202, took: .zero)),
                (60, 1, .badAnswer(.upload, attempt: 1, .undecodable)),
            ], "undecodable"
        ),
        ([(60, 0, .killed)], "killed"), ([(60, 0, .suspended)], "suspended"),
        ([(60, 1, .canceled(job: nil))], "canceled"),
        ([(60, 1, .requestSent(.upload, attempt: 2, job: nil, lastEventID: nil))], "abandoned"),
    ]

    @Test(arguments: failures) func `a request that fails says why, and whose fault it was`(
        _ rest: [(Int64, UInt32, PhoneObservation)], error: String
    ) {
        let spans = self.fold(
            [
                (10, 1, .phone(.captured(scheduled: .zero))), (50, 1, self.sent(.upload, 1)),
                (55, 1, .fault(.fired(fault: 0, .upload, attempt: 1))),
            ] + rest.map { ($0, $1, .phone($2)) }, cause: .injected(fault: "storm"))
        let upload = spans.first { $0.name == "upload" }
        #expect(upload?.error == error)
        #expect(upload?["error.type"] == .text(error))
        #expect(upload?.faults == ["storm"])
        #expect(upload?.end.milliseconds == 60)
        if ["reset", "503", "undecodable", "killed"].contains(error) {
            #expect(upload?["cause"] == .text("injected"))
            #expect(upload?["cause.fault"] == .text("storm"))
        }
    }

    @Test func `each connection of a stream is a span, and the scan has what lies between`() {
        let spans = self.fold([
            (10, 1, .phone(.captured(scheduled: .zero))), (20, 1, self.sent(.stream, 1, job: "j")),
            (30, 1, .phone(.streamOpened(job: "j", attempt: 1, after: nil, took: .zero))),
            (40, 1, .phone(.streamLost(job: "j", attempt: 1, .silence, silence: .seconds(20)))),
            (50, 1, self.sent(.stream, 2, job: "j")),
            (60, 1, .phone(.streamOpened(job: "j", attempt: 2, after: "e1", took: .zero))),
            (70, 1, .phone(.terminalApplied(job: "j", kind: .error, inline: .absent))),
            (71, 1, .phone(.refused(code: "AI_FAILED", cause: .event(job: "j", retryable: false)))),
        ])
        #expect(spans.map(\.name) == ["stream", "stream", "scan"])
        #expect(spans.map(\.error) == ["silence", "job-failed", "event"])
        #expect(spans[1]["resumed_after"] == .text("e1"))
        #expect(spans[1]["http.request.resend_count"] == .number(1))
        #expect(spans[2].events.map { "\($0.name)" } == ["stream-lost"])
        #expect(spans[2]["code"] == .text("AI_FAILED"))
    }

    @Test func `events of a span are bounded and counted`() {
        var story = Self.whole
        story.removeLast(9)
        let event = PhoneObservation.eventApplied(
            job: "j", id: nil, kind: .progress, latency: nil, replayed: false)
        for count in 0..<60 { story.append((125 + Int64(count), 1, .phone(event))) }
        let stream = self.fold(story, end: 500).first { $0.name == "stream" }
        #expect(stream?.events.count == Span.eventsMax)
        #expect(stream?.eventsDropped == 61 - Span.eventsMax)
    }

    @Test func `what is open at the end is unfinished, and what lost observations have is dropped`() {
        let story = Array(Self.whole.prefix(8))
        let spans = self.fold(story, end: 300)
        #expect(spans.suffix(2).map(\.name) == ["stream", "scan"])
        for span in spans.suffix(2) {
            #expect(span["outcome"] == .text("unfinished"))
            #expect(span.end.milliseconds == 300 && span.error == nil)
        }
        var folder = SpanFolder(Samples.settings)
        for (moment, scan, payload) in story {
            let at = Instant.zero + .milliseconds(moment)
            folder.record(
                Observation(at: at, device: Self.phone, scan: ScanNumber(scan), what: payload), cause: nil
            ) { _ in }
        }
        folder.forget()
        #expect(folder.dropped == 2)
        folder.finish(at: .zero) { Issue.record("\($0.name) was forgotten") }
        #expect(story.count { SpanFolder.begun(by: Samples.observation($0.2)) > 0 } == 4)
    }

    @Test func `a scan that an earlier run left has a span as well`() {
        let spans = self.fold([(50, 4, self.sent(.upload, 3)), (60, 4, .phone(.completed(took: .zero)))])
        #expect(spans.map(\.name) == ["upload", "scan"])
        #expect(spans[1]["restored"] == .flag(true))
    }
}

enum Samples {
    static let settings = SpanSettings(
        run: 9, PhoneGroups([("commuters", 20)]), journeys: [.scan], faults: ["storm"],
        server: ("127.0.0.1", 8_080), basePath: "/base", http: "1.1")

    static func writer() -> OTLPWriter {
        OTLPWriter(
            run: 9, zero: 1_700_000_000_123_000_000, version: "1.2.3",
            resource: [("swiftwing.scenario", .text("a \"b\""))])
    }

    static func json(of span: Span) -> JSONNode? {
        var writer = JSONWriter(.standard, reserving: 100)
        self.writer().write(span, to: &writer)
        return JSONNode(writer.bytes)
    }

    static func ids(of span: Span) -> (trace: String, span: String, parent: String?) {
        let node = self.json(of: span)
        return (node?["traceId"]?.text ?? "", node?["spanId"]?.text ?? "", node?["parentSpanId"]?.text)
    }

    static func observation(_ payload: ObservationPayload) -> Observation {
        Observation(at: .zero, device: DeviceNumber(7), scan: ScanNumber(1), what: payload)
    }

    static func span(_ number: UInt32 = 1) -> Span {
        Span(
            DeviceNumber(7), ScanNumber(number), id: 1, isRoot: true, "scan", .internal, from: .zero,
            [.own("device", .number(.max)), .own("ok", .flag(true))])
    }
}

extension Span {
    subscript(key: String) -> SpanAttribute.Value? {
        self.attributes.first { "\($0.key)" == key }?.value
    }
}

extension Instant {
    var milliseconds: Int64 { self.nanoseconds / 1_000_000 }
}
