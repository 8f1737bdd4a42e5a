import Testing

/// What would break a replay, or the promise that unsafe code stays at the edge, and no compiler flag catches.
@Suite struct DeterminismTests {
    /// Token, where it is allowed all the same, and what to do instead.
    private static let banned: [(token: String, except: Set<String>, instead: String)] = [
        (".random(", [], "draw from KeyedRandom"),
        (".shuffled(", [], "order by a keyed draw"),
        (".randomElement(", [], "draw from KeyedRandom"),
        ("UUID(", [], "draw the bits from KeyedRandom"),
        ("Date(", [], "take the time as an argument"),
        ("ContinuousClock", [], "take the time as an argument"),
        ("SuspendingClock", [], "take the time as an argument"),
        (".hashValue", [], "use Digest: hash values differ from process to process"),
        ("ObjectIdentifier", [], "pointers are no keys"),
        ("Double", ["JSON", "Talaria", "Metrics", "Observations"], "decide in whole numbers"),
        ("Float", ["JSON", "Talaria", "Metrics", "Observations"], "decide in whole numbers"),
        ("getenv", [], "take it as an argument"),
        ("await ", [], "concurrency is somewhere else"),
        ("async ", [], "concurrency is somewhere else"),
        ("Mutex", [], "concurrency is somewhere else"),
        ("@unchecked", [], "pure values are Sendable by themselves"),
    ]

    @Test(arguments: Manifest.pure) func `a pure target has nothing that breaks a replay`(row: Manifest.Row) {
        let files = SourceTree.files(in: row.folder, ending: ".swift")
        #expect(!files.isEmpty)
        for file in files {
            for (number, text) in file.code {
                for rule in Self.banned
                where !rule.except.contains(row.name) && Self.has(rule.token, in: text) {
                    Issue.record("\(file.path):\(number): \(rule.token) in a pure target: \(rule.instead)")
                }
            }
        }
    }

    /// `for … in dictionary.values` and its like. SlotMap's `entries`, `keys` and `values` are arrays; a table of
    /// this kind is declared by its type, so a plain dictionary that is iterated shows by its declaration.
    @Test(arguments: Manifest.pure) func `a pure target iterates no dictionary and no set`(row: Manifest.Row)
    {
        for file in SourceTree.files(in: row.folder, ending: ".swift")
        where !file.path.hasSuffix("SlotMap.swift") {
            let unordered = Self.unorderedNames(in: file)
            for (number, text) in file.code {
                for name in unordered where Self.iterates(name, in: text) {
                    Issue.record(
                        "\(file.path):\(number): iterates the unordered \(name): keep an array beside it")
                }
            }
        }
    }

    @Test func `unsafe stands only where C is called, and where bytes are memory`() {
        let edge: Set = [
            "SystemIO", "EventLoop", "CurlLoop", "LocustConnection", "TLS", "LivePhones", "LiveServer",
            "Imaging", "ScenarioFile", "RunArchive", "Manual", "BuiltIn",
        ]
        let memory: Set = ["SimBase/Bytes.swift", "SimBase/ByteBuilder.swift"]
        for file in SourceTree.files(in: "Sources", ending: ".swift") {
            guard let target = file.target, let name = file.inTarget, !edge.contains(target),
                !memory.contains(name)
            else { continue }
            for (number, text) in file.code where Self.has("unsafe ", in: text) {
                Issue.record(
                    "\(file.path):\(number): unsafe in \(target): move the call to a target that wraps it")
            }
        }
    }

    @Test func `the checks see what they are to see`() {
        #expect(Self.has("Date(", in: "let now = Date()"))
        #expect(!Self.has("Date(", in: "self.upDate(x)"))
        let file = SourceTree.File(
            path: "x", text: "var jobs: [String: Int] = [:]\nvar seen: Set<Int> = []\nvar list: [Int] = []")
        #expect(Self.unorderedNames(in: file) == ["jobs", "seen"])
        #expect(Self.iterates("jobs", in: "for job in self.jobs.values {"))
        #expect(Self.iterates("jobs", in: "let all = jobs.map { $0 }"))
        #expect(!Self.iterates("jobs", in: "let job = self.jobs[key]"))
    }

    /// Whether a token is in a line, not as the tail of a longer word.
    private static func has(_ token: String, in line: String) -> Bool {
        var rest = line[...]
        while let found = rest.range(of: token) {
            let before =
                found.lowerBound == rest.startIndex ? nil : rest[rest.index(before: found.lowerBound)]
            let first = token.first ?? " "
            if !first.isLetter || before.map({ !$0.isLetter && !$0.isNumber && $0 != "_" }) ?? true {
                return true
            }
            rest = rest[found.upperBound...]
        }
        return false
    }

    private static func unorderedNames(in file: SourceTree.File) -> [String] {
        file.code.compactMap { _, text in
            // Most lines are done with before the pattern, which is slow.
            guard text.contains(": [") || text.contains("Set<"),
                let match = text.firstMatch(of: /(?:var|let) (\w+)(?:: (?:\[[^\[\]]+: |Set<)| = Set<)/)
            else { return nil }
            return String(match.1)
        }
    }

    private static func iterates(_ name: String, in line: String) -> Bool {
        // Most lines are done with here, before a pattern is made.
        guard line.contains(name),
            let pattern = try? Regex(
                "\\bin (?:self\\.)?\(name)(?:\\.(?:keys|values))?\\s*(?:\\{|where)|\\b\(name)\\.(?:keys|values|map|compactMap|flatMap|forEach|reduce|filter|first|min\\(by|max\\(by)\\b"
            )
        else { return false }
        return line.firstMatch(of: pattern) != nil
    }
}
