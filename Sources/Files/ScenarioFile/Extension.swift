/// Merges a scenario into the one that it extends.
///
/// Maps merge key by key, to any depth; everything else in the extending file replaces the inherited value:
/// lists, and with them `faults`, as a whole. A key without a value removes the inherited one. `name` and
/// `description` are not inherited, since two scenarios of one name could not be distinguished. Groups keep
/// their positions in the fleet, new ones follow.
struct Extension {
    /// Scenarios that extend each other; more is a mistake.
    static let depthMax = 8
    static let key = "extends"
    private static let ownKeys = ["name", "description"]

    let findings: Findings
    let environment: [String: String]
    let library: ScenarioLibrary
    /// Reads one file; nil when it cannot be read, which is reported.
    let parse: (_ path: String, _ bytes: [UInt8]) -> Node?

    /// The whole tree of a file. Nil when it, or what it extends, cannot be read, which is reported.
    func tree(path: String, bytes: [UInt8]) -> Node? {
        self.tree(path: path, bytes: bytes, chain: [self.library.identity(of: path)])
    }

    /// `chain`: the files that led here, this one the last.
    private func tree(path: String, bytes: [UInt8], chain: [String]) -> Node? {
        guard let root = self.parse(path, bytes) else { return nil }
        guard case .map(var entries) = root.content,
            let index = entries.firstIndex(where: { $0.key == Self.key })
        else { return root }
        let entry = entries.remove(at: index)
        guard let found = self.base(entry.value, of: path),
            self.isNew(found, in: chain, entry.value.location),
            let base = self.tree(path: found.path, bytes: found.bytes, chain: chain + [found.identity])
        else { return nil }
        var inherited = base
        if case .map(let all) = base.content {
            inherited.content = .map(all.filter { !Self.ownKeys.contains($0.key) })
        }
        return Self.merged(inherited, under: Node(content: .map(entries), location: root.location))
    }

    private func base(_ value: Node, of path: String) -> ScenarioLibrary.Found? {
        let value = Substitution(environment: self.environment, findings: self.findings).apply(to: value)
        let name = self.findings.value(of: value, named: Self.key) { text throws(ValueError) in
            guard text.unicodeScalars.count <= ValueScanner.scalarsMax else {
                throw ValueError("a path of more than \(ValueScanner.scalarsMax) characters")
            }
            return text
        }
        guard let name else { return nil }
        do throws(ScenarioLibrary.Missing) {
            return try self.library.find(name, extendedBy: path)
        } catch {
            self.findings.add(value.location, error.message, help: error.help)
            return nil
        }
    }

    private func isNew(_ found: ScenarioLibrary.Found, in chain: [String], _ location: Place) -> Bool {
        guard !chain.contains(found.identity) else {
            self.findings.add(
                location, "a scenario cannot extend itself, directly or indirectly",
                help: "\(found.path) extends this scenario")
            return false
        }
        guard chain.count < Self.depthMax else {
            self.findings.add(location, "more than \(Self.depthMax) levels of `extends`")
            return false
        }
        return true
    }

    private static func merged(_ base: Node, under top: Node) -> Node {
        guard case .map(var entries) = base.content, case .map(let changes) = top.content else { return top }
        for change in changes {
            guard let index = entries.firstIndex(where: { $0.key == change.key }) else {
                entries.append(change)
                continue
            }
            if case .scalar("") = change.value.content {
                entries.remove(at: index)
            } else {
                entries[index] = Node.Entry(
                    key: change.key, keyLocation: change.keyLocation,
                    value: self.merged(entries[index].value, under: change.value))
            }
        }
        return Node(content: .map(entries), location: top.location)
    }
}
