import Testing
import Wire

/// Readers of clients that do not follow the standard (Docs/contract.md section 4.11, Q1 and Q4).
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
}
