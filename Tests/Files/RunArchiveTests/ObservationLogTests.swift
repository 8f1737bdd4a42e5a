import Foundation
import JSON
import Observations
import SimBase
import Talaria
import Testing

@testable import RunArchive

@Suite struct ObservationLogTests {
    private func line(_ what: ObservationPayload, scan: UInt32, tracing: Bool) -> String? {
        var log = ObservationLog(isTracing: tracing, faults: ["rate-limit-1", "reset-1"])
        let observation = Observation(
            at: Instant(nanoseconds: 1_250_000_007), device: DeviceNumber(7), scan: ScanNumber(scan),
            what: what)
        return log.line(observation).map { String(decoding: $0, as: UTF8.self) }
    }

    private func line(_ what: ObservationPayload) -> String? { self.line(what, scan: 2, tracing: true) }

    // MARK: Form

    @Test func `keys stand in a fixed order`() {
        #expect(
            self.line(.phone(.streamLost(job: "j1", attempt: 3, .silence, silence: .milliseconds(2_500))))
                == #"{"t":1250000007,"device":7,"scan":2,"side":"phone","what":"stream-lost","job":"j1","attempt":3,"cause":"silence","silence_ns":2500000000}"#
                + "\n")
        #expect(
            self.line(.backend(.streamOpened(job: "j1", attempt: 1, after: nil)))
                == #"{"t":1250000007,"device":7,"scan":2,"side":"backend","what":"stream-opened","job":"j1","attempt":1,"after":null}"#
                + "\n")
        #expect(
            self.line(.fault(.fired(fault: 1, .stream, attempt: 2)))
                == #"{"t":1250000007,"device":7,"scan":2,"side":"fault","what":"fired","fault":"reset-1","operation":"stream","attempt":2}"#
                + "\n")
    }

    @Test func `an error ends with its cause`() {
        var log = ObservationLog(isTracing: false, faults: [])
        let error = Observation(
            at: .zero, device: DeviceNumber(7), scan: ScanNumber(1),
            what: .phone(.replied(.upload, attempt: 1, status: 503, took: .zero)))
        let head =
            #"{"t":0,"device":7,"scan":1,"side":"phone","what":"replied","operation":"upload","attempt":1,"status":503,"took_ns":0"#
        let causes: [(Cause, String)] = [
            (.target, #","by":"target"}"#),
            (.injected(fault: "http-error-1"), #","by":"injected","fault":"http-error-1"}"#),
        ]
        for (cause, end) in causes {
            #expect(log.line(error, cause: cause) == Array((head + end + "\n").utf8))
        }
    }

    @Test func `an observation of no scan has none`() {
        #expect(
            self.line(.phone(.killed), scan: 0, tracing: false)
                == #"{"t":1250000007,"device":7,"scan":null,"side":"phone","what":"killed"}"# + "\n")
    }

    @Test func `a fault that the scenario does not have is called by its index`() {
        #expect(self.line(.fault(.began(fault: 9)))?.contains(##""fault":"#9""##) == true)
    }

    // MARK: Every observation

    private static let book = Book(
        title: "T", author: "A", isbn: nil, confidence: 0.5, enrichmentStatus: .pending, coverUrl: nil)

    static let payloads: [ObservationPayload] =
        ([
            .launched(restored: 1), .killed, .suspended, .resumed, .pathLost, .pathReturned,
            .captured(scheduled: .zero), .photoPrepared(took: .zero, bytes: 1),
            .photoRejected(reason: "too dark"), .queued(.rateLimited),
            .slotTaken, .slotGiven, .bookAdded(ordinal: 0, book: book), .bookRepeated(ordinal: 0, book: book),
            .completed(took: .zero), .refused(code: "X", cause: nil),
            .requestSent(.stream, attempt: 1, job: nil, lastEventID: "9"),
            .replied(.upload, attempt: 1, status: 202, took: .zero),
            .requestFailed(.upload, attempt: 1, .tls, took: .zero),
            .badAnswer(.results, attempt: 1, .tooLarge),
            .found(
                ContractFinding(
                    operation: .upload, part: "202", path: "data.sseUrl", expected: "a string",
                    seen: "a number", excerpt: "7", isDecisive: true, count: 2)),
            .uploadAccepted(job: "j", took: .zero, service: .zero), .keySent(attempt: 1, key: "scan_1"),
            .lookupAnswered(found: true, repeated: false, took: .zero, service: .zero),
            .rateLimited(.upload, retryAfter: .zero), .resultsDecoded(job: "j", books: 1, took: .zero),
            .resultsGivenUp(job: "j"), .cleanupAnswered(job: "j", status: 404, took: .zero),
            .jobAbandoned(job: "j", cause: .waiting(.offline)),
            .streamOpened(job: "j", attempt: 1, after: nil, took: .zero),
            .firstEvent(job: "j", took: .zero),
            .eventApplied(job: "j", id: nil, kind: .completed, latency: nil, replayed: true),
            .eventIgnored(job: "j", id: nil, name: "n", malformed: false), .ping(id: nil, gap: nil),
            .terminalApplied(job: "j", kind: .error, inline: .null),
            .streamLost(job: "j", attempt: 1, .reset, silence: nil),
            .reconnected(job: "j", .offline, attempts: 2, resumed: true, took: .zero),
            .reconnectGivenUp(job: "j", .offline, attempts: 2),
            .reconnectSuperseded(job: "j", .offline, attempts: 2), .reinstalled(discarded: 3), .pathChanged,
            .storageFilled, .storageFreed, .lostFromStorage(books: 2), .clockSet(ahead: .seconds(-90)),
            .recordKept(job: "j", lastEventID: "9", decided: true),
        ] as [PhoneObservation]).map { .phone($0) }
        + ([
            .connected(connection: .max), .requested(.cleanup, attempt: 1, connection: 1),
            .answered(.cleanup, attempt: 1, status: 204), .accepted(job: "j", books: 3),
            .streamOpened(job: "j", attempt: 1, after: 4),
            .eventWritten(job: "j", id: "1", position: 0, kind: .error, replayed: false),
            .pingWritten(job: "j"),
            .streamEnded(job: "j", attempt: 1, byPeer: true), .finished(job: "j", kind: .completed, books: 3),
            .tokenRevoked(job: "j"), .resultsServed(job: "j", books: 3), .cleaned(job: "j", effective: true),
            .canceled(job: "j"), .expired(job: "j"), .vanished(job: "j"), .circuitOpened(job: "j"),
            .circuitClosed(job: "j"), .upstreamFailed(.upload, attempt: 1, .timedOut),
            .problem(.stream, attempt: 1, status: 429, job: "j", retryable: true, retryAfter: .zero),
            .failed(job: "j", code: "c", retryable: true),
            .bookLookedUp(BookLookup(key: nil, barcode: "1", isFound: true, isBilled: false)),
        ] as [BackendObservation]).map { .backend($0) }
        + ([
            .decided(fault: 0, .upload, attempt: 1, fires: true), .fired(fault: 0, .upload, attempt: 1),
            .began(fault: 0), .ended(fault: 0),
        ] as [FaultObservation]).map { .fault($0) }

    @Test func `every payload is one line of JSON and says what it is`() throws {
        var seen = Set<String>()
        for payload in Self.payloads {
            let line = try #require(self.line(payload))
            #expect(line.hasSuffix("}\n") && line.count { $0 == "\n" } == 1)
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
            #expect(object["t"] as? Int == 1_250_000_007)
            let side = try #require(object["side"] as? String)
            let what = try #require(object["what"] as? String)
            #expect(seen.insert("\(side) \(what)").inserted, "two sightings are called \(side) \(what)")
        }
        #expect(seen.count == 71)
    }

    @Test func `pings and progress are written only with a trace`() {
        let often: [ObservationPayload] = [
            .phone(.ping(id: nil, gap: nil)), .backend(.pingWritten(job: "j")),
            .phone(.eventApplied(job: "j", id: "1", kind: .progress, latency: nil, replayed: false)),
            .backend(.eventWritten(job: "j", id: "1", position: 0, kind: .progress, replayed: false)),
        ]
        for payload in often {
            #expect(self.line(payload, scan: 1, tracing: false) == nil)
            #expect(self.line(payload, scan: 1, tracing: true) != nil)
        }
        let rare: [ObservationPayload] = [
            .phone(.eventApplied(job: "j", id: "1", kind: .completed, latency: nil, replayed: false)),
            .backend(
                .eventWritten(job: "j", id: "1", position: 0, kind: .enrichmentDegraded, replayed: false)),
        ]
        for payload in rare { #expect(self.line(payload, scan: 1, tracing: false) != nil) }
    }

    // MARK: Hostile text

    @Test func `whatever a server names a job stays one line and means the same`() throws {
        let hostile = "\"},{\u{0}\n\r\t\\ \u{1B}[31m\u{7F}\u{85}\u{2028}\u{202E}</script>é€😀"
        let line = try #require(self.line(.phone(.resultsGivenUp(job: hostile))))
        #expect(line.count { $0.isNewline } == 1)
        #expect(
            !line.unicodeScalars.dropLast().contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["job"] as? String == hostile)
    }

    @Test func `endless text is cut`() throws {
        let endless = String(repeating: "é", count: 1_000_000)
        let line = try #require(self.line(.phone(.refused(code: endless, cause: nil))))
        #expect(line.utf8.count < ObservationLog.textBytesMax + 120)
        #expect(line.contains("é…\",\"cause\":null}"))
    }
}
