import JSON
import SimBase

// What an answer has and the contract does not define.

extension LeanObject {
    /// Notes the members that the contract does not have or that are missing, and the values that it does not have for a
    /// member. A path about which something is noted already is left alone: the reading has more to say of it.
    func compare(with object: ContractObject, into notes: inout ContractNotes) {
        let noted = notes.isEmpty ? [] : notes.notes.map(\.path)
        self.compare(with: object, noted: noted, into: &notes)
    }

    /// `noted`: the paths about which the reading has noted something.
    private func compare(with object: ContractObject, noted: [String], into notes: inout ContractNotes) {
        var present: UInt64 = 0
        self.node.eachMember(of: object.lookup) { key, index, value in
            guard let index else {
                // Its value may be a secret under another name.
                notes.add(
                    self.prefix + (key.text ?? "").bounded, expected: ContractFinding.member,
                    seen: "an unknown field")
                return
            }
            present |= ContractObject.bit(of: index)
            if object.takes(value, at: index) { return }
            // By index: a member in a variable of its own would be copied, with all its texts.
            self.compare(value, with: object, at: index, noted: noted, into: &notes)
        }
        let missing = object.required & ~present
        guard missing != 0 else { return }
        for index in object.members.indices where missing & ContractObject.bit(of: index) != 0 {
            let path = self.path(object.members[index].key)
            guard !noted.contains(path) else { continue }
            notes.add(path, expected: object.members[index].shape.kindName, seen: "missing")
        }
    }

    /// `index`: that of the member.
    private func compare(
        _ value: JSONNode, with object: ContractObject, at index: Int, noted: [String],
        into notes: inout ContractNotes
    ) {
        guard let deviation = object.members[index].shape.deviation(of: value) else {
            if object.members[index].shape.hasInside {
                self.compareInside(
                    value, self.path(object.members[index].key), with: object.members[index].shape,
                    noted: noted, into: &notes)
            }
            return
        }
        let key = object.members[index].key
        let path = self.path(key)
        guard !noted.contains(path) else { return }
        notes.add(
            path, expected: deviation.expected, seen: deviation.seen,
            excerpt: Self.secrets.contains(key) ? nil : value.excerpt)
    }

    private func compareInside(
        _ value: JSONNode, _ path: @autoclosure () -> String, with shape: ContractShape,
        noted: [String], into notes: inout ContractNotes
    ) {
        switch shape {
        // Of what has no members here, the contract says nothing more.
        case .object(let object) where object.members.isEmpty: break
        case .object(let object):
            LeanObject(node: value, prefix: path() + ".")
                .compare(with: object, noted: noted, into: &notes)
        case .list(let shape):
            let path = path() + "[]"
            for element in value.elements where shape.deviation(of: element) == nil {
                self.compareInside(element, path, with: shape, noted: noted, into: &notes)
            }
        case .text, .pattern, .words, .flag, .integer, .number: break
        }
    }
}

extension ContractShape {
    /// The kind of its values, as a finding names it.
    var kindName: String {
        switch self {
        case .text, .pattern, .words: "a string"
        case .flag: "true or false"
        case .integer: "a whole number"
        case .number: "a number"
        case .list: "an array"
        case .object: "an object"
        }
    }

    /// Whether its values have members or elements.
    fileprivate var hasInside: Bool {
        switch self {
        case .list, .object: true
        case .text, .pattern, .words, .flag, .integer, .number: false
        }
    }

    /// How a value deviates from the shape, not counting what is inside of it. Nil if it does not.
    fileprivate func deviation(of value: JSONNode) -> (expected: String, seen: String)? {
        switch self {
        case .text, .pattern: return self.kindDeviation(of: value, isRight: value.kind == .string)
        case .words(let words, let name):
            guard value.kind == .string else { return (self.kindName, value.kindName) }
            return value.isText(among: JSONKeys(words)) ? nil : (name, "another one")
        case .flag: return self.kindDeviation(of: value, isRight: value.kind == .bool)
        case .integer(let range):
            guard let number = value.integer else { return (self.kindName, value.kindName) }
            guard let range, !range.contains(number) else { return nil }
            let isOpen = range.upperBound == .max
            return (
                isOpen ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)",
                "another number"
            )
        case .number(let range):
            guard let number = value.decimal else { return (self.kindName, value.kindName) }
            guard let range, !range.contains(number) else { return nil }
            return ("\(Int(range.lowerBound)) to \(Int(range.upperBound))", "another number")
        case .list: return self.kindDeviation(of: value, isRight: value.kind == .array)
        case .object: return self.kindDeviation(of: value, isRight: value.kind == .object)
        }
    }

    private func kindDeviation(of value: JSONNode, isRight: Bool) -> (expected: String, seen: String)? {
        isRight ? nil : (self.kindName, value.kindName)
    }
}
