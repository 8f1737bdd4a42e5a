import SimBase
import Talaria
import Testing

/// The short way of reading progress says what the long one says, which a blank at the end leads to.
@Suite struct PlainObjectTests {
    private func decoded(_ data: String) -> JobEvent {
        JobEvent(name: "progress", data: data + " ")
    }

    static let plain = [
        #"{"currentItem":"Dune – “Herbert”","jobId":"j-1","message":"Enriching 3 of 8…","processedCount":3,"#
            + #""progress":0.64,"status":"processing","timestamp":"2026-01-25T10:00:01.000Z","totalCount":8,"#
            + #""type":"progress"}"#,
        #"{"jobId":"j","type":"progress"}"#, #"{"type":"","jobId":"","progress":0}"#,
        #"{"type":"progress","jobId":"j","progress":12.5,"processedCount":0,"totalCount":10}"#,
    ]

    @Test(arguments: PlainObjectTests.plain) func `plain data reads as the decoder reads it`(data: String) {
        #expect(JobEvent(name: "progress", data: data) == self.decoded(data))
        #expect(self.decoded(data) != .malformed(.progress))
    }

    @Test(arguments: [
        #"{"jobId":"j","type":"progress","extra":[1,{"a":null}]}"#, #"{ "jobId" : "j", "type":"progress" }"#,
        #"{"jobId":"j\u0041\n","type":"progress"}"#, #"{"jobId":"j","type":"progress","progress":1e-2}"#,
        #"{"jobId":"j","type":"progress","progress":-1}"#, #"{"jobId":"j","type":"progress","message":null}"#,
        #"{"jobId":"j","type":"progress","processedCount":3.0}"#, #"{"jobId":"j","jobId":"k","type":"p"}"#,
        #"{"jobId":"j","type":"progress","processedCount":"3"}"#,
        #"{"jobId":"j","type":"progress","progress":1.}"#,
        #"{"jobId":"j","type":"progress","processedCount":007}"#, #"{"jobId":"j","type":"progress"}x"#,
        #"{"jobId":"j","type":"progress","totalCount":99999999999999999999}"#, #"{"jobId":"j"}"#, "{}", "",
        "{",
        #"{"jobId":"j","type":"progress","progress":0.1234567890123456789}"#,
        #"{"jobId":"j","type":"progress",}"#,
        #"["progress"]"#, #"{"jobId":"j","type":"progress""#, #"{"jobId":5,"type":"progress"}"#,
        "{\"jobId\":\"\u{1}\",\"type\":\"progress\"}",
    ]) func `what is not plain is the decoder's to judge`(data: String) {
        #expect(JobEvent(name: "progress", data: data) == self.decoded(data))
    }

    @Test func `damaged data reads as the decoder reads it`() {
        let random = KeyedRandom(seed: 11)
        for round in 0..<20_000 as Range<UInt64> {
            var bytes = Array(Self.plain[Int(round % UInt64(Self.plain.count))].utf8)
            for change in 0...random.below(3, .photo, round, 99) {
                let offset = Int(random.below(UInt64(bytes.count), .photo, round, change * 2))
                let byte = UInt8(random.below(96, .photo, round, change * 2 + 1)) + 0x20
                switch random.below(3, .photo, round, change + 50) {
                case 0: bytes[offset] = byte
                case 1: bytes.insert(byte, at: offset)
                default: bytes.remove(at: offset)
                }
            }
            let data = String(decoding: bytes, as: UTF8.self)
            #expect(JobEvent(name: "progress", data: data) == self.decoded(data), "\(data)")
        }
    }
}
