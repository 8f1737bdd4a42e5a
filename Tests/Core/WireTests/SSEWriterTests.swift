import SimBase
import Testing
import Wire

@Suite struct SSEWriterTests {
    @Test func `an event is written in the backend's field order`() {
        let whole = written {
            SSEWriter.event(
                id: "17-progress", type: "progress", retry: .seconds(5), data: "{\"a\":1}", into: &$0)
        }
        #expect(whole == "id: 17-progress\nevent: progress\nretry: 5000\ndata: {\"a\":1}\n\n")
        #expect(written { SSEWriter.event(id: nil, type: "", data: "x", into: &$0) } == "data: x\n\n")
        #expect(written { SSEWriter.event(id: "", type: "", data: "", into: &$0) } == "id:\ndata: \n\n")
    }

    @Test func `data of one line are written as any data are`() {
        let line = Array("{\"a\":1}".utf8)
        let numbered = ByteBuilder.bytes {
            SSEWriter.event(id: (17, "progress"), type: "progress", line: line, into: &$0)
        }
        let bare = ByteBuilder.bytes { SSEWriter.event(id: nil, type: "", line: line, into: &$0) }
        #expect(
            String(decoding: numbered, as: UTF8.self)
                == written { SSEWriter.event(id: "17-progress", type: "progress", data: line, into: &$0) })
        #expect(String(decoding: bare, as: UTF8.self) == "data: {\"a\":1}\n\n")
    }

    @Test(arguments: ["a\nb", "a\rb", "a\r\nb"])
    func `data is split at every kind of line end`(data: String) {
        #expect(
            written { SSEWriter.event(id: nil, type: "", data: data, into: &$0) } == "data: a\ndata: b\n\n")
        #expect(
            written { SSEWriter.event(id: nil, type: "", data: Array(data.utf8), into: &$0) }
                == "data: a\ndata: b\n\n")
        #expect(written { SSEWriter.comment(data, into: &$0) } == ": a\n: b\n")
    }

    @Test func `comments, retry and ping stand alone`() {
        #expect(
            written { SSEWriter.comment("connection established", into: &$0) }
                == ": connection established\n")
        #expect(written { SSEWriter.comment("", into: &$0) } == ":\n")
        #expect(written { SSEWriter.retry(.milliseconds(5_000), into: &$0) } == "retry: 5000\n\n")
        #expect(written { SSEWriter.retry(.nanoseconds(-5), into: &$0) } == "retry: 0\n\n")
        #expect(written { SSEWriter.ping(id: nil, data: "{}", into: &$0) } == "event: ping\ndata: {}\n\n")
    }

    @Test(arguments: ["\n", "\r", "\0"])
    func `an id or a type that cannot stand in a line ends where it could not`(flaw: String) {
        let whole = written {
            SSEWriter.event(
                id: "17\(flaw)data: evil", type: "progress\(flaw)id: 9", data: "x", into: &$0)
        }
        #expect(whole == "id: 17\nevent: progress\ndata: x\n\n")
    }

    @Test(arguments: ["", " lead", "a\nb", "\n", "\n\n", "tail\n", ": colon", "\u{FEFF}mark", "nul\0"])
    func `the reader reads what the writer wrote`(data: String) {
        var bytes: [UInt8] = []
        SSEWriter.event(id: " 1", type: " t", data: data, into: &bytes)
        #expect(items([bytes]) == [event(data, type: " t", id: " 1")])
    }
}
