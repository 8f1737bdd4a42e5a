import Testing

@testable import ScenarioFile

struct SyntaxTests {
    private func messages(_ text: String) -> [String] { errors(text).map(\.message) }

    @Test func `a key given twice is an error`() {
        #expect(messages(minimal + "seed: 1\nseed: 2\n") == ["the key `seed` is given twice"])
        #expect(errors(minimal + "seed: 1\nseed: 2\n").first?.help == "first defined on line 6")
    }

    @Test func `anchors, aliases and tags are rejected by name`() {
        #expect(
            messages("scenario: 1\nfleet:\n  a: &x {devices: 1, arrivals: 1/s}\n  b: *x\n") == [
                "anchors are not supported: `&x`", "aliases are not supported: `*x`",
            ])
        #expect(messages(minimal + "seed: !!int 7\n") == ["tags are not supported"])
        #expect(messages(minimal + "seed: !mine 7\n") == ["tags are not supported"])
    }

    @Test func `a second document is an error`() {
        #expect(messages(minimal + "---\nseed: 1\n") == ["the file contains more than one YAML document"])
        #expect(messages("---\n" + minimal + "...\n") == [])
    }

    @Test func `an empty file is told`() {
        #expect(messages("") == ["the file is empty"])
        #expect(messages("# only a comment\n") == ["the file is empty"])
        #expect(
            messages("just words") == [
                "a scenario must be a map of keys and values, not the text `just words`"
            ])
    }

    @Test func `nesting has a limit`() {
        let deep = "a: " + String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        #expect(messages(minimal + deep) == ["nested deeper than 32 levels"])
        // The file itself is the first level.
        func nested(_ levels: Int) -> [String] {
            messages(
                minimal + "a: " + String(repeating: "[", count: levels - 1)
                    + String(repeating: "]", count: levels - 1))
        }
        #expect(!nested(YAMLReader.depthMax - 1).contains { $0.hasPrefix("nested deeper") })
        #expect(nested(YAMLReader.depthMax + 1) == ["nested deeper than 32 levels"])
        let deeper = "a: " + String(repeating: "[", count: 200_000)
        #expect(messages(minimal + deeper) == ["nested deeper than 32 levels"])
    }

    @Test func `a file has a limit`() {
        let large = minimal + "#" + String(repeating: "x", count: 1 << 20)
        #expect(messages(large) == ["the scenario is larger than 1MiB"])
        let most = minimal + "#" + String(repeating: "x", count: YAMLReader.bytesMax - minimal.utf8.count - 1)
        #expect(most.utf8.count == YAMLReader.bytesMax)
        #expect(messages(most) == [])
        #expect(messages(most + "x") == ["the scenario is larger than 1MiB"])
    }

    @Test func `what is not UTF-8 is rejected at its location`() {
        let bytes = Array(minimal.utf8) + Array("seed: é".utf8) + [0xFF, 0x0A]
        do throws(ScenarioErrors) {
            _ = try ScenarioLoader.load(path: "x", bytes: bytes, overrides: [], environment: [:])
            Issue.record("accepted")
        } catch {
            #expect(error.diagnostics.map(\.message) == ["the text is not valid UTF-8"])
            #expect(error.diagnostics.map(\.line) == [6])
            #expect(error.diagnostics.map(\.column) == [8])
        }
        let utf16 = Array("scenario".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        #expect(throws: ScenarioErrors.self) {
            try ScenarioLoader.load(path: "x", bytes: [0xFF, 0xFE] + utf16, overrides: [], environment: [:])
        }
    }

    @Test func `a byte order mark and all sorts of line ends are read`() throws {
        #expect(errors("\u{FEFF}" + minimal) == [])
        let windows = minimal.replacing("\n", with: "\r\n") + "sed: 1\r\n"
        #expect(errors(windows).map(\.line) == [6])
        #expect(errors(windows).map(\.sourceLine) == ["sed: 1"])
    }

    @Test func `control characters are rejected and never shown`() {
        let found = errors(minimal + "name: a\u{1B}[31mb\n")
        #expect(found.map(\.message) == ["invalid YAML: control characters are not allowed"])
        #expect(found.map(\.line) == [6])
        #expect(found.allSatisfy { !$0.render(color: false).contains("\u{1B}") })
        #expect(messages(minimal + "name: \"a\\u001b[31mb\"\n").count == 1)
        #expect(!rendered(minimal + "name: \"a\\u001b[31mb\"\n").contains("\u{1B}"))
        #expect(!rendered(minimal + "\"\\u001b[31m\": 1\n").contains("\u{1B}"))
    }

    @Test func `control characters in an option are not shown either`() {
        let found = errors(minimal, set: ["fleet\u{1B}[31m.x=1", "sed\n=\u{85}1"])
        #expect(found.map(\.file) == ["--set fleet?[31m.x=1", "--set sed?=?1"])
    }

    @Test(arguments: [("a: [1", 1, 6), ("a: 1\nb", 2, 2), ("a: 1\nb\n", 3, 1)])
    func `an error at the end of a text is in its last line`(text: String, line: Int, column: Int) {
        let found = errors(text)
        #expect(found.map(\.line) == [line])
        #expect(found.map(\.column) == [column])
    }

    @Test func `a key that is no word is an error`() {
        #expect(messages(minimal + "[a, b]: 1\n") == ["a key must be text, not a list"])
    }

    @Test func `variables are filled in`() throws {
        let text =
            minimal.replacing("phones: 2", with: "phones: ${PHONES:-12}")
            + "description: $${x} ${A}-${B:-b}\n"
        let standard = try load(text, environment: ["A": "a"])
        #expect(standard.devices == 12)
        #expect(standard.description == "${x} a-b")
        #expect(try load(text, environment: ["A": "", "B": "", "PHONES": "3"]).devices == 3)
        #expect(try load(text, environment: ["A": "${PHONES}"]).description == "${x} ${PHONES}-b")
        #expect(
            errors(text).map(\.message) == ["the environment variable `A` is not set"])
        #expect(messages(minimal + "seed: ${open\n") == ["`${` without a closing `}`"])
        #expect(messages(minimal + "seed: ${1X:-3}\n") == ["invalid variable name `1X`"])
    }

    @Test func `what a variable brings is checked like the file`() {
        let text = minimal.replacing("phones: 2", with: "phones: ${PHONES}")
        let found = errors(text, environment: ["PHONES": "many"])
        #expect(found.map(\.message) == ["the number of phones must be a whole number"])
        #expect(found.map(\.column) == [13])
    }
}
