package import SimBase

/// Header fields in the order of arrival; names are compared without case (RFC 9110 section 5.1).
///
/// Stored as bytes, one field after the other: most of a head is never read, and only requested fields become
/// text.
package struct HeaderFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// The position of a field in `bytes`: its name, followed by its value.
    private struct Place: Hashable, Sendable {
        var name: Range<Int>
        var value: Range<Int>
    }

    private var bytes: [UInt8] = []
    private var ranges: [Place] = []

    package init() {}

    package init(_ fields: [HeaderField]) {
        for field in fields { self.append(field.name, field.value) }
    }

    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { self.append(name, value) }
    }

    package var count: Int { self.ranges.count }
    package var isEmpty: Bool { self.ranges.isEmpty }

    /// Each as texts.
    package var fields: [HeaderField] {
        self.ranges.map { range in HeaderField(self.text(range.name), self.text(range.value)) }
    }

    // MARK: Changing

    /// Adds a field, even if one of that name is there.
    package mutating func append(_ name: String, _ value: String) {
        self.makeRoom()
        let start = self.bytes.count
        self.bytes.append(text: name)
        let middle = self.bytes.count
        self.bytes.append(text: value)
        self.ranges.append(Place(name: start..<middle, value: middle..<self.bytes.count))
    }

    /// Appends a line of a head, without its line end, as a lenient reader passed it on. A folded line belongs to the field
    /// before it, after a space (RFC 9112 section 5.2). What is neither that nor a field is ignored.
    package mutating func append(line: ArraySlice<UInt8>) {
        if line.first == ASCII.space || line.first == ASCII.tab {
            self.fold(ASCII.trimmed(line))
        } else if let colon = line.firstIndex(of: ASCII.colon) {
            self.append(
                name: ASCII.trimmed(line[..<colon]), value: ASCII.trimmed(line[line.index(after: colon)...]))
        }
    }

    /// Appends the field of a line that was read.
    mutating func append(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
        self.makeRoom()
        let start = self.bytes.count
        self.bytes.append(contentsOf: name)
        let middle = self.bytes.count
        self.bytes.append(contentsOf: value)
        self.ranges.append(Place(name: start..<middle, value: middle..<self.bytes.count))
    }

    private mutating func fold(_ value: ArraySlice<UInt8>) {
        guard let last = self.ranges.indices.last else { return }
        self.bytes.append(ASCII.space)
        self.bytes.append(contentsOf: value)
        let start = self.ranges[last].value.lowerBound
        self.ranges[last].value = start..<self.bytes.count
    }

    /// Reserves the capacity of most heads.
    private mutating func makeRoom() {
        guard self.ranges.isEmpty else { return }
        self.ranges.reserveCapacity(8)
        self.bytes.reserveCapacity(400)
    }

    /// Makes `value` the only one of that name, at the position of the first of them or at the end.
    package mutating func set(_ name: String, to value: String) {
        var fields = self.fields
        guard let range = fields.firstIndex(where: { $0.isNamed(name) }) else {
            self.append(name, value)
            return
        }
        fields[range].value = value
        let kept = fields[range]
        fields.removeAll { $0.isNamed(name) }
        fields.insert(kept, at: range)
        self = HeaderFields(fields)
    }

    package mutating func remove(_ name: String) {
        self = HeaderFields(self.fields.filter { !$0.isNamed(name) })
    }

    // MARK: Asking

    /// The first value of that name.
    package subscript(name: String) -> String? {
        self.ranges.first { self.isNamed($0, name) }.map { self.text($0.value) }
    }

    /// Returns the number of fields of this name.
    package func count(of name: String) -> Int {
        self.ranges.reduce(0) { self.isNamed($1, name) ? $0 + 1 : $0 }
    }

    /// Every value of that name, in order.
    package func values(_ name: String) -> [String] {
        self.ranges.compactMap { self.isNamed($0, name) ? self.text($0.value) : nil }
    }

    /// The members of a comma-separated list, over all fields of that name, without the spaces around them and
    /// without empty members (RFC 9110 section 5.6.1).
    package func list(_ name: String) -> [String] {
        var members: [String] = []
        for range in self.ranges where self.isNamed(range, name) {
            for member in self.bytes[range.value].split(separator: 0x2C) {
                let trimmed = ASCII.trimmed(member)
                if !trimmed.isEmpty { members.append(ASCII.text(trimmed)) }
            }
        }
        return members
    }

    /// Whether a comma-separated list holds `member`, compared without case.
    package func list(_ name: String, contains member: String) -> Bool {
        self.list(name).contains { ASCII.equalIgnoringCase($0, member) }
    }

    /// Passes the names and values to `body`, as bytes.
    func each(_ body: (_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Void) {
        for range in self.ranges { body(self.bytes[range.name], self.bytes[range.value]) }
    }

    private func isNamed(_ range: Place, _ name: String) -> Bool {
        guard range.name.count == name.utf8.count else { return false }
        // Nearly always they are written alike.
        return self.bytes.holds(name, at: range.name.lowerBound)
            || self.bytes[range.name].elementsEqual(name.utf8) {
                ASCII.lowercased($0) == ASCII.lowercased($1)
            }
    }

    private func text(_ range: Range<Int>) -> String { ASCII.text(self.bytes[range]) }
}
