import Faults

/// The overrides of `--set path=value`, applied to the tree before its values are typed: they are checked
/// like the file.
///
/// A path is `seed`, `server.ping`, `fleet.<group>.<key>`, `faults.<id>.<key>` or `slo.<metric>`; what follows `slo.`
/// is one key, because metrics have points in them. Groups and faults must exist; keys need not. `faults+=fault` adds a fault.
struct Overrides {
    let findings: Findings

    func apply(_ option: String, to root: Node) -> Node {
        let source = self.findings.add(SourceText(name: "--set \(option)", isOption: true, text: option))
        guard let equals = option.firstIndex(of: "="), equals != option.startIndex else {
            let whole = Place(source: source, line: 1, column: 1, length: option.unicodeScalars.count)
            self.findings.add(
                whole, "an override must have the form path=value",
                help: "for example `--set fleet.commuters.phones=80`")
            return root
        }
        let path = String(option[..<equals])
        let shift = path.unicodeScalars.count + 1
        let location = Place(source: source, line: 1, column: 1, length: path.unicodeScalars.count)
        let text = String(option[option.index(after: equals)...])
        let reader = YAMLReader(Array(text.utf8), source: source, columnShift: shift, findings: self.findings)
        guard var value = reader.document() else { return root }
        if case .scalar("") = value.content { value.location = location }
        if path == Self.addedFault { return self.adding(value, at: location, to: root) }
        return self.set(Self.keys(of: path), value, in: root, .root, location) ?? root
    }

    private static let addedFault = "faults+"

    private func adding(_ fault: Node, at location: Place, to root: Node) -> Node {
        var faults: [Node] = []
        switch root["faults"]?.content {
        case .list(let given): faults = given
        case nil, .scalar(""): break
        // What is wrong with it is reported where it stands.
        case .scalar, .map, .reported: return root
        }
        let list = Node(content: .list(faults + [fault]), location: location)
        return self.set(["faults"], list, in: root, .root, location) ?? root
    }

    /// Whether a run goes otherwise than the scenario says, so that the moments that it names may not come; not where an
    /// override names moments itself.
    static func changeWhatHappens(_ options: [String]) -> Bool {
        let sections = options.map { String($0.prefix { !".=+".contains($0) }) }
        return !sections.contains("sometimes") && sections.contains { Self.decisiveSections.contains($0) }
    }

    private static let decisiveSections = ["fleet", "server", "faults", "duration", "rollout", "transports"]

    private static func keys(of path: String) -> [String] {
        let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return switch keys.first {
        case "slo" where keys.count > 2: ["slo", keys.dropFirst().joined(separator: ".")]
        case "fleet" where keys.count == 3: keys.dropLast() + [FormerKey.today(keys[2])]
        default: keys
        }
    }

    /// Where a map stands, as far as it matters for keys that are not there.
    private enum Level {
        case root, server, other

        /// A section may come into being by its first key, and so may a map of the server. A new group would be half a group.
        func mayBegin(_ key: String) -> Bool {
            switch self {
            case .root: key != "fleet"
            case .server: true
            case .other: false
            }
        }

        func below(_ key: String) -> Level {
            switch self {
            case .root: key == "server" ? .server : .other
            case .server, .other: .other
            }
        }
    }

    /// The tree with the value at the path; nil when there is no such path, which is reported.
    private func set(_ keys: [String], _ value: Node, in node: Node, _ level: Level, _ location: Place)
        -> Node?
    {
        guard let key = keys.first else { return value }
        guard !key.isEmpty else {
            self.findings.add(location, "a path must not contain empty keys")
            return nil
        }
        let rest = Array(keys.dropFirst())
        var node = node
        switch node.content {
        case .map(let entries):
            guard let changed = self.set(key, rest, value, in: entries, level, location) else { return nil }
            node.content = .map(changed)
        case .list(let nodes):
            guard let changed = self.set(key, rest, value, in: nodes, location) else { return nil }
            node.content = .list(changed)
        case .scalar:
            self.findings.add(location, "\(Findings.quoted(key)) cannot be set: its parent is a single value")
            return nil
        case .reported:
            return nil
        }
        return node
    }

    private func set(
        _ key: String, _ rest: [String], _ value: Node, in entries: [Node.Entry], _ level: Level,
        _ location: Place
    ) -> [Node.Entry]? {
        var entries = entries
        if let index = entries.firstIndex(where: { $0.key == key }) {
            guard
                let changed = self.set(rest, value, in: entries[index].value, level.below(key), location)
            else { return nil }
            entries[index].value = changed
        } else {
            guard rest.isEmpty || level.mayBegin(key) else {
                self.findings.add(
                    location, "there is no \(Findings.quoted(key)) to change",
                    help: Values.didYouMean(key, entries.map(\.key)))
                return nil
            }
            let empty = Node(content: .map([]), location: location)
            guard let changed = self.set(rest, value, in: empty, level.below(key), location) else {
                return nil
            }
            entries.append(Node.Entry(key: key, keyLocation: location, value: changed))
        }
        return entries
    }

    private func set(
        _ id: String, _ rest: [String], _ value: Node, in faults: [Node], _ location: Place
    ) -> [Node]? {
        var faults = faults
        let ids = FaultIDs.of(faults)
        guard let index = ids.firstIndex(of: id) else {
            self.findings.add(
                location, "there is no \(Findings.quoted(id)) to change",
                help: Values.didYouMean(id, ids.compactMap { $0 })
                    ?? "use the id of a fault, such as `reset-1`")
            return nil
        }
        guard let changed = self.set(rest, value, in: faults[index], .other, location) else { return nil }
        faults[index] = changed
        return faults
    }
}

/// The ids of faults as they stand in a file.
enum FaultIDs {
    /// The `id` of each, or `<kind>-<ordinal within the kind>`; nil for what is not a fault.
    static func of(_ nodes: [Node]) -> [String?] {
        var ordinals: [String: Int] = [:]
        return nodes.map { node in
            guard case .scalar(let kind)? = node["do"]?.content else { return nil }
            ordinals[kind, default: 0] += 1
            if case .scalar(let id)? = node["id"]?.content { return id }
            return "\(kind)-\(ordinals[kind] ?? 1)"
        }
    }
}
