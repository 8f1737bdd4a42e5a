import Talaria
import Testing

@Suite struct SocketMessageTests {
    @Test(arguments: [
        (#"{"progress":1}"#, #"{"jobId":"a","progress":1}"#), ("{ }", #"{"jobId":"a"}"#),
        (#"{"jobId":"b"}"#, #"{"jobId":"b"}"#), ("[1]", "[1]"),
    ])
    func `the data of an event have the job of the envelope, unless they name one`(
        payload: String, data: String
    ) throws {
        let text = #"{"type":"job_progress","jobId":"a","timestamp":5,"payload":\#(payload)}"#
        let message = try #require(SocketMessage(Array(text.utf8)))
        #expect(String(decoding: message.eventData, as: UTF8.self) == data)
        #expect(message.eventID == "5-progress")
    }

    @Test(arguments: [
        (
            "job_started", #"{"totalCount":3,"estimatedDuration":9}"#,
            #"{"jobId":"a","status":"processing","progress":0,"processedCount":0,"totalCount":3}"#
        ),
        ("reconnected", #"{"progress":1,"lastUpdate":1,"message":"m"}"#, #"{"jobId":"a","progress":1}"#),
    ])
    func `a message has the data of an event, whatever its type leaves out or adds`(
        type: String, payload: String, data: String
    ) throws {
        let text = #"{"type":"\#(type)","jobId":"a","timestamp":5,"payload":\#(payload)}"#
        let message = try #require(SocketMessage(Array(text.utf8)))
        #expect(String(decoding: message.eventData, as: UTF8.self) == data)
    }
}
