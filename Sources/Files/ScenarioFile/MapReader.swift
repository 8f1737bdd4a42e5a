/// Reads the values of one map and reports their errors with their locations.
struct MapReader {
    /// The kind of the map with its article, for error messages: `a group`.
    let what: String
    let location: Place
    let entries: [Node.Entry]
    let findings: Findings
    /// Keys that unknown ones were probably meant to be, and that are not reported as missing in addition.
    private var meant: Set<String> = []

    /// Nil, and reported, when the node is not a map. Keys that are neither in `keys` nor in `planned` are reported as
    /// unknown, those in `planned` as not available yet.
    init?(_ node: Node, what: String, keys: [String], planned: [String], findings: Findings) {
        guard var map = MapReader(node, what: what, findings: findings) else { return nil }
        map.meant = map.reportUnknownKeys(among: keys, planned: planned)
        self = map
    }

    /// Creates a reader of a map whose keys are names chosen by the scenario.
    init?(_ node: Node, what: String, findings: Findings) {
        switch node.content {
        case .map(let entries):
            self.what = what
            self.location = node.location
            self.entries = entries
            self.findings = findings
        case .reported:
            return nil
        case .scalar, .list:
            findings.add(node.location, "\(what) must be a map of keys and values, not \(node.text)")
            return nil
        }
    }

    /// Whether an unknown key was probably meant to be this one.
    func isMeant(_ key: String) -> Bool { self.meant.contains(key) }

    func entry(_ key: String) -> Node.Entry? { self.entries.first { $0.key == key } }

    /// Returns the location of a key, for errors about the key itself; that of the map if the key is missing.
    func location(of key: String) -> Place { self.entry(key)?.keyLocation ?? self.location }

    /// The value of an optional key: the default when it is missing or wrong (which is reported).
    func value<Value>(_ key: String, default: Value, _ read: (String) throws(ValueError) -> Value) -> Value {
        self.value(key, read) ?? `default`
    }

    /// The value of an optional key; nil when it is missing or wrong (which is reported).
    func value<Value>(_ key: String, _ read: (String) throws(ValueError) -> Value) -> Value? {
        self.entry(key).flatMap { self.findings.value(of: $0.value, named: key, read) }
    }

    /// The value of a key that must be there; nil when it is missing or wrong (which is reported).
    func required<Value>(_ key: String, example: String, _ read: (String) throws(ValueError) -> Value)
        -> Value?
    {
        guard self.entry(key) != nil else {
            guard !self.isMeant(key) else { return nil }
            self.findings.add(
                self.location, "\(self.what) needs `\(key)`", help: "for example `\(key): \(example)`")
            return nil
        }
        return self.value(key, read)
    }
}

extension Findings {
    /// The value of a scalar; nil when it is none or wrong (which is reported).
    func value<Value>(of node: Node, named name: String, _ read: (String) throws(ValueError) -> Value)
        -> Value?
    {
        switch node.content {
        case .scalar(let text):
            guard !text.isEmpty else {
                self.add(node.location, "`\(name)` has no value")
                return nil
            }
            do throws(ValueError) {
                return try read(text)
            } catch {
                self.add(self.location(of: error.range, in: node, text), error.message, help: error.help)
                return nil
            }
        case .list, .map:
            self.add(node.location, "`\(name)` must be a single value, not \(node.text)")
            return nil
        case .reported:
            return nil
        }
    }

    /// The location of a part of a scalar; the whole of it if its text differs from that in the file
    /// (escapes, folded lines, variables).
    func location(of range: Range<Int>?, in node: Node, _ text: String) -> Place {
        guard let range else { return node.location }
        let line = self.sources[node.location.source].line(node.location.line)
        let scalars = Array(text.unicodeScalars)
        for quote in 0...1 {
            let start = node.location.column - 1 + quote
            guard start >= 0, start + scalars.count <= line.count,
                line[start..<start + scalars.count].elementsEqual(scalars)
            else { continue }
            return node.location.advanced(by: quote + range.lowerBound, length: range.count)
        }
        return node.location
    }
}
