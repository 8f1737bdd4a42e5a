import Foundation
import JSON
import SimTestSupport
import Testing

@Suite struct JSONNodeTests {
    @Test(arguments: [
        "", " ", "{", "}", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "nul", "truex", "01", "-", "1.", ".5",
        "1e",
        "+1", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\u{1}\"", "[1 2]", "1 2", "NaN", "'a'",
        "[\u{A0}]",
    ])
    func `what is not JSON is refused`(text: String) {
        #expect(JSONNode(Array(text.utf8)) == nil)
    }

    @Test func `64 levels are read and no more`() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(JSONNode(nested(64)) != nil)
        #expect(JSONNode(nested(65)) == nil)
        #expect(JSONNode(nested(100_000)) == nil)
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\uD83D\uDCDA""#, "Aé📚"),
        (#""\uD83D""#, "\u{FFFD}"), (#""\uDCDA\uD83Dx""#, "\u{FFFD}\u{FFFD}x"), (#""猫""#, "猫"),
    ])
    func `a string has its escapes resolved`(text: String, meant: String) {
        #expect(JSONNode(Array(text.utf8))?.text == meant)
    }

    @Test func `invalid UTF-8 is repaired`() {
        #expect(JSONNode([0x22, 0x61, 0xFF, 0x22])?.text == "a\u{FFFD}")
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("9223372036854775807", .max), ("9223372036854775808", nil), ("1e3", 1_000),
            ("2.0", 2), ("2.5", nil), ("1e400", nil), ("\"1\"", nil),
        ] as [(String, Int?)])
    func `a whole number is one within the range`(text: String, number: Int?) {
        #expect(JSONNode(Array(text.utf8))?.integer == number)
    }

    @Test func `a number beyond the range of a double is none`() {
        #expect(JSONNode(Array("1e400".utf8))?.decimal == nil)
        #expect(JSONNode(Array("-1.5E-3".utf8))?.decimal == -0.0015)
    }

    @Test func `a decimal number is the double that is nearest to its digits`() {
        for digits in [
            "0", "1", "5", "15", "123", "70711", "314159265", "999999999999999", "123456789012345678",
        ] {
            for places in 0...digits.count {
                let (whole, rest) = (digits.dropLast(places), digits.suffix(places))
                for sign in ["", "-"] {
                    let text = sign + (whole.isEmpty ? "0" : whole) + (rest.isEmpty ? "" : "." + rest)
                    #expect(JSONNode(Array(text.utf8))?.decimal == Double(text), "\(text)")
                }
            }
        }
    }

    @Test(arguments: [UInt8.max.description, "256", "-1", "1.0", "12e1", "0"])
    func `a whole number is read into the type that it is wanted in`(text: String) {
        let number = JSONNode(Array("[\(text) ]".utf8))?.elements.first?.integer(UInt8.self)
        #expect(number == Double(text).flatMap { UInt8(exactly: $0) })
    }

    @Test func `keys are found by all of their bytes, in any order`() throws {
        let keys = JSONKeys([
            "", "a", "b", "eightchr", "ninechars", "sixteencharsx123", "abcdefgh-12345678",
            "abcdefgh+12345678", "é",
        ])
        let others = ["A", "eightchs", "ninecharS", "sixteencharsy123", "abcdefgh*12345678", "ab", "e"]
        for order in [keys.texts + others, others + keys.texts.reversed()] {
            let text = "{" + order.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
            let node = try #require(JSONNode(Array(text.utf8)))
            var found: [Int?] = []
            node.eachMember(of: keys) { key, index, value in
                found.append(index)
                #expect(index == nil ? others.contains(key.text ?? "") : keys.texts[index ?? 0] == key.text)
                #expect(value.integer == 1)
            }
            #expect(found == order.map { keys.texts.firstIndex(of: $0) })
        }
        let escaped = try #require(JSONNode(Array(#"{"\u0061":"\u0062"}"#.utf8)))
        escaped.eachMember(of: keys) { _, index, value in
            #expect(index == 1)
            #expect(value.isText(among: keys))
            #expect(!value.isText(among: JSONKeys(["a"])))
        }
    }

    @Test func `of a key that comes twice the first counts, and all are members`() throws {
        let node = try #require(JSONNode(Array(#"{"a":1,"\u0061":2,"b":{"a":3},"c":[]}"#.utf8)))
        #expect(node["a"]?.integer == 1)
        #expect(node.members.map(\.key) == ["a", "a", "b", "c"])
        #expect(node["b"]?["a"]?.integer == 3)
        #expect(node["c"]?.elements.isEmpty == true)
        #expect(node["d"] == nil)
    }

    /// The parser of the toolchain reads the same values, in other code.
    @Test func `what is read of damaged JSON is what the toolchain reads`() throws {
        let corpus = [#"{"a":[1,-2.5e3,true,null,{"b":"x\n\u00e9"}],"c":"\"","d":false}"#, "[[],{},0.5]"]
        let mutator = Mutator(
            corpus: corpus.map { Array($0.utf8) }, dictionary: ["\\u", "\\", "\"", "1e5", "[]", "null", ","])
        Fuzz.run("json", quick: 5_000, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = mutator.input(fuzz)
            // Foundation also knows other encodings, repairs no text and has other limits.
            guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0),
                !text.unicodeScalars.contains("\u{FEFF}"), !text.contains("\\u")
            else { return }
            // It refuses a number beyond a double, which is read here and is not a value.
            guard let node = JSONNode(bytes), Self.hasValues(node) else { return }
            let object = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            try Self.compare(node, object)
        }
    }

    private static func hasValues(_ node: JSONNode) -> Bool {
        switch node.kind {
        case .null, .string, .bool: true
        case .number: node.decimal != nil
        case .array: node.elements.allSatisfy { self.hasValues($0) }
        case .object: node.members.allSatisfy { self.hasValues($0.value) }
        }
    }

    private static func compare(_ node: JSONNode, _ other: Any) throws {
        switch node.kind {
        case .null: try #require(other is NSNull)
        case .string: try #require(node.text == other as? String)
        case .bool: try #require(node.flag == other as? Bool)
        case .number:
            // The other parser rounds the last digits differently.
            let (here, there) = (try #require(node.decimal), try #require(other as? NSNumber).doubleValue)
            try #require(abs(here - there) <= abs(here) * 1e-12)
        case .array:
            let others = try #require(other as? [Any])
            try #require(node.elements.count == others.count)
            for (element, other) in zip(node.elements, others) { try self.compare(element, other) }
        case .object:
            let others = try #require(other as? [String: Any])
            try #require(Set(node.members.map(\.key)) == Set(others.keys))
            let isDouble = node.members.count != others.count
            for (key, value) in node.members where !isDouble {
                try self.compare(value, try #require(others[key]))
            }
        }
    }
}

@Suite struct JSONWriterTests {
    private static let text = "a\"\\/\u{8}\t\n\u{C}\r\u{1F}\u{7F}\u{85}\u{2028}\u{202E}\u{2066}\u{FEFF}é"

    @Test(arguments: [
        (JSONEscapes.standard, #"a\"\\/\b\t\n\f\r\u001f"# + "\u{7F}\u{85}\u{2028}\u{202E}\u{2066}\u{FEFF}é"),
        (.log, #"a\"\\/\u0008\t\n\u000c\r\u001f\u007f\u0085\u2028\u202e\u2066"# + "\u{FEFF}é"),
        (
            .numbered,
            #"a\"\\/\u0008\u0009\u000a\u000c\u000d\u001f"# + "\u{7F}\u{85}\u{2028}\u{202E}\u{2066}\u{FEFF}é"
        ),
        (.yaml, #"a\"\\/\u0008\t\n\u000c\u000d\u001f\u007f\u0085\u2028"# + "\u{202E}\u{2066}" + #"\ufeffé"#),
    ])
    func `each kind of file has its escapes`(escapes: JSONEscapes, written: String) {
        let quoted = JSONWriter.string(Self.text, escapes)
        #expect(quoted.unicodeScalars.elementsEqual("\"\(written)\"".unicodeScalars))
        #expect(JSONNode(Array(quoted.utf8))?.text == Self.text)
    }

    @Test func `members have commas between them, whatever is nested`() {
        var writer = JSONWriter(.standard, reserving: 1)
        writer.object { writer in
            writer.object("a") { _ in }
            writer.array("b", [1, 2]) { $0.integer($1) }
            writer.member("c", nil as String?)
            writer.key(text: "d")
            writer.null()
            writer.member("e", UInt64.max)
        }
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"a":{},"b":[1,2],"d":null,"e":18446744073709551615}"#)
    }
}
