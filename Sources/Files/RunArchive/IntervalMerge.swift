package import SimBase

/// The intervals of several concurrent runs in the order of time.
package struct IntervalMerge {
    private var readers: [IntervalReader]
    private var heads: [IntervalReader.Moment?] = []

    init(_ readers: [IntervalReader]) {
        self.readers = readers
        for index in self.readers.indices { self.heads.append(self.readers[index].next()) }
    }

    /// Creates the merge of runs that continue, for `next(before:)`.
    package init(growing readers: [IntervalReader]) {
        self.readers = readers
        self.heads = readers.map { _ in nil }
    }

    mutating func next() -> IntervalReader.Moment? {
        self.take { $0.next() }
    }

    /// The next interval of runs that continue. Intervals that begin before this time are known to be
    /// complete, except those of runs that report later: these come when they exist.
    package mutating func next(before moment: Instant) -> IntervalReader.Moment? {
        for index in self.heads.indices where self.heads[index] == nil {
            self.heads[index] = self.readers[index].next(before: moment)
        }
        return self.take { _ in nil }
    }

    /// Returns the first of the heads, and replaces it by what `next` returns.
    private mutating func take(
        _ next: (inout IntervalReader) -> IntervalReader.Moment?
    ) -> IntervalReader.Moment? {
        var first: Int?
        for index in self.heads.indices {
            guard let moment = self.heads[index] else { continue }
            if let least = first.flatMap({ self.heads[$0] }), least.from <= moment.from { continue }
            first = index
        }
        guard let first else { return nil }
        let moment = self.heads[first]
        self.heads[first] = next(&self.readers[first])
        return moment
    }

    var skipped: Int { self.readers.reduce(0) { $0 + $1.skipped } }
}
