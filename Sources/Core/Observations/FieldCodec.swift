package import SimBase
package import Talaria

/// A format of observations in one direction: the log, the pipe between two processes, the digest.
///
/// A description passes each field to the codec and continues with what the codec returns. A codec that writes returns what it
/// was passed. One that reads ignores it, and returns what it has read: nil for a field without a value. Each receives all
/// fields of all observations, and ignores what it does not need, such as keys.
package protocol FieldCodec: ~Copyable {
    /// A codec that writes throws no error.
    var isReader: Bool { get }
    /// Begins an observation. `name` is unique within its side. By default, nothing happens, as in a codec that reads.
    mutating func begin(_ side: Side, _ name: StaticString)
    /// Numbers, and times in nanoseconds. They are never `Int64.min`.
    mutating func number(_ key: StaticString, _ value: Int64?) throws(MalformedObservation) -> Int64?
    /// An identifier that uses all 64 bits.
    mutating func identifier(_ key: StaticString, _ value: UInt64) throws(MalformedObservation) -> UInt64
    mutating func flag(_ key: StaticString, _ value: Bool?) throws(MalformedObservation) -> Bool?
    /// Text from outside of this program: it may be of any length, and contain anything.
    mutating func text(_ key: StaticString, _ value: String?) throws(MalformedObservation) -> String?
    /// A name from a list of this program. It is short and needs no escape. By default, it is a text.
    mutating func name(_ key: StaticString, _ value: String?) throws(MalformedObservation) -> String?
    /// The index of a fault in the scenario's list. By default, it is a number.
    mutating func fault(_ index: Int) throws(MalformedObservation) -> Int
    /// The details of a book that the log does not contain. By default, the book is not changed.
    mutating func details(of book: inout Book) throws(MalformedObservation)
}

/// A field is missing, is of another kind, or is not in the range of any observation.
package struct MalformedObservation: Error, Hashable, Sendable {
    package init() {}
}

extension FieldCodec where Self: ~Copyable {
    package mutating func begin(_ side: Side, _ name: StaticString) {}

    package mutating func name(_ key: StaticString, _ value: String?) throws(MalformedObservation) -> String?
    {
        try self.text(key, value)
    }

    package mutating func fault(_ index: Int) throws(MalformedObservation) -> Int {
        guard let number = try self.number("fault", Int64(index)) else { throw MalformedObservation() }
        return Int(number)
    }

    package mutating func details(of book: inout Book) throws(MalformedObservation) {}

    /// Returns nil for a time that is not in the range of any observation.
    package mutating func moment(_ key: StaticString) -> Instant? { try? self.field(key, Instant.zero) }
}
