import Backend
import SimBase

/// Reads `dialect: {replay: PATH}`.
///
/// The file becomes a part of the scenario: the key `stream` holds its text, in a resolved scenario and in a saved plan as well,
/// which need no file.
struct CaptureReader {
    static let replay = "replay"
    static let stream = "stream"
    static let keys = [Self.replay, Self.stream]

    let findings: Findings
    let library: ScenarioLibrary

    /// The tree of the file at `path` with the text of the captured stream that it names. A stream from another file than
    /// `replay` names now, since an option has changed it, is read again.
    func embedded(in root: Node, path: String) -> Node {
        guard let dialect = root["server"]?["dialect"], let name = dialect[Self.replay],
            case .scalar(let text) = name.content, !text.isEmpty
        else { return root }
        if let stream = dialect[Self.stream], stream.location.source == name.location.source { return root }
        let stream = Node(
            content: self.text(text, at: name.location, path).map { .scalar($0) } ?? .reported,
            location: name.location)
        return Self.setting(["server", "dialect", Self.stream], to: stream, in: root)
    }

    private func text(_ name: String, at location: Place, _ path: String) -> String? {
        guard name.unicodeScalars.count <= ValueScanner.scalarsMax else {
            self.findings.add(location, "a path of more than \(ValueScanner.scalarsMax) characters")
            return nil
        }
        do throws(ScenarioLibrary.Missing) {
            let found = try self.library.capture(name, of: path)
            guard let text = self.decoded(found) else { return nil }
            // Not a variable of the environment.
            return text.replacing("${", with: "$${")
        } catch {
            self.findings.add(location, error.message, help: error.help)
            return nil
        }
    }

    /// Nil for a file that is too large or not text, which is reported with its position.
    private func decoded(_ found: ScenarioLibrary.Found) -> String? {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = found.bytes.starts(with: byteOrderMark) ? Array(found.bytes.dropFirst(3)) : found.bytes
        guard bytes.count <= Capture.bytesMax else {
            self.findings.add(
                Self.place(1, in: self.findings.add(SourceText(name: found.path, isOption: false, text: ""))),
                "the captured stream is larger than \(Units.text(bytes: Capture.bytesMax))")
            return nil
        }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let decoded = String(decoding: bytes, as: UTF8.self)
        let good = zip(decoded.utf8, bytes).prefix { $0 == $1 }.count
        let before = SourceText(
            name: found.path, isOption: false, text: String(decoding: bytes.prefix(good), as: UTF8.self))
        let source = self.findings.add(SourceText(name: found.path, isOption: false, text: decoded))
        self.findings.add(Self.place(before.linesCount, in: source), "the text is not valid UTF-8")
        return nil
    }

    /// The capture of a dialect that is a map; nil if something is wrong with it, which is reported.
    func capture(_ node: Node) -> Capture? {
        guard
            let map = MapReader(
                node, what: "a dialect", keys: Self.keys, planned: [], findings: self.findings)
        else { return nil }
        let name = map.value(Self.replay, default: "stream") { text throws(ValueError) in text }
        guard let stream = map.entry(Self.stream)?.value else {
            self.findings.add(
                map.location, "a dialect that is a map needs `replay`",
                help: "for example `{replay: captures/live-2026-02.sse}`, a path relative to the scenario")
            return nil
        }
        guard case .scalar(let text) = stream.content else {
            if case .reported = stream.content { return nil }
            self.findings.add(stream.location, "`stream` must be a text, not \(stream.text)")
            return nil
        }
        guard text.utf8.count <= Capture.bytesMax else {
            self.findings.add(
                stream.location, "the captured stream is larger than \(Units.text(bytes: Capture.bytesMax))")
            return nil
        }
        do throws(Capture.Mistake) {
            return try Capture(name: name, text: text)
        } catch {
            let source = self.findings.add(SourceText(name: name, isOption: false, text: text))
            self.findings.add(Self.place(error.line, in: source), error.message, help: error.help)
            return nil
        }
    }

    private static func place(_ line: Int, in source: Int) -> Place {
        Place(source: source, line: line, column: 1, length: 1)
    }

    private static func setting(_ path: ArraySlice<String>, to value: Node, in node: Node) -> Node {
        guard let key = path.first else { return value }
        guard case .map(var entries) = node.content else { return node }
        if let index = entries.firstIndex(where: { $0.key == key }) {
            entries[index].value = self.setting(path.dropFirst(), to: value, in: entries[index].value)
        } else if path.count == 1 {
            entries.append(Node.Entry(key: key, keyLocation: value.location, value: value))
        }
        return Node(content: .map(entries), location: node.location)
    }
}
