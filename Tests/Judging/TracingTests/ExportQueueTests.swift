import JSON
import SimBase
import Testing

@testable import Tracing

/// Batches, retries and the form of what is sent.
@Suite struct ExportQueueTests {
    private static let second = Instant.zero + .seconds(1)

    private func queue(_ change: (inout ExportQueue.Limits) -> Void = { _ in }) -> ExportQueue {
        var limits = ExportQueue.Limits()
        change(&limits)
        return ExportQueue(Samples.writer(), limits)
    }

    private static func required(_ request: ExportQueue.Request?) throws -> ExportQueue.Request {
        try #require(request)
    }

    private func spans(of request: ExportQueue.Request?) -> [JSONNode] {
        let resource = request.flatMap { JSONNode($0.body)?["resourceSpans"]?.elements.first }
        return resource?["scopeSpans"]?.elements.first?["spans"]?.elements ?? []
    }

    @Test func `ids are digits, 64 bits are texts and kinds are numbers`() throws {
        var queue = self.queue()
        queue.add(Samples.span(), at: .zero)
        let early = queue.next(at: .zero)
        #expect(early == nil)
        let request = try Self.required(queue.next(at: Self.second))
        let resource = JSONNode(request.body)?["resourceSpans"]?.elements.first?["resource"]
        let attributes = resource?["attributes"]?.elements.compactMap { $0["value"]?["stringValue"]?.text }
        #expect(attributes == ["swiftwing-sim", "1.2.3", "0000000000000009", "a \"b\""])
        let span = try #require(self.spans(of: request).first)
        #expect(span["traceId"]?.text == "00000000000000090000000700000001")
        #expect(span["spanId"]?.text == "0000000000000001")
        #expect(span["startTimeUnixNano"]?.text == "1700000000123000000")
        #expect(span["kind"]?.integer == 1)
        let values = span["attributes"]?.elements.compactMap { $0["value"] } ?? []
        #expect(values.first?["intValue"]?.text == "9223372036854775807")
        #expect(values.last?["boolValue"]?.flag == true)
        #expect(span["attributes"]?.elements.first?["key"]?.text == "swiftwing.device")
    }

    @Test func `spans go in batches, several at once, and what does not fit is counted`() {
        var queue = self.queue { ($0.batchSpans, $0.spansMax, $0.requestsMax) = (2, 5, 2) }
        for number in 1...7 { queue.add(Samples.span(UInt32(number)), at: .zero) }
        #expect(queue.counts.dropped == 2)
        let requests = [queue.next(at: .zero), queue.next(at: .zero)]
        #expect(requests.map { self.spans(of: $0).count } == [2, 2])
        let third = queue.next(at: .zero)
        #expect(third == nil)
        #expect(queue.nextWake == .zero + .seconds(1))
        for request in requests {
            queue.answered(request?.slot ?? 0, status: 200, wait: nil, body: [], at: .zero)
        }
        #expect(queue.spans == 1 && queue.counts.exported == 4)
        let last = queue.next(at: Self.second)
        #expect(self.spans(of: last).count == 1)
    }

    @Test func `a busy collector is asked again, not before it wants to be`() throws {
        var queue = self.queue { $0.batchSpans = 1 }
        queue.add(Samples.span(), at: .zero)
        let first = try Self.required(queue.next(at: .zero))
        queue.answered(first.slot, status: 503, wait: .seconds(7), body: [], at: Self.second)
        #expect(queue.nextWake == .zero + .seconds(8))
        let early = queue.next(at: .zero + .milliseconds(7_999))
        #expect(early == nil)
        let again = try Self.required(queue.next(at: .zero + .seconds(8)))
        #expect(again.body == first.body)
        queue.answered(again.slot, status: 200, wait: nil, body: [], at: .zero + .seconds(8))
        #expect(queue.counts.exported == 1 && queue.counts.dropped == 0 && queue.isEmpty)
    }

    @Test func `a batch is given up after some tries, and the waits grow`() {
        var queue = self.queue { $0.batchSpans = 1 }
        queue.add(Samples.span(), at: .zero)
        queue.add(Samples.span(2), at: .zero)
        var now = Instant.zero
        var waits: [Int64] = []
        for _ in 1...5 {
            guard let request = queue.next(at: now) else { break }
            // One at a time, where the last has failed.
            let another = waits.isEmpty ? nil : queue.next(at: now)
            #expect(another == nil)
            queue.failed(request.slot, "connection refused", at: now)
            guard let wake = queue.nextWake else { break }
            waits.append((wake - now).wholeMilliseconds)
            now = wake
        }
        #expect(waits.count == 5)
        for (wait, least) in zip(waits, [1_000, 1_500, 2_250, 3_375, 5_062] as [Int64]) {
            #expect((least...least + least / 4 + 1).contains(wait))
        }
        #expect(queue.counts.dropped == 1 && queue.spans == 1)
        #expect(queue.counts.trouble == "connection refused")
        queue.giveUp()
        #expect(queue.counts.dropped == 2 && queue.isEmpty)
    }

    @Test func `what a collector refuses for good or in part is dropped and counted`() throws {
        var queue = self.queue { $0.batchSpans = 3 }
        for number in 1...6 { queue.add(Samples.span(UInt32(number)), at: .zero) }
        let first = try Self.required(queue.next(at: .zero))
        queue.answered(first.slot, status: 400, wait: .seconds(9), body: [], at: .zero)
        let second = try Self.required(queue.next(at: .zero))
        let partial = #"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#
        queue.answered(second.slot, status: 200, wait: nil, body: Array(partial.utf8), at: .zero)
        #expect(queue.counts.exported == 1 && queue.counts.dropped == 5)
        #expect(queue.counts.trouble == "rejected: too old")
    }

    @Test func `an answer that is not of OTLP is none`() throws {
        var queue = self.queue { $0.batchSpans = 3 }
        for number in 1...6 { queue.add(Samples.span(UInt32(number)), at: .zero) }
        for body in ["<html>login</html>", #"{"partialSuccess":{"rejec"#] {
            let request = try Self.required(queue.next(at: .zero))
            queue.answered(request.slot, status: 200, wait: nil, body: Array(body.utf8), at: .zero)
        }
        #expect(queue.counts.exported == 0 && queue.counts.dropped == 6 && queue.isEmpty)
        #expect(queue.counts.trouble == "an answer that is not of OTLP")
    }

    @Test func `the metrics come last, and are known to have arrived`() throws {
        var queue = self.queue()
        queue.add(Samples.span(), at: .zero)
        queue.finish(metrics: Samples.writer().metrics([Array("{}".utf8), Array("{}".utf8)]))
        let requests = [queue.next(at: .zero), queue.next(at: .zero)].compactMap { $0 }
        try #require(requests.map(\.signal) == [.traces, .metrics])
        let metrics = JSONNode(requests[1].body)?["resourceMetrics"]?.elements.first?["scopeMetrics"]
        #expect(metrics?.elements.first?["metrics"]?.elements.count == 2)
        #expect(queue.counts.hasMetrics == nil)
        queue.answered(requests[1].slot, status: 200, wait: nil, body: Array("{}".utf8), at: .zero)
        #expect(queue.counts.hasMetrics == true)
        queue.giveUp()
        #expect(queue.counts.dropped == 1)
    }
}
