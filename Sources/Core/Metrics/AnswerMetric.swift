import SimBase
package import Talaria

/// Answers with one status, or with any of a class, to one operation or to all of them, as a number and as a share of the answers
/// to the same operation: `http.429`, `http.5xx`, `http.upload.503`.
package struct AnswerMetric: Hashable, Sendable {
    /// The beginning of every name.
    package static let prefix = "http."
    /// The operations that have names of their own.
    package static let operations = Operation.allCases.filter { $0.counted == $0 }
    private static let ofClass = "xx"
    /// The status of an answer with a status that HTTP does not have.
    static let other = 0
    private static let otherName = "other"

    /// Nil for all operations.
    package let operation: Operation?
    /// One status of three digits, or the hundred of a class.
    package let statuses: ClosedRange<Int>

    package init(_ operation: Operation? = nil, status: Int) {
        self.operation = operation
        self.statuses = status...status
    }

    /// Nil for a name of another form.
    init?(name: String) {
        guard name.hasPrefix(Self.prefix) else { return nil }
        var parts = name.dropFirst(Self.prefix.count).split(separator: ".", omittingEmptySubsequences: false)
        self.operation = Self.operations.first { parts.count == 2 && parts[0] == $0.name }
        if self.operation != nil { parts.removeFirst() }
        guard parts.count == 1, let statuses = Self.statuses(parts[0]) else { return nil }
        self.statuses = statuses
    }

    private static func statuses(_ text: Substring) -> ClosedRange<Int>? {
        if text == Self.otherName { return Self.other...Self.other }
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
        guard let number = Int(text.prefix(digits.count)), text.utf8.count == 3 else { return nil }
        if digits.count == 3, number >= 100 { return number...number }
        guard digits.count == 1, text.hasSuffix(Self.ofClass), (1...5).contains(number) else { return nil }
        return (number * 100)...(number * 100 + 99)
    }

    package var name: String {
        let first = self.statuses.lowerBound
        let status =
            first == Self.other
            ? Self.otherName : self.statuses.count == 1 ? String(first) : "\(first / 100)\(Self.ofClass)"
        return Self.prefix + (self.operation.map { $0.name + "." } ?? "") + status
    }
}

/// The answers of some part of a run, by operation and status.
struct AnswerCounts: Sendable {
    private static let known = 100..<1_000

    private struct Key: Hashable {
        var operation: Operation?
        var status: Int
    }

    private var counts = SlotMap<Key, Int64>()

    /// Whatever the peer sent for a status is counted, never trusted. `operation`: nil where it was not recorded.
    mutating func add(_ count: Int64, _ operation: Operation?, status: Int) {
        let key = Key(
            operation: operation?.counted, status: Self.known.contains(status) ? status : AnswerMetric.other)
        self.counts[key] = (self.counts[key] ?? 0).addingSaturating(count)
    }

    mutating func add(_ other: AnswerCounts) {
        for (key, count) in other.counts.entries { self.add(count, key.operation, status: key.status) }
    }

    mutating func reset() { self.counts = SlotMap() }

    /// The answers with the statuses of a metric (`failed`), of all answers to its operation (`total`).
    func rate(_ metric: AnswerMetric) -> FailureRate {
        var rate = FailureRate()
        for (key, count) in self.counts.entries
        where metric.operation == nil || metric.operation == key.operation {
            rate.add(FailureRate(failed: metric.statuses.contains(key.status) ? count : 0, total: count))
        }
        return rate
    }

    /// Each operation and status that came at all.
    var entries: [(operation: Operation?, status: Int, count: Int64)] {
        self.counts.entries.map { (operation: $0.key.operation, status: $0.key.status, count: $0.value) }
            .sorted { ($0.operation?.rawValue ?? 0, $0.status) < ($1.operation?.rawValue ?? 0, $1.status) }
    }
}

extension AnswerCounts: Equatable {
    static func == (left: AnswerCounts, right: AnswerCounts) -> Bool {
        left.entries.elementsEqual(right.entries, by: ==)
    }
}
