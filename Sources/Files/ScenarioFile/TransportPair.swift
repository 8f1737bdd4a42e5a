import Talaria

/// A list of two transports, from one to the other.
enum TransportPair {
    private static let words = StreamTransport.allCases.map(\.rawValue)
    static let schema = JSONSchema.list(of: .choice(Self.words), max: 2, min: 2)

    /// Nil without a node, and for anything else, which is reported.
    static func read(_ node: Node?, named key: String, _ findings: Findings) -> [StreamTransport]? {
        guard let node else { return nil }
        guard case .list(let nodes) = node.content, nodes.count == 2 else {
            findings.add(
                node.location, "`\(key)` must be a list of two transports", help: "write `[websocket, sse]`")
            return nil
        }
        let pair = nodes.compactMap { node in
            findings.value(of: node, named: key) { text throws(ValueError) in
                StreamTransport(rawValue: try Values.choice(text, of: Self.words, what: "a transport"))
            } ?? nil
        }
        guard pair.count == 2 else { return nil }
        guard pair[0] != pair[1] else {
            findings.add(
                node.location, "both are `\(pair[0].rawValue)`", help: "write `[websocket, sse]`")
            return nil
        }
        return pair
    }
}
