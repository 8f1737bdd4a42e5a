/// Replaces `${NAME}` and `${NAME:-default}` in values by environment variables; `$${` is a literal `${`.
///
/// As in a shell, the default also replaces an empty variable. Inserted text is not substituted again.
struct Substitution {
    /// A scalar never grows beyond this.
    static let bytesMax = 1 << 16

    let environment: [String: String]
    let findings: Findings

    /// The node with every scalar value replaced; keys stay as they are.
    func apply(to node: Node) -> Node {
        switch node.content {
        case .scalar(let text):
            guard text.contains("${") else { return node }
            return Node(
                content: self.replaced(text, at: node.location).map { .scalar($0) } ?? .reported,
                location: node.location)
        case .list(let nodes):
            return Node(content: .list(nodes.map(self.apply)), location: node.location)
        case .map(let entries):
            let replaced = entries.map {
                Node.Entry(key: $0.key, keyLocation: $0.keyLocation, value: self.apply(to: $0.value))
            }
            return Node(content: .map(replaced), location: node.location)
        case .reported:
            return node
        }
    }

    /// Nil when something was wrong, which is reported.
    private func replaced(_ text: String, at location: Place) -> String? {
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "${") {
            let before = rest[..<start.lowerBound]
            if before.hasSuffix("$") {
                result += before.dropLast() + "${"
                rest = rest[start.upperBound...]
                continue
            }
            result += before
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else {
                self.findings.add(
                    location, "`${` without a closing `}`", help: "for a literal `${`, write `$${`")
                return nil
            }
            guard let value = self.value(rest[start.upperBound..<end], at: location) else { return nil }
            result += value
            rest = rest[rest.index(after: end)...]
            guard result.utf8.count <= Self.bytesMax else {
                self.findings.add(
                    location, "longer than \(Self.bytesMax) bytes after substitution of the variables")
                return nil
            }
        }
        return result + rest
    }

    private func value(_ expression: Substring, at location: Place) -> String? {
        let separator = expression.firstRange(of: ":-")
        let name = String(expression[..<(separator?.lowerBound ?? expression.endIndex)])
        let isName =
            !name.isEmpty && name.utf8.allSatisfy { Self.isLetter($0) || (0x30...0x39).contains($0) }
            && name.utf8.first.map(Self.isLetter) ?? false
        guard isName else {
            self.findings.add(
                location, "invalid variable name \(Findings.quoted(name))",
                help: "write `${NAME}` or `${NAME:-default}`")
            return nil
        }
        if let value = self.environment[name], !value.isEmpty || separator == nil { return value }
        guard let separator else {
            self.findings.add(
                location, "the environment variable `\(name)` is not set",
                help: "set it, or add a default: `${\(name):-default}`")
            return nil
        }
        return String(expression[separator.upperBound...])
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
