import JSON

/// The shape of a JSON value of the contract. The reader of an answer compares the answer with it, and the OpenAPI file is
/// written from it, so that a finding is always about something that the file does not define.
package indirect enum ContractShape: Sendable {
    /// A string. `format` is one of JSON Schema (draft 2020-12), for people and for generators of clients.
    case text(format: String?)
    /// A string that matches this regular expression. Readers do not compare it.
    case pattern(String)
    /// One of these strings. `name`: what they are, for a finding (`a status of the contract`).
    case words([String], name: String)
    /// `true` or `false`; one of them alone where it is given.
    case flag(Bool?)
    case integer(ClosedRange<Int>?)
    case number(ClosedRange<Double>?)
    case list(ContractShape)
    case object(ContractObject)
}

/// A member of an object of the contract.
package struct ContractMember: Sendable {
    package let key: String
    package let shape: ContractShape
    /// The contract promises it, and a reader notes that it is missing.
    package let isRequired: Bool
    /// The contract allows null. Readers take null for missing in any member that is not required.
    package let isNullable: Bool
    /// One sentence without a full stop.
    package let summary: String
    package let example: ContractExample?

    /// A member that the contract promises.
    static func always(
        _ key: String, _ shape: ContractShape, _ summary: String, example: ContractExample? = nil
    ) -> Self {
        Self(
            key: key, shape: shape, isRequired: true, isNullable: false, summary: summary, example: example)
    }

    /// A member that may be missing.
    static func maybe(
        _ key: String, _ shape: ContractShape, _ summary: String, isNullable: Bool = false,
        example: ContractExample? = nil
    ) -> Self {
        Self(
            key: key, shape: shape, isRequired: false, isNullable: isNullable, summary: summary,
            example: example)
    }
}

/// The value of an example.
package enum ContractExample: Hashable, Sendable {
    case text(String)
    case integer(Int)
    case number(Double)
    case flag(Bool)
}

/// An object of the contract. A class, so that passing it on counts one reference.
package final class ContractObject: Sendable {
    /// The name in `components.schemas`; nil for an object that is written where it is used.
    package let name: String?
    package let summary: String
    package let members: [ContractMember]
    /// The keys of the members, in their order.
    package let keys: [String]
    /// The keys as words, to find those of an answer.
    let lookup: JSONKeys
    /// What a reader needs to know first of each member.
    private let rules: [ContractRule]
    /// The strings that a member of this index may be.
    private let words: [JSONKeys?]
    /// The bits of the members that the contract promises.
    let required: UInt64

    init(_ name: String?, _ summary: String, _ members: [ContractMember]) {
        precondition(members.count < 64, "a reader keeps the members of an object in a word")
        self.name = name
        self.summary = summary
        self.members = members
        self.keys = members.map(\.key)
        self.lookup = JSONKeys(self.keys)
        self.rules = members.map { ContractRule($0) }
        self.words = members.map { if case .words(let words, _) = $0.shape { JSONKeys(words) } else { nil } }
        self.required = members.indices.reduce(0) { members[$1].isRequired ? $0 | Self.bit(of: $1) : $0 }
    }

    /// The bit for an index in a table of the contract, which has fewer than 64 rows.
    static func bit(of index: Int) -> UInt64 { 1 &<< UInt64(index) }

    /// Whether a value of the member at this index is right with all that is inside of it. False also where that has to be
    /// looked at.
    func takes(_ value: JSONNode, at index: Int) -> Bool {
        guard value.isA(self.rules[index].kind) else {
            return value.isNull && self.rules[index].takesNull
        }
        switch self.rules[index].values {
        case .all: return true
        case .words: return self.words[index].map { value.isText(among: $0) } ?? false
        case .integers(let range): return value.integer.map { range.contains($0) } ?? false
        case .numbers(let range): return value.decimal.map { range.contains($0) } ?? false
        case .inside: return false
        }
    }
}

/// What decides about most values of a member. It has no references, so that looking at it counts none.
struct ContractRule: Sendable {
    /// Which values of the kind are right.
    enum Values: Sendable {
        case all
        /// One of these strings.
        case words
        case integers(ClosedRange<Int>)
        case numbers(ClosedRange<Double>)
        /// Those with the right values inside.
        case inside
    }

    let kind: JSONNode.Kind
    let values: Values
    /// Whether null counts as missing, which is allowed for the member.
    let takesNull: Bool

    init(_ member: ContractMember) {
        (self.kind, self.values) =
            switch member.shape {
            case .text, .pattern: (.string, .all)
            case .words: (.string, .words)
            case .flag: (.bool, .all)
            case .integer(let range): (.number, .integers(range ?? Int.min...Int.max))
            case .number(let range):
                (.number, .numbers(range ?? -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude))
            case .list: (.array, .inside)
            // Of what has no members here, the contract says nothing more.
            case .object(let object): (.object, object.members.isEmpty ? .all : .inside)
            }
        self.takesNull = !member.isRequired || member.isNullable
    }
}
