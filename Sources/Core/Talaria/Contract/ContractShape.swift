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

    init(_ name: String?, _ summary: String, _ members: [ContractMember]) {
        precondition(members.count < 64, "a reader keeps the members of an object in a word")
        self.name = name
        self.summary = summary
        self.members = members
        self.keys = members.map(\.key)
    }
}
