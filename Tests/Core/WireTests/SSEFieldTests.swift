import SimBase
import Testing
import Wire

/// WHATWG HTML section 9.2.6, field by field.
@Suite struct SSEFieldTests {
    @Test(arguments: [
        ("data: hello\n\n", [event("hello")]),
        ("data: one\n\ndata: two\n\n", [event("one"), event("two")]),
        ("data: one\ndata: two\n\n", [event("one\ntwo")]),
        ("data:\n\n", [event("")]),
        ("data:\n\ndata\ndata\n\ndata:test\n\n", [event(""), event("\n"), event("test")]),
        ("data:no space\n\n", [event("no space")]),
        ("data:  two spaces\n\n", [event(" two spaces")]),
        ("data:\ttab\n\n", [event("\ttab")]),
        ("data: a:b: c\n\n", [event("a:b: c")]),
        ("data: \u{20AC}\u{1F4DA}\u{E9}\n\n", [event("\u{20AC}\u{1F4DA}\u{E9}")]),
        ("data: a\0b\n\n", [event("a\0b")]),
        ("\n\n\n", []),
    ])
    func `data lines are joined and lose one leading space`(text: String, expected: [SSEItem]) {
        #expect(items(text) == expected)
    }

    @Test(arguments: [
        ("event: progress\ndata: x\n\n", [event("x", type: "progress")]),
        ("data: x\nevent: progress\n\n", [event("x", type: "progress")]),
        ("event: a\nevent: b\ndata: x\n\n", [event("x", type: "b")]),
        ("event: a\nevent:\ndata: x\n\n", [event("x")]),
        ("event: \ndata: x\n\n", [event("x")]),
        ("event: a\ndata: x\n\ndata: y\n\n", [event("x", type: "a"), event("y")]),
        ("event: a\n\ndata: y\n\n", [event("y")]),
    ])
    func `a type holds for its own event only`(text: String, expected: [SSEItem]) {
        #expect(items(text) == expected)
    }

    @Test(arguments: [
        ("id: 1\ndata: x\n\n", [event("x", id: "1")]),
        ("data: x\nid: 1\nevent: t\n\n", [event("x", type: "t", id: "1")]),
        ("id: 1\ndata: x\n\ndata: y\n\n", [event("x", id: "1"), event("y", lastID: "1")]),
        (
            "id: 1\ndata: x\n\nid: 2\ndata: y\n\ndata: z\n\n",
            [event("x", id: "1"), event("y", id: "2"), event("z", lastID: "2")]
        ),
        (
            "id: 1\ndata: x\n\nid\ndata: y\n\ndata: z\n\n",
            [event("x", id: "1"), event("y", id: ""), event("z")]
        ),
        ("id: 1\ndata: x\n\nid: a\0b\ndata: y\n\n", [event("x", id: "1"), event("y", lastID: "1")]),
        ("id: 1\nid: \0\ndata: x\n\n", [event("x", id: "1")]),
        ("id: \u{2026}\ndata: x\n\n", [event("x", id: "\u{2026}")]),
        ("id: 1\n\ndata: y\n\n", [.lastEventID("1"), event("y", lastID: "1")]),
        ("id: 1\nevent: t\n\nid\n\n", [.lastEventID("1"), .lastEventID("")]),
        ("id: \0\n\nevent: t\n\n", []),
    ])
    func `an id persists, is reset by an empty one and ignored with a NUL`(text: String, expected: [SSEItem])
    {
        #expect(items(text) == expected)
    }

    @Test(
        arguments: [
            ("retry: 5000\n", [.retry(.seconds(5))]),
            ("retry:02000\n", [.retry(.seconds(2))]),
            ("retry: 0\n", [.retry(.zero)]),
            ("retry\nretry:\nretry: \n", []),
            ("retry:1000x\nretry: -1\nretry: +1\nretry: 1 \nretry:  1\nretry: 1.5\nretry: 0x10\n", []),
            ("retry: \u{0661}\n", []),
            ("retry: 99999999999999999999999999\n", [.retry(SSEReader.Limits.standard.retryMax)]),
            ("retry: 315360000000\n", [.retry(SSEReader.Limits.standard.retryMax)]),
            ("retry: 315360000001\n", [.retry(SSEReader.Limits.standard.retryMax)]),
            ("retry: 315359999999\n", [.retry(.milliseconds(315_359_999_999))]),
            (
                "retry: 9223372036854775808\nretry: 7\n",
                [.retry(SSEReader.Limits.standard.retryMax), .retry(.milliseconds(7))]
            ),
        ] as [(String, [SSEItem])])
    func `only digits set the retry time, whatever their number`(text: String, expected: [SSEItem]) {
        #expect(items(text) == expected)
    }

    @Test(arguments: [
        "Data: x\n\n", "data\0: x\n\n", "\0data: x\n\n", "da-ta: x\n\n", "data_5: x\n\n", " data: x\n\n",
        "DATA\n\n",
        "dat: x\n\n", "datas: x\n\n", "justsometext\n\n", "\tdata: x\n\n", "data : x\n\n",
    ])
    func `unknown fields make no event`(text: String) {
        #expect(items(text) == [])
    }

    @Test func `names are whole and exact while known fields go on working`() {
        // After web-platform-tests eventsource/format-field-parsing.
        let text =
            "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n"
        #expect(items(text) == [event("\0\n 2\n1\n3\n\n4")])
    }

    @Test(
        arguments: [
            (": hello\n", [.comment("hello")]),
            (":\n", [.comment("")]),
            (":no space\n", [.comment("no space")]),
            (":  two\n", [.comment(" two")]),
            (": one\n: two\n", [.comment("one"), .comment("two")]),
            (": before\ndata: x\n\n", [.comment("before"), event("x")]),
            ("data: x\n: inside\n\n", [.comment("inside"), event("x")]),
            ("data: x\n\n: after\n", [event("x"), .comment("after")]),
            (": a\0b\n", [.comment("a\0b")]),
            (": t=123\r\n", [.comment("t=123")]),
        ] as [(String, [SSEItem])])
    func `comments are handed on at the end of their line`(text: String, expected: [SSEItem]) {
        #expect(items(text) == expected)
    }

    @Test func `a comment of 2 KB among data lines is only a comment`() {
        // After web-platform-tests eventsource/format-comments.
        let long = String(repeating: "x", count: 2_048)
        let text = "data:1\r:\0\n:\r\ndata:2\n:\(long)\rdata:3\n:data:fail\r:\(long)\ndata:4\n\n"
        #expect(
            items(text) == [
                .comment("\0"), .comment(""), .comment(SSEComment(long)), .comment("data:fail"),
                .comment(SSEComment(long)),
                event("1\n2\n3\n4"),
            ])
    }

    @Test func `the reader's last id follows the blank lines`() {
        var reader = SSEReader(limits: .standard, lastEventID: "old")
        var items: [SSEItem] = []
        #expect(reader.lastEventID == "old")
        reader.receive(Array("data: x\n\nid: 7\n".utf8), into: &items)
        #expect(reader.lastEventID == "old")
        reader.receive(Array("\n".utf8), into: &items)
        #expect(reader.lastEventID == "7")
        reader.receive(Array("id:\ndata: y\n\n".utf8), into: &items)
        #expect(reader.lastEventID == "")
        #expect(items == [event("x", lastID: "old"), .lastEventID("7"), event("y", id: "")])
    }

    @Test func `every byte value in every field does what the rules say`() {
        for byte in UInt8.min...UInt8.max {
            let isLineEnd = byte == 10 || byte == 13
            let value: [UInt8] = [0x31, byte, 0x32]
            let text = isLineEnd ? "1" : String(decoding: value, as: UTF8.self)
            let end = Array("\ndata: d\n\n".utf8)
            #expect(items([Array("data: ".utf8) + value + Array("\n\n".utf8)]) == [event(text)])
            #expect(items([Array("event: ".utf8) + value + end]) == [event("d", type: text)])
            #expect(
                items([Array("id: ".utf8) + value + end]) == [byte == 0 ? event("d") : event("d", id: text)])
            #expect(items([Array(": ".utf8) + value + end]) == [.comment(SSEComment(text)), event("d")])
            let digit = (0x30...0x39).contains(byte) ? Int64(byte - 0x30) : nil
            let retry: [SSEItem] =
                digit.map { [.retry(.milliseconds(102 + 10 * $0))] }
                ?? (isLineEnd ? [.retry(.milliseconds(1))] : [])
            #expect(items([Array("retry: ".utf8) + value + end]) == retry + [event("d")])
        }
    }

    @Test(
        arguments: [
            ([0xFF], "\u{FFFD}"),
            ([0xC0, 0x80], "\u{FFFD}\u{FFFD}"),
            ([0xE2, 0x82], "\u{FFFD}"),
            ([0xE2, 0x82, 0x41], "\u{FFFD}A"),
            ([0xF0, 0x9F, 0x93], "\u{FFFD}"),
            ([0xF0, 0x80, 0x80, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
            ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"),
            ([0xF4, 0x90, 0x80, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
            ([0x80, 0xC3, 0xA9], "\u{FFFD}\u{E9}"),
        ] as [([UInt8], String)])
    func `invalid UTF-8 becomes one U+FFFD per maximal subpart`(bytes: [UInt8], expected: String) {
        let whole = Array("data: ".utf8) + bytes + Array("\n\n".utf8)
        #expect(items([whole]) == [event(expected)])
        #expect(items(whole.map { [$0] }) == [event(expected)])
    }
}
