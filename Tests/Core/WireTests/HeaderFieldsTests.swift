import SimBase
import Testing
import Wire

@Suite struct HeaderFieldsTests {
    @Test func `names are compared without case and order is kept`() {
        var fields: HeaderFields = ["Host": "h", "X-A": "1", "x-a": "2"]
        #expect(fields["HOST"] == "h")
        #expect(fields["x-A"] == "1")
        #expect(fields["absent"] == nil)
        #expect(fields.values("X-a") == ["1", "2"])
        fields.append("Host", "again")
        #expect(fields.fields.map(\.name) == ["Host", "X-A", "x-a", "Host"])
        fields.set("x-a", to: "3")
        #expect(fields == ["Host": "h", "X-A": "3", "Host": "again"])
        fields.set("New", to: "n")
        fields.remove("host")
        #expect(fields == ["X-A": "3", "New": "n"])
        #expect(fields.count == 2 && !fields.isEmpty && HeaderFields().isEmpty)
    }

    @Test func `only ASCII letters lose their case`() {
        let fields: HeaderFields = ["[": "bracket", "K": "k"]
        #expect(fields["{"] == nil)
        #expect(fields["\u{212A}"] == nil)
        #expect(fields["k"] == "k")
    }

    @Test func `lists are joined over fields and their empty members dropped`() {
        let fields: HeaderFields = ["Connection": " close ,, x", "connection": "\tUpgrade", "Other": "y"]
        #expect(fields.list("Connection") == ["close", "x", "Upgrade"])
        #expect(fields.list("connection", contains: "upgrade"))
        #expect(!fields.list("connection", contains: "y"))
    }

    @Test(
        arguments: [
            ("120", .delay(.seconds(120))),
            (" 0 ", .delay(.zero)),
            ("315360000", .delay(RetryAfter.waitMax)),
            ("99999999999999999999999999", .delay(RetryAfter.waitMax)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", .date(784_111_777)),
            ("", nil),
            ("-1", nil),
            ("1.5", nil),
            ("12x", nil),
            ("soon", nil),
        ] as [(String, RetryAfter?)])
    func `Retry-After is seconds or a date`(text: String, expected: RetryAfter?) {
        #expect(RetryAfter(text) == expected)
    }

    @Test func `a wait is counted from now and never negative`() {
        #expect(RetryAfter.delay(.seconds(5)).wait(at: 1_000) == .seconds(5))
        #expect(RetryAfter.date(1_060).wait(at: 1_000) == .seconds(60))
        #expect(RetryAfter.date(999).wait(at: 1_000) == .zero)
        #expect(RetryAfter.date(253_402_300_799).wait(at: 0) == RetryAfter.waitMax)
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_827_696, "Tue, 29 Feb 2000 12:34:56 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (1_770_076_800, "Tue, 03 Feb 2026 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
        ] as [(Int64, String)])
    func `dates are read and written`(seconds: Int64, text: String) {
        #expect(HTTPDate.seconds(text) == seconds)
        #expect(HTTPDate.text(seconds) == text)
    }

    @Test(arguments: [
        "Mon, 06 Nov 1994 08:49:37 GMT",  // It was a Sunday.
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:00:61 GMT",
        "Thu, 29 Feb 2001 00:00:00 GMT",
        "Thu, 31 Apr 2026 00:00:00 GMT",
        "Fri, 31 Dec 99x9 23:59:59 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        "",
    ])
    func `a date that is none is refused`(text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }

    @Test func `a leap second is the next minute's first`() {
        #expect(HTTPDate.seconds("Sat, 31 Dec 2016 23:59:60 GMT") == 1_483_228_800)
    }

    @Test(
        arguments: [
            ("text/event-stream", "text/event-stream", [:]),
            ("text/event-stream;", "text/event-stream", [:]),
            (" a/b ; c=d;E=\"f;g\" ;; h = i ", "a/b", ["c": "d", "E": "f;g", "h": "i"]),
            (
                "form-data; name=\"a\\\"b\\\\c\"; filename=\"\"", "form-data",
                ["name": "a\"b\\c", "filename": ""]
            ),
            ("", "", [:]),
        ] as [(String, String, HeaderFields)])
    func `a value may have parameters`(text: String, value: String, parameters: HeaderFields) {
        let parsed = ParameterizedValue(text)
        #expect(parsed?.value == value)
        #expect(parsed?.parameters == parameters)
    }

    @Test(arguments: [
        "a; b", "a; =c", "a; b=", "a; b=\"c", "a; b=\"c\\", "a; b=\"c\"d", "a; b=c d", "a; b c=d",
    ])
    func `bad parameters make no value`(text: String) {
        #expect(ParameterizedValue(text) == nil)
    }
}
