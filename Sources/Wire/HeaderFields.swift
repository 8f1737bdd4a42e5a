/// Header fields in the order they came; names are compared without case (RFC 9110 section 5.1).
package struct HeaderFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package struct Field: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package private(set) var fields: [Field]

    package init() { self.fields = [] }

    package init(_ fields: [Field]) { self.fields = fields }

    package init(dictionaryLiteral elements: (String, String)...) {
        self.fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    package var count: Int { self.fields.count }
    package var isEmpty: Bool { self.fields.isEmpty }

    /// Adds a field, even if one of that name is there.
    package mutating func append(_ name: String, _ value: String) {
        // As many as most heads have.
        if self.fields.isEmpty { self.fields.reserveCapacity(8) }
        self.fields.append(Field(name: name, value: value))
    }

    /// Makes `value` the only one of that name, where the first of them stood or at the end.
    package mutating func set(_ name: String, to value: String) {
        guard let place = self.fields.firstIndex(where: { ASCII.equalIgnoringCase($0.name, name) }) else {
            self.append(name, value)
            return
        }
        self.fields[place].value = value
        let kept = self.fields[place]
        self.remove(name)
        self.fields.insert(kept, at: place)
    }

    package mutating func remove(_ name: String) {
        self.fields.removeAll { ASCII.equalIgnoringCase($0.name, name) }
    }

    /// The first value of that name.
    package subscript(name: String) -> String? {
        self.fields.first { ASCII.equalIgnoringCase($0.name, name) }?.value
    }

    /// Every value of that name, in order.
    package func values(_ name: String) -> [String] {
        self.fields.compactMap { ASCII.equalIgnoringCase($0.name, name) ? $0.value : nil }
    }

    /// The members of a comma-separated list, over all fields of that name, without the spaces around them and
    /// without empty members (RFC 9110 section 5.6.1).
    package func list(_ name: String) -> [String] {
        var members: [String] = []
        for value in self.values(name) {
            for member in Array(value.utf8).split(separator: 0x2C) {
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
}
