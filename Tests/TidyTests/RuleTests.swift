import Testing

/// Rules 18, 28, 29, 30 and 32 of Docs/style.md, as far as text shows them. What a rule allows is listed. A file that is listed
/// and does not need it any more is an error, too.
@Suite struct RuleTests {
    private static let sources = SourceTree.files(in: "Sources", ending: ".swift")

    /// Reports each hit that is not allowed, and each allowance without a hit.
    private static func expect(
        _ hits: [(file: String, line: Int)], onlyIn allowed: Set<String>, fix: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for hit in hits where !allowed.contains(hit.file) {
            Issue.record("\(hit.file):\(hit.line): \(fix)", sourceLocation: sourceLocation)
        }
        for file in allowed.subtracting(hits.map(\.file)).sorted() {
            Issue.record("\(file) is allowed and has no hit: \(fix)", sourceLocation: sourceLocation)
        }
    }

    /// Lines with one of these texts, as far as a pattern matches.
    private static func hits(
        _ texts: String..., where pattern: Regex<Substring> = /.*/
    ) -> [(file: String, line: Int)] {
        // As in other languages: "Files.all" has two words.
        let pattern = pattern.wordBoundaryKind(.simple)
        return self.sources.filter { file in texts.contains { file.text.contains($0) } }.flatMap { file in
            file.code.filter { _, code in
                texts.contains { code.contains($0) } && code.firstMatch(of: pattern) != nil
            }.map { (file.inTarget ?? file.path, $0.number) }
        }
    }

    // MARK: Rule 18

    private static let functionLinesMax = 45

    /// Functions with more lines than that, from the one with their name to their last brace.
    private static func longFunctions(in code: [(number: Int, text: String)]) -> [(line: Int, count: Int)] {
        var open: [(indent: Int, line: Int)] = []
        var found: [(line: Int, count: Int)] = []
        for (number, text) in code {
            let indent = text.utf8.prefix { $0 == UInt8(ascii: " ") }.count
            guard indent < text.utf8.count else { continue }
            // Most lines are done with before the pattern, which is slow.
            let begins =
                (text.contains("func ") || text.contains("init"))
                && text.contains(#/^ *([a-z]+(\([a-z]+\))? )*(func |init[(<?]|deinit\b)/#)
            // The formatter puts a last brace below the first line. What a protocol requires has none.
            while let last = open.last, indent < last.indent || begins && indent == last.indent {
                open.removeLast()
            }
            if begins { open.append((indent, number)) }
            guard let last = open.last, last.indent == indent, text.hasSuffix("}") else { continue }
            open.removeLast()
            let count = number - last.line + 1
            if count > Self.functionLinesMax { found.append((last.line, count)) }
        }
        return found
    }

    @Test func `a function has at most 45 lines`() {
        for file in Self.sources {
            for (line, count) in Self.longFunctions(in: file.code) {
                Issue.record("\(file.path):\(line): \(count) lines: give a part of it a name")
            }
        }
    }

    @Test func `the lines of a function are counted from its name to its last brace`() {
        func counts(_ lines: Int) -> [Int] {
            let body = Array(repeating: "        f()", count: lines - 3)
            let text =
                ["struct A {", "    private static func g(", "        a: Int) {"] + body + ["    }", "}"]
            return Self.longFunctions(in: SourceTree.File(path: "x", text: text.joined(separator: "\n")).code)
                .map(\.count)
        }
        #expect(counts(45) == [])
        #expect(counts(46) == [46])
    }

    // MARK: Rule 28

    /// A switch with cases of an enum and a `default`.
    private struct OpenSwitch: Hashable {
        /// The line of the `default`.
        var line: Int
        var subject: String
    }

    private static func openSwitches(in code: [(number: Int, text: String)]) -> [OpenSwitch] {
        var heads: [(indent: Int, subject: String, hasCases: Bool)] = []
        var found: [OpenSwitch] = []
        for (number, text) in code {
            let indent = text.prefix { $0 == " " }.count
            guard indent < text.count else { continue }
            // The formatter puts the cases and the end of a switch below its first line.
            while let head = heads.last, indent < head.indent || text.dropFirst(indent).hasPrefix("}") {
                guard indent <= head.indent else { break }
                heads.removeLast()
            }
            if text.hasSuffix(" {"), let head = text.firstRange(of: "switch ") {
                heads.append((indent, String(text[head.upperBound...].dropLast(2)), false))
            } else if let head = heads.last, head.indent == indent {
                if text.contains(#/^ *(?:default\b|case _\b)/#), head.hasCases {
                    found.append(OpenSwitch(line: number, subject: head.subject))
                } else if text.contains(#/^ *(?:indirect )?case (?:let )?\(?\.[a-z]/#) {
                    heads[heads.count - 1].hasCases = true
                }
            }
        }
        return found
    }

    /// Subjects of a `switch` that may have a `default`, with the reason.
    private static let open: Set<String> = [
        // An enum of the standard library.
        "SimBase/Printable.swift scalar.properties.generalCategory",
        // A state and a byte: most pairs are errors.
        "Wire/MultipartReader.swift (self.state, byte)",
        // Observations, which most consumers do not need.
        "Observations/BackendObservation.swift self", "Observations/PhoneObservation.swift self",
        "Observations/ArmJournal.swift payload",
        // Their descriptions, in several functions; `DescriptionTests` compares them with the cases.
        "Observations/BackendObservation+Fields.swift self",
        "Observations/PhoneObservation+Fields.swift self",
        "RunMetrics/PhoneOperations.swift self",
    ]

    @Test func `a switch over an enum has no default, but over observations where they are judged`() {
        var unused = Self.open
        for file in Self.sources {
            for found in Self.openSwitches(in: file.code) {
                // A consumer of observations calls what it is handed so.
                let isConsumer = ["Sources/Judging/", "Sources/Reports/"].contains { file.path.hasPrefix($0) }
                if found.subject == "payload", isConsumer { continue }
                let name = "\(file.inTarget ?? file.path) \(found.subject)"
                if Self.open.contains(name) {
                    unused.remove(name)
                } else {
                    Issue.record(
                        "\(file.path):\(found.line): a default over an enum: list the other cases")
                }
            }
        }
        #expect(unused.isEmpty, "no such switch any more")
    }

    @Test func `a default is seen only beside cases of an enum`() {
        func lines(_ text: String) -> [Int] {
            Self.openSwitches(in: SourceTree.File(path: "x", text: text).code).map(\.line)
        }
        #expect(lines("switch a {\ncase .x: f()\ndefault: break\n}") == [3])
        #expect(lines("switch a {\ncase let .x(y): f()\ncase _: break\n}") == [3])
        #expect(lines("let b =\n    switch a {\n    case .x:\n        1\n    default: 2\n    }") == [5])
        #expect(
            lines(
                "switch a {\ncase .x:\n    switch b {\n    case 1: f()\n    default: g()\n    }\ncase .y: h()\n}"
            )
            .isEmpty)
        #expect(
            lines(
                "switch a {\ncase 1:\n    switch b {\n    case .x: f()\n    case .y: f()\n    }\ndefault: h()\n}"
            )
            .isEmpty)
        #expect(lines("switch a {\ncase ..<1: f()\ndefault: g()\n}").isEmpty)
    }

    // MARK: Rule 29

    @Test func `a query is not mutating`() {
        Self.expect(
            Self.hits("mutating get"), onlyIn: [],
            fix: "a query that changes its value: let its owner lend it")
    }

    // MARK: Rule 30

    @Test func `JSON is read and written by one module`() {
        Self.expect(
            Self.hits("JSONEncoder", "JSONDecoder", "JSONSerialization"), onlyIn: [],
            fix: "use the module JSON")
    }

    @Test func `the C library is imported where files and rows of bytes are handled`() {
        Self.expect(
            Self.hits("import Glibc", "import Darwin", "import Musl"),
            onlyIn: [
                "Imaging/ByteRows.swift", "SystemIO/File.swift", "SystemIO/FileTree.swift",
            ],
            fix: "call what reads and writes files, or a shim of CSystem")
    }

    @Test func `files are opened, renamed and removed in few places`() {
        Self.expect(
            Self.hits(
                "FileManager", "FileHandle", "unsafe ",
                where:
                    #/\b(?:FileManager|FileHandle|unsafe (?:open|fopen|opendir|rename|unlink|mkdir)\()/#),
            onlyIn: Set(
                [
                    "ProgramFile", "LoadedScenario", "RunInterruption",
                ].map { "RunDriver/\($0).swift" }
                    + [
                        "ListCommand", "SSEDecodeCommand", "ScenarioSource",
                        "TargetOptions",
                    ].map { "swiftwing-sim/\($0).swift" }
                    + [
                        "SystemIO/File.swift", "SystemIO/FileTree.swift", "RunArchive/FolderLock.swift",
                        "ScenarioFile/ScenarioFinder.swift",
                    ]),
            fix: "use SystemIO")
    }

    /// A struct of a name and a value, which a header field is.
    @Test func `header fields have one type`() {
        let name = #/^ *(?:public |package )?(?:var|let) name: String$/#
        let value = #/^ *(?:public |package )?(?:var|let) value: String$/#
        let found = Self.sources.filter { $0.text.contains(" value: String\n") }.flatMap { file in
            let code = file.code.filter { !$0.text.allSatisfy { $0 == " " } }
            return zip(code, code.dropFirst()).compactMap { line, next in
                line.text.contains(name) && next.text.contains(value)
                    ? (file: file.inTarget ?? file.path, line: line.number) : nil
            }
        }
        Self.expect(
            found, onlyIn: ["SimBase/HeaderField.swift"], fix: "use HeaderField")
    }

    @Test func `failures of a transport have one type`() {
        Self.expect(
            Self.hits("case connectRefused", where: #/^ *case connectRefused\b(?!:)/#),
            onlyIn: [
                "SimBase/TransportFailure.swift",
                // A situation that a run must reach.
                "RunJudge/CoverageGoal.swift",
            ],
            fix: "use TransportFailure")
    }

    // MARK: Rule 32

    @Test func `memory of the stack is lent to no other file`() {
        Self.expect(
            Self.hits("withUnsafeTemporaryAllocation"), onlyIn: ["Imaging/Resize.swift"],
            fix: "a loan can escape from a closure: use ByteBuilder")
    }
}
