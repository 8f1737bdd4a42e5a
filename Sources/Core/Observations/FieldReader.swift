package import SimBase
package import Talaria

/// A field is missing, is of another kind, or is not in the range of any observation.
package struct MalformedObservation: Error, Hashable, Sendable {
    package init() {}
}

/// Returns the fields of one observation in the order in which a `FieldWriter` received them. Returns nil for a field without
/// a value.
package protocol FieldReader: ~Copyable {
    mutating func number(_ key: StaticString) throws(MalformedObservation) -> Int64?
    mutating func identifier(_ key: StaticString) throws(MalformedObservation) -> UInt64
    mutating func flag(_ key: StaticString) throws(MalformedObservation) -> Bool?
    mutating func text(_ key: StaticString) throws(MalformedObservation) -> String?
    mutating func name(_ key: StaticString) throws(MalformedObservation) -> String?
    mutating func fault() throws(MalformedObservation) -> Int
    /// Receives the output of `FieldWriter.details(of:)`. By default, the book is not changed.
    mutating func addDetails(to book: inout Book) throws(MalformedObservation)
}

/// The ranges of what is read. Arithmetic after them cannot overflow (Docs/style.md rule 33).
package enum ObservationRange {
    /// The maximum count of one observation: the sum over a whole log fits into 64 bits.
    static let count: ClosedRange<Int64> = 0...(1 << 31)
    /// Nanoseconds: 30 years before and after the start of the run.
    package static let time =
        -Interval.hours(24 * 365 * 30).nanoseconds...Interval.hours(24 * 365 * 30).nanoseconds
}

extension FieldReader where Self: ~Copyable {
    package mutating func addDetails(to book: inout Book) throws(MalformedObservation) {}

    // MARK: Fields that may have no value

    private mutating func number(
        _ key: StaticString, in range: ClosedRange<Int64>
    ) throws(MalformedObservation) -> Int64? {
        guard let number = try self.number(key) else { return nil }
        guard range.contains(number) else { throw MalformedObservation() }
        return number
    }

    mutating func optionalCount(_ key: StaticString) throws(MalformedObservation) -> Int? {
        try self.number(key, in: ObservationRange.count).map { Int($0) }
    }

    mutating func optionalTime(_ key: StaticString) throws(MalformedObservation) -> Interval? {
        try self.number(key, in: ObservationRange.time).map { Interval(nanoseconds: $0) }
    }

    // MARK: Fields that have one

    private func required<Value>(_ value: Value?) throws(MalformedObservation) -> Value {
        guard let value else { throw MalformedObservation() }
        return value
    }

    mutating func count(_ key: StaticString) throws(MalformedObservation) -> Int {
        try self.required(try self.optionalCount(key))
    }

    mutating func time(_ key: StaticString) throws(MalformedObservation) -> Interval {
        try self.required(try self.optionalTime(key))
    }

    package mutating func moment(_ key: StaticString) throws(MalformedObservation) -> Instant {
        Instant(nanoseconds: try self.time(key).nanoseconds)
    }

    mutating func attempt() throws(MalformedObservation) -> UInt32 {
        try self.required(try self.number("attempt").flatMap { UInt32(exactly: $0) })
    }

    mutating func isTrue(_ key: StaticString) throws(MalformedObservation) -> Bool {
        try self.required(try self.flag(key))
    }

    mutating func requiredText(_ key: StaticString) throws(MalformedObservation) -> String {
        try self.required(try self.text(key))
    }

    mutating func job() throws(MalformedObservation) -> String { try self.requiredText("job") }

    mutating func rows() throws(MalformedObservation) -> RowCounts {
        var rows = RowCounts()
        rows.created = try self.count("created")
        rows.updated = try self.count("updated")
        rows.skipped = try self.count("skipped")
        rows.failed = try self.count("failed")
        rows.pending = try self.count("pending")
        return rows
    }

    mutating func promise() throws(MalformedObservation) -> BooksPromise {
        let (unique, detected) = (try self.optionalCount("unique"), try self.optionalCount("detected"))
        return try self.required(BooksPromise(unique: unique, detected: detected))
    }

    mutating func value<Value: RawRepresentable<String>>(
        _ key: StaticString
    ) throws(MalformedObservation) -> Value {
        try self.required(try self.name(key).flatMap { Value(rawValue: $0) })
    }

    mutating func operation() throws(MalformedObservation) -> Operation {
        let name = try self.name("operation")
        return try self.required(Operation.allCases.first { $0.name == name })
    }

    mutating func abandonCause() throws(MalformedObservation) -> AbandonCause {
        try self.required(try self.name("cause").flatMap { AbandonCause(name: $0) })
    }

    mutating func book() throws(MalformedObservation) -> Book { try self.required(try self.optionalBook()) }

    mutating func optionalBook() throws(MalformedObservation) -> Book? {
        guard let title = try self.text("title") else { return nil }
        var book = Book(
            title: title, author: try self.requiredText("author"),
            isbn: try self.text("isbn"), confidence: nil,
            enrichmentStatus: try self.text("enrichment").map { EnrichmentStatus(text: $0) }, coverUrl: nil)
        try self.addDetails(to: &book)
        return book
    }
}
