import CYAML

/// Reads the strict subset of YAML that scenarios are written in: maps, lists and scalars; no anchors, aliases or
/// tags, no second document, no key twice.
struct YAMLReader {
    /// The version of libyaml, for example `0.2.5`.
    static var libraryVersion: String { unsafe String(cString: yaml_get_version_string()) }
    /// A longer text is not a scenario.
    static let bytesMax = 1 << 20
    /// Deeper nesting is not a scenario.
    static let depthMax = 32

    private enum Stop: Error {
        /// The rest cannot be parsed; the error was reported.
        case reported
    }

    private let findings: Findings
    private let source: Int
    /// Added to the columns of the first line, where the text is the tail of a longer one.
    private let columnShift: Int
    private let bytes: [UInt8]

    /// `bytes` must be valid UTF-8 without a byte order mark.
    init(_ bytes: [UInt8], source: Int, columnShift: Int, findings: Findings) {
        self.bytes = bytes
        self.source = source
        self.columnShift = columnShift
        self.findings = findings
    }

    /// The one document. Nil when the text cannot be read to its end; why was reported. A text without any value is an
    /// empty scalar.
    func document() -> Node? {
        unsafe self.bytes.withUnsafeBufferPointer { buffer in
            // libyaml wants an address even for no bytes.
            var nothing: UInt8 = 0
            return unsafe withUnsafePointer(to: &nothing) { nothing in
                let base = unsafe buffer.baseAddress ?? nothing
                guard let yaml = unsafe shim_yaml_new(base, buffer.count) else { return nil }
                defer { unsafe shim_yaml_free(yaml) }
                return unsafe self.document(yaml)
            }
        }
    }

    private func document(_ yaml: UnsafeMutablePointer<shim_yaml>) -> Node? {
        do {
            var root: Node?
            while true {
                switch unsafe try self.next(yaml) {
                case YAML_STREAM_END_EVENT:
                    return root ?? Node(content: .scalar(""), location: self.start)
                case YAML_DOCUMENT_START_EVENT where root != nil:
                    self.findings.add(
                        unsafe self.location(yaml), "the file contains more than one YAML document")
                    return nil
                case YAML_DOCUMENT_START_EVENT:
                    _ = unsafe try self.next(yaml)
                    root = unsafe try self.node(yaml, depth: 1)
                default:
                    break  // The start of the stream, the end of a document.
                }
            }
        } catch {
            return nil
        }
    }

    private func next(_ yaml: UnsafeMutablePointer<shim_yaml>) throws(Stop) -> yaml_event_type_t {
        guard unsafe shim_yaml_next(yaml) != 0 else {
            unsafe self.reportProblem(yaml)
            throw .reported
        }
        return unsafe shim_yaml_type(yaml)
    }

    /// The node whose first event is the current one.
    private func node(_ yaml: UnsafeMutablePointer<shim_yaml>, depth: Int) throws(Stop) -> Node {
        let location = unsafe self.location(yaml)
        guard depth <= Self.depthMax else {
            self.findings.add(location, "nested deeper than \(Self.depthMax) levels")
            throw .reported
        }
        unsafe self.rejectDecoration(yaml, location)
        switch unsafe shim_yaml_type(yaml) {
        case YAML_SCALAR_EVENT:
            return Node(content: .scalar(unsafe self.scalar(yaml)), location: location)
        case YAML_SEQUENCE_START_EVENT:
            var nodes: [Node] = []
            while unsafe try self.next(yaml) != YAML_SEQUENCE_END_EVENT {
                nodes.append(unsafe try self.node(yaml, depth: depth + 1))
            }
            return Node(content: .list(nodes), location: location)
        case YAML_MAPPING_START_EVENT:
            return Node(content: .map(unsafe try self.entries(yaml, depth: depth)), location: location)
        default:
            return Node(content: .reported, location: location)  // An alias.
        }
    }

    private func entries(_ yaml: UnsafeMutablePointer<shim_yaml>, depth: Int) throws(Stop) -> [Node.Entry] {
        var entries: [Node.Entry] = []
        var lines: [String: Int] = [:]
        while unsafe try self.next(yaml) != YAML_MAPPING_END_EVENT {
            let key = unsafe try self.node(yaml, depth: depth + 1)
            _ = unsafe try self.next(yaml)
            let value = unsafe try self.node(yaml, depth: depth + 1)
            guard case .scalar(let name) = key.content else {
                if case .reported = key.content { continue }
                self.findings.add(key.location, "a key must be text, not \(key.text)")
                continue
            }
            if let line = lines[name] {
                self.findings.add(
                    key.location, "the key \(Findings.quoted(name)) is given twice",
                    help: "first defined on line \(line)")
                continue
            }
            lines[name] = key.location.line
            entries.append(Node.Entry(key: name, keyLocation: key.location, value: value))
        }
        return entries
    }

    private func rejectDecoration(_ yaml: UnsafeMutablePointer<shim_yaml>, _ location: Place) {
        if let name = unsafe shim_yaml_anchor(yaml) {
            let name = unsafe String(cString: name)
            if unsafe shim_yaml_type(yaml) == YAML_ALIAS_EVENT {
                self.findings.add(
                    location, "aliases are not supported: \(Findings.quoted("*" + name))",
                    help: "write the value again")
            } else {
                self.findings.add(
                    location, "anchors are not supported: \(Findings.quoted("&" + name))",
                    help: "write the value where it is needed")
            }
        }
        if unsafe shim_yaml_has_tag(yaml) != 0 {
            self.findings.add(
                location, "tags are not supported", help: "leave out the tag")
        }
    }

    private func scalar(_ yaml: UnsafeMutablePointer<shim_yaml>) -> String {
        var count = 0
        guard let bytes = unsafe shim_yaml_scalar(yaml, &count) else { return "" }
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    // MARK: Places

    private var start: Place {
        Place(source: self.source, line: 1, column: 1 + self.columnShift, length: 1)
    }

    private func location(_ yaml: UnsafeMutablePointer<shim_yaml>) -> Place {
        let start = unsafe shim_yaml_start(yaml)
        let end = unsafe shim_yaml_end(yaml)
        var location = self.location(start)
        let isScalar = unsafe shim_yaml_type(yaml) == YAML_SCALAR_EVENT
        if isScalar, start.line == end.line, end.column > start.column {
            location.length = Int(end.column - start.column)
        }
        return location
    }

    private func location(_ mark: yaml_mark_t) -> Place {
        let text = self.findings.sources[self.source]
        guard mark.line < text.linesCount else {
            // libyaml ends a last line that has no line break by continuing to the next one.
            return Place(
                source: self.source, line: text.linesCount, column: text.line(text.linesCount).count + 1,
                length: 1)
        }
        let shift = mark.line == 0 ? self.columnShift : 0
        return Place(
            source: self.source, line: Int(mark.line) + 1, column: Int(mark.column) + 1 + shift, length: 1)
    }

    // MARK: Syntax errors

    private func reportProblem(_ yaml: UnsafeMutablePointer<shim_yaml>) {
        let problem = unsafe shim_yaml_problem(yaml).map { unsafe String(cString: $0) } ?? "unreadable"
        let context = unsafe shim_yaml_context(yaml).map { unsafe " " + String(cString: $0) } ?? ""
        if unsafe shim_yaml_is_reader_error(yaml) != 0 {
            let location = self.location(ofByte: Int(unsafe shim_yaml_problem_offset(yaml)))
            self.findings.add(location, "invalid YAML: \(problem)")
            return
        }
        let location = unsafe self.location(shim_yaml_problem_mark(yaml))
        let opening = unsafe self.location(shim_yaml_context_mark(yaml))
        self.findings.add(
            location, "invalid YAML: \(problem)\(context)",
            help: self.help(at: location) ?? self.help(problem, at: location)
                ?? self.help(context: context, opening))
    }

    /// The likely mistake if the parser finds a line where it expects none: it names that line, and cannot
    /// know which one has the wrong indentation.
    private func help(_ problem: String, at location: Place) -> String? {
        let indentation = "the indentation of this line or of the line above may be wrong"
        let line = self.findings.sources[location.source].line(location.line).prefix(location.column - 1)
        let followsKey = zip(line, line.dropFirst()).contains { $0 == ":" && $1 == " " }
        switch problem {
        case "did not find expected key", "did not find expected '-' indicator":
            return indentation + ": what belongs together begins in one column"
        case "mapping values are not allowed in this context":
            return followsKey
                ? "quote a value that contains a colon and a blank"
                : indentation + ", or the key above lacks a colon and a blank"
        case "block sequence entries are not allowed in this context":
            return followsKey ? "begin the list in the line below its key" : indentation
        default: return nil
        }
    }

    /// The position of the bracket that is not closed: the parser notices it only at the end of what it reads
    /// as its content.
    private func help(context: String, _ opening: Place) -> String? {
        switch context {
        case " while parsing a flow mapping": "the `{` in line \(opening.line) is not closed"
        case " while parsing a flow sequence": "the `[` in line \(opening.line) is not closed"
        case " while scanning a simple key": "the key in line \(opening.line) lacks its colon"
        default: nil
        }
    }

    private func help(at location: Place) -> String? {
        let line = self.findings.sources[location.source].line(location.line)
        if let variable = Self.variable(in: line, before: location.column) {
            return "quote a variable between `{` and `}` or `[` and `]`: \"\(variable)\""
        }
        switch line.indices.contains(location.column - 1) ? line[location.column - 1] : " " {
        case "\t": return "indent with spaces: YAML does not allow tabs here"
        case "%", "@", "`": return "quote a value that begins with this character"
        default: return nil
        }
    }

    /// The `${NAME}` that ends there or shortly before, unquoted: its bracket begins a map of its own.
    private static func variable(in line: [Unicode.Scalar], before column: Int) -> String? {
        let text = String(String.UnicodeScalarView(line))
        let match = text.matches(of: #/(["']?)\$\{[A-Za-z_][A-Za-z0-9_]*(:?-[^}]*)?\}/#).first { match in
            let start = text.distance(from: text.startIndex, to: match.range.lowerBound)
            let end = text.distance(from: text.startIndex, to: match.range.upperBound)
            return match.1.isEmpty && start < column && column <= end + 2
        }
        return match.map { String($0.0) }
    }

    /// The location of a byte, by counting line breaks before it as `SourceText` does.
    private func location(ofByte offset: Int) -> Place {
        let before = String(decoding: self.bytes.prefix(offset), as: UTF8.self)
        let lines = SourceText(name: "", isOption: false, text: before)
        let line = lines.linesCount
        let shift = line == 1 ? self.columnShift : 0
        return Place(
            source: self.source, line: line, column: lines.line(line).count + 1 + shift, length: 1)
    }
}
