/// A value of the file and its position.
struct Node {
    enum Content {
        case scalar(String)
        case list([Node])
        case map([Entry])
        /// Something that was already reported; it is not reported again.
        case reported
    }

    struct Entry {
        var key: String
        var keyLocation: Place
        var value: Node
    }

    var content: Content
    /// The location of the first line of a scalar, or of the first character of a list or map.
    var location: Place

    /// The kind of the node with its article, for error messages.
    var text: String {
        switch self.content {
        case .scalar(let text): text.isEmpty ? "nothing" : "the text \(Findings.quoted(text))"
        case .list: "a list"
        case .map: "a map"
        case .reported: "something else"
        }
    }

    /// The value of a key; nil when this is not a map or has no such key.
    subscript(key: String) -> Node? {
        guard case .map(let entries) = self.content else { return nil }
        return entries.first { $0.key == key }?.value
    }
}
