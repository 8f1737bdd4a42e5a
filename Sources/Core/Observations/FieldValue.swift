package import SimBase
import Talaria

/// The type of a field, which defines its form in the log, on the pipe and in the digest.
protocol FieldValue {
    /// Any value.
    static var blank: Self { get }
    /// Passes a value to a codec. Nil is a field without a value.
    static func coded(
        _ value: Self?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self?
}

extension Optional: FieldValue where Wrapped: FieldValue {
    static var blank: Wrapped? { nil }

    @inline(__always) static func coded(
        _ value: Wrapped??, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Wrapped?? {
        .some(try Wrapped.coded(value ?? nil, key, by: &codec))
    }
}

// MARK: Numbers

/// A field that is a number within a range. Arithmetic with what is read cannot overflow (Docs/style.md rule 33).
protocol NumberField: FieldValue {
    static var range: ClosedRange<Int64> { get }
    /// `number` is in the range.
    init(field number: Int64)
    var fieldNumber: Int64 { get }
}

/// The ranges of what is read.
package enum ObservationRange {
    /// The maximum count of one observation: the sum over a whole log fits into 64 bits.
    static let count: ClosedRange<Int64> = 0...(1 << 31)
    /// Nanoseconds: 30 years before and after the start of the run.
    package static let time =
        -Interval.hours(24 * 365 * 30).nanoseconds...Interval.hours(24 * 365 * 30).nanoseconds
}

extension NumberField {
    static var blank: Self { Self(field: 0) }

    @inline(__always) static func coded(
        _ value: Self?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self? {
        guard let number = try codec.number(key, value?.fieldNumber) else { return nil }
        guard codec.isReader else { return value }
        guard self.range.contains(number) else { throw MalformedObservation() }
        return Self(field: number)
    }
}

extension Int: NumberField {
    static var range: ClosedRange<Int64> { ObservationRange.count }
    init(field number: Int64) { self.init(number) }
    var fieldNumber: Int64 { Int64(self) }
}

extension UInt32: NumberField {
    static var range: ClosedRange<Int64> { 0...Int64(Self.max) }
    init(field number: Int64) { self.init(number) }
    var fieldNumber: Int64 { Int64(self) }
}

extension Interval: NumberField {
    static var range: ClosedRange<Int64> { ObservationRange.time }
    init(field number: Int64) { self.init(nanoseconds: number) }
    var fieldNumber: Int64 { self.nanoseconds }
}

extension Instant: NumberField {
    static var range: ClosedRange<Int64> { ObservationRange.time }
    init(field number: Int64) { self.init(nanoseconds: number) }
    var fieldNumber: Int64 { self.nanoseconds }
}

/// Parts per million.
extension Odds: NumberField {
    static var range: ClosedRange<Int64> { 0...1_000_000 }
    init(field number: Int64) { self.init(perMillion: UInt32(number)) }
    var fieldNumber: Int64 { Int64(self.perMillion) }
}

/// The number of the rows of a file; no value for an unreadable one.
extension LibraryContent: FieldValue {
    static var blank: LibraryContent { .unreadable }

    static func coded(
        _ value: LibraryContent?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> LibraryContent? {
        LibraryContent(rows: try Int.coded(value?.rows, key, by: &codec))
    }
}

/// An identifier that uses all 64 bits.
extension UInt64: FieldValue {
    static var blank: UInt64 { 0 }

    static func coded(
        _ value: UInt64?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> UInt64? {
        try codec.identifier(key, value ?? 0)
    }
}

/// The index of a fault in the scenario's list. The log has the id of the fault instead, always with the same key.
struct FaultIndex: FieldValue {
    let raw: Int

    static var blank: FaultIndex { FaultIndex(raw: 0) }

    static func coded(
        _ value: FaultIndex?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> FaultIndex? {
        FaultIndex(raw: try codec.fault(value?.raw ?? 0))
    }
}

// MARK: Flags, texts and names

extension Bool: FieldValue {
    static var blank: Bool { false }

    @inline(__always) static func coded(
        _ value: Bool?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Bool? {
        try codec.flag(key, value)
    }
}

extension String: FieldValue {
    static var blank: String { "" }

    @inline(__always) static func coded(
        _ value: String?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> String? {
        try codec.text(key, value)
    }
}

/// A field that is a name from a list of this program.
protocol NameField: FieldValue {
    init?(field name: String)
    var fieldName: String { get }
}

extension NameField {
    @inline(__always) static func coded(
        _ value: Self?, _ key: StaticString, by codec: inout some FieldCodec & ~Copyable
    ) throws(MalformedObservation) -> Self? {
        guard let name = try codec.name(key, value?.fieldName) else { return nil }
        guard codec.isReader else { return value }
        guard let value = Self(field: name) else { throw MalformedObservation() }
        return value
    }
}

extension NameField where Self: RawRepresentable<String> & CaseIterable {
    static var blank: Self { Self.allCases[Self.allCases.startIndex] }
    init?(field name: String) { self.init(rawValue: name) }
    var fieldName: String { self.rawValue }
}

extension BadAnswer: NameField {}
extension EventKind: NameField {}
extension InlineBooksForm: NameField {}
extension JobStatus: NameField {}
extension LossCause: NameField {}
extension TargetProbe: NameField {}
extension TargetRule: NameField {}
extension TransportFailure: NameField {}
extension PhotoReason: NameField {}
extension WaitingCause: NameField {}
extension Reconciliation.Source: NameField {}
extension RolloutMeasure: NameField {}
extension StreamTransport: NameField {}

extension Operation: NameField {
    static var blank: Operation { .upload }

    init?(field name: String) {
        guard let operation = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = operation
    }

    var fieldName: String { self.name }
}

extension AbandonCause: NameField {
    static var blank: AbandonCause { .jobIDReused }
    init?(field name: String) { self.init(name: name) }
    var fieldName: String { self.name }
}
