/// A JSON object as text, in which single members are changed and every other byte of a foreign backend is
/// kept.
package struct JSONObjectText: Sendable {
    package var bytes: [UInt8] { self.node.bytes }
    private var node: JSONNode

    /// Nil for bytes that are not JSON object.
    package init?(_ bytes: [UInt8]) {
        guard let node = JSONNode(bytes), node.kind == .object else { return nil }
        self.node = node
    }

    package init?(_ text: String) { self.init(Array(text.utf8)) }

    package func contains(_ key: String) -> Bool { self.node[key] != nil }

    /// The value of a member that is a string.
    package func text(_ key: String) -> String? { self.node[key]?.text }

    /// The bytes of a member's value.
    package func value(_ key: String) -> ArraySlice<UInt8>? {
        self.node[key].map { self.bytes[$0.range] }
    }

    package mutating func remove(_ key: String) {
        while true {
            let entries = self.node.entries
            guard let index = entries.firstIndex(where: { $0.key.text == key }) else { return }
            let isLast = index == entries.count - 1
            let from =
                isLast && index > 0
                ? entries[index - 1].value.range.upperBound : entries[index].key.range.lowerBound
            let to =
                isLast ? entries[index].value.range.upperBound : entries[index + 1].key.range.lowerBound
            self.replace([(from..<to, [])])
        }
    }

    /// `value`: JSON.
    package mutating func set(_ key: String, to value: [UInt8]) {
        if let node = self.node[key] { self.replace([(node.range, value)]) }
    }

    package mutating func rename(_ key: String, to name: String) {
        guard let entry = self.node.entries.first(where: { $0.key.text == key }) else { return }
        self.replace([(entry.key.range, JSON.string(name))])
    }

    /// Changes strings under one of these keys, at any depth. Returns whether anything was changed.
    package mutating func changeStrings(under keys: [String], _ change: (String) -> String?) -> Bool {
        var changes: [(range: Range<Int>, bytes: [UInt8])] = []
        for string in self.node.strings(under: keys) {
            guard let text = string.text, let other = change(text), other != text else { continue }
            changes.append((string.range, JSON.string(other)))
        }
        self.replace(changes)
        return !changes.isEmpty
    }

    /// The ranges ascend and do not overlap.
    private mutating func replace(_ changes: [(range: Range<Int>, bytes: [UInt8])]) {
        var bytes = self.bytes
        for (range, replacement) in changes.reversed() { bytes.replaceSubrange(range, with: replacement) }
        if let node = JSONNode(bytes) { self.node = node }
    }

    /// The elements of a JSON array; nil for anything else.
    package static func elements(of array: ArraySlice<UInt8>) -> [[UInt8]]? {
        JSONNode(Array(array))?.list { Array($0.bytes[$0.range]) }
    }
}
