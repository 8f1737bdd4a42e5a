import Testing
import Wire

/// WHATWG: at the end of the file pending data is discarded.
@Suite struct SSEEndTests {
    @Test(arguments: [
        "data: x", "data: x\n", "id: 2", "id: 2\n", "event: t\n", ": half", "id: 2\ndata: x\n", "retry: 5",
    ])
    func `what has no end is discarded and its id not adopted`(rest: String) {
        var reader = SSEReader(limits: .standard)
        var items: [SSEItem] = []
        reader.receive(Array("id: 1\ndata: whole\n\n\(rest)".utf8), into: &items)
        let discarded = reader.finish()
        #expect(discarded)
        #expect(items == [event("whole", id: "1")])
        #expect(reader.lastEventID == "1")
        reader.receive(Array("data: next\n\n".utf8), into: &items)
        #expect(items == [event("whole", id: "1"), event("next", lastID: "1")])
    }

    @Test func `a clean end discards nothing`() {
        var reader = SSEReader(limits: .standard)
        var items: [SSEItem] = []
        let untouched = reader.finish()
        reader.receive(Array("data: x\n\n: bye\nretry: 1\n".utf8), into: &items)
        let discarded = reader.finish()
        #expect(!untouched && !discarded)
    }

    @Test func `an LF that begins the next connection is not the end of a CR`() {
        var reader = SSEReader(limits: .standard)
        var items: [SSEItem] = []
        reader.receive(Array("id: 1\r".utf8), into: &items)
        reader.finish()
        reader.receive(Array("\ndata: x\n\n".utf8), into: &items)
        #expect(items == [event("x")])
    }
}
