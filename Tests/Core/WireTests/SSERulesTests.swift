import Testing
import Wire

/// Readers of clients that do not follow the standard (Docs/apps.md sections 4.11, Q1 and Q4, and 6.2, B7).
@Suite struct SSERulesTests {
    @Test(arguments: [
        ("event: a\ndata: one\ndata: two\n\n", [event("two", type: "a")]),
        ("event: a\ndata: one\ndata:\n\n", [event("", type: "a")]),
        ("data: x\n\nevent: a\ndata: y\n\n", [event("y", type: "a")]),
        ("id: 1\ndata: x\n\nevent: a\ndata: y\n\n", [event("y", type: "a")]),
        ("event:  a \ndata:\t x \n\n", [event("x", type: "a")]),
    ])
    func `the last data line counts, and names are needed`(text: String, expected: [SSEItem]) {
        #expect(items(text, rules: .lastDataLine) == expected)
    }

    @Test func `without its empty lines a stream has no events`() {
        let text = "event: a\ndata: x\n\nid: 1\nevent: b\ndata: y\n\n: comment\n"
        let items = items(text, rules: .withoutEmptyLines)
        #expect(items.count == 1)
        guard case .comment? = items.first else {
            Issue.record("\(items)")
            return
        }
    }

    @Test(arguments: [
        ("event: a\ndata: é\n\nevent: b\ndata: y\n\n", [event("é", type: "a"), event("y")]),
        // One character for each byte too many, whatever its own length.
        ("event: a\ndata: €\n\nééevent: b\ndata: y\n\n", [event("€", type: "a"), event("y", type: "b")]),
        ("event: a\ndata: x\n\nevent: b\ndata: y\n\n", [event("x", type: "a"), event("y", type: "b")]),
        ("data: x\ndata: y\n\n", [event("x\ny")]),
    ])
    func `behind other characters than ASCII the buffer is cut short`(text: String, expected: [SSEItem]) {
        #expect(items(text, rules: .shortRemainder) == expected)
    }

    @Test func `what comes in a piece of its own is not cut short`() {
        var reader = SSEReader(limits: .standard, rules: .shortRemainder)
        var items: [SSEItem] = []
        for piece in ["event: a\ndata: é\n\n", "event: b\ndata: y\n\n"] {
            reader.receive(Array(piece.utf8), into: &items)
        }
        #expect(items == [event("é", type: "a"), event("y", type: "b")])
    }
}
