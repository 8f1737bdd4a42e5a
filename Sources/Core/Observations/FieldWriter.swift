import SimBase
package import Talaria

/// Receives the fields of observations, in the order of their description: `PhoneObservation.write(to:)` and
/// the others.
///
/// The log, the pipe between two processes and the digest are field writers. Each receives all fields of all
/// observations, and ignores those that it does not need, such as keys.
package protocol FieldWriter: ~Copyable {
    /// Begins an observation. `name` is unique within its side.
    mutating func begin(_ side: Side, _ name: StaticString)
    /// Numbers, and times in nanoseconds. They are never `Int64.min`.
    mutating func number(_ key: StaticString, _ value: Int64?)
    /// An identifier that uses all 64 bits.
    mutating func identifier(_ key: StaticString, _ value: UInt64)
    mutating func flag(_ key: StaticString, _ value: Bool?)
    /// Text from outside of this program: it may be of any length, and contain anything.
    mutating func text(_ key: StaticString, _ value: String?)
    /// A name from a list of this program. It is short and needs no escape.
    mutating func name(_ key: StaticString, _ value: String?)
    /// The index of a fault in the scenario's list.
    mutating func fault(_ index: Int)
    /// Writes the details of a book that the log does not contain. By default, it does nothing.
    mutating func details(of book: Book)
}

extension FieldWriter where Self: ~Copyable {
    package mutating func details(of book: Book) {}

    mutating func number(_ key: StaticString, _ value: Int?) { self.number(key, value.map { Int64($0) }) }

    mutating func time(_ key: StaticString, _ value: Interval?) { self.number(key, value?.nanoseconds) }

    mutating func attempt(_ attempt: UInt32) { self.number("attempt", Int64(attempt)) }

    mutating func exchange(_ operation: Operation, _ attempt: UInt32) {
        self.name("operation", operation.name)
        self.attempt(attempt)
    }

    mutating func name(_ key: StaticString, _ value: some RawRepresentable<String>) {
        self.name(key, value.rawValue)
    }

    mutating func job(_ job: String) { self.text("job", job) }

    mutating func rows(_ rows: RowCounts) {
        self.number("created", rows.created)
        self.number("updated", rows.updated)
        self.number("skipped", rows.skipped)
        self.number("failed", rows.failed)
        self.number("pending", rows.pending)
    }

    mutating func book(_ book: Book) {
        self.text("title", book.title)
        self.text("author", book.author)
        self.text("isbn", book.isbn)
        self.text("enrichment", book.enrichmentStatus?.text)
        self.details(of: book)
    }
}
