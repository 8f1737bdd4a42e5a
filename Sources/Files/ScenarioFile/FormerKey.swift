/// A key of a group that earlier versions called otherwise. Their scenarios and saved plans are read as before.
enum FormerKey {
    private static let names = ["devices": "phones"]

    /// Today's key.
    static func today(_ key: String) -> String { self.names[key] ?? key }

    /// The tree of a scenario with today's keys. A former key beside today's stays, and is reported as unknown.
    static func renamed(in root: Node) -> Node {
        root.mappingEntries { _, section in
            guard section.key == "fleet" else { return section }
            return section.mappingValue { fleet in
                fleet.mappingEntries { _, group in group.mappingValue(Self.renamed(inGroup:)) }
            }
        }
    }

    private static func renamed(inGroup group: Node) -> Node {
        group.mappingEntries { all, entry in
            var entry = entry
            let key = self.today(entry.key)
            if !all.contains(where: { $0.key == key }) { entry.key = key }
            return entry
        }
    }
}

extension Node {
    /// The node with other entries if it is a map, else itself.
    fileprivate func mappingEntries(_ change: ([Entry], Entry) -> Entry) -> Node {
        guard case .map(let entries) = self.content else { return self }
        var node = self
        node.content = .map(entries.map { change(entries, $0) })
        return node
    }
}

extension Node.Entry {
    fileprivate func mappingValue(_ change: (Node) -> Node) -> Node.Entry {
        var entry = self
        entry.value = change(self.value)
        return entry
    }
}
