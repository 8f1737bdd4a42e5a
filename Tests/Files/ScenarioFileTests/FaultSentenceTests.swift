import Testing

@testable import ScenarioFile

/// Faults in words: what a scenario need not write is left out.
struct FaultSentenceTests {
    @Test(arguments: [
        ("{do: reset, on: stream}", "resets the connection (RST) (on a stream)"),
        (
            "{do: reset, on: upload, side: request, after: 4KiB, cut: {after-bytes: 7}, chance: 20%}",
            "resets the connection (RST) (on an upload, after 4096 bytes, 7 bytes later, while the request is sent, with a chance of 20%)"
        ),
        (
            "{do: silence, on: stream, after: 1 events, cut: inside-event, count: 2, scan: 3, attempt: 1}",
            "leaves the connection half open: no data passes, and neither side is notified (on a stream, after 1 event, inside an event, up to 2 times per scan, for scan 3 of a phone, at attempt 1)"
        ),
        (
            "{do: kill, after: 2 records, for: 500ms, scope: 50% of phones}",
            "kills the app, which is started again after 500ms (after 2 writes of the app to its storage, for 50% of the phones)"
        ),
        (
            "{do: offline, at: 8s, for: 4s}",
            "takes the phone offline: no data leaves or reaches it, and connections are not closed (from 8s on, for 4s)"
        ),
        (
            "{do: http-error, on: results, status: 503, retry-after: 1s}",
            "answers with an error (on a request for results, status 503, retry-after 1s)"
        ),
        ("{do: two-terminals}", "sends a second terminal event after the first"),
    ])
    func `a fault is a sentence`(written: String, told: String) throws {
        let fault = try #require(try load(minimal + "faults:\n  - \(written)\n").faults.first)
        #expect(FaultSentence.text(fault) == told)
    }
}
