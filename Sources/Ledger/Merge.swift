package import SimBase
package import Talaria

/// Puts the stories of several observers into one order.
///
/// Each source tells its observations in the order of time and says how far its story goes. What is older than every
/// source's mark can be told on: nothing earlier can come any more, however late a batch is.
package struct ObservationMerge: Sendable {
    private var waiting: EventHeap<Observation> = EventHeap()
    private var marks: [Instant]

    /// `sources` are numbered from 0.
    package init(sources: Int) {
        self.marks = Array(repeating: Instant(nanoseconds: .min), count: sources)
    }

    package mutating func add(_ observation: Observation) {
        self.waiting.insert(observation, at: observation.at)
    }

    /// A source has told everything up to this moment.
    package mutating func mark(source: Int, upTo moment: Instant) {
        self.marks[source] = max(self.marks[source], moment)
    }

    /// A source will tell nothing more.
    package mutating func close(source: Int) { self.marks[source] = .distantFuture }

    /// Takes the next observation that cannot be preceded by another. At equal times the first added comes first.
    package mutating func next() -> Observation? {
        guard let limit = self.marks.min() else { return self.waiting.popFirst()?.element }
        // An observation at the mark itself may still have company of the same instant; its order does not matter.
        return self.waiting.popDue(at: limit)?.element
    }

    package var count: Int { self.waiting.count }
}
