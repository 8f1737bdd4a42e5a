package import SimBase
import Talaria

/// Merges the observations of several observers into one order.
///
/// Each source sends its observations in order of time and states how far it has advanced. An observation older than
/// the marks of all sources can be passed on: no earlier one can follow, however late a batch is.
package struct ObservationMerge: Sendable {
    private var stories: [Story]
    /// The least of the sources' marks.
    private var limit = Instant(nanoseconds: .min)

    /// `sources` are numbered from 0.
    package init(sources: Int) {
        self.stories = Array(repeating: Story(), count: sources)
    }

    package mutating func add(_ observation: Observation, of source: Int) {
        self.stories[source].add(observation)
    }

    /// Adds what a source observed next. A batch that is in order and waits for nothing before it is kept as it is.
    package mutating func add(contentsOf batch: [Observation], of source: Int) {
        self.stories[source].add(contentsOf: batch)
    }

    /// A source has reported everything up to this time.
    package mutating func mark(source: Int, upTo moment: Instant) {
        self.stories[source].mark = max(self.stories[source].mark, moment)
        self.limit = self.stories.map(\.mark).min() ?? .distantFuture
    }

    /// The time up to which a source has reported everything.
    package func mark(of source: Int) -> Instant { self.stories[source].mark }

    /// A source will report nothing more.
    package mutating func close(source: Int) { self.mark(source: source, upTo: .distantFuture) }

    /// Returns and removes the next observation that no other can precede. At equal times, the lower source
    /// comes first; within one source, observations keep their order.
    package mutating func next() -> Observation? {
        var earliest: (at: Instant, source: Int)?
        for source in self.stories.indices {
            guard let at = self.stories[source].nextAt, earliest.map({ at < $0.at }) ?? true else { continue }
            earliest = (at, source)
        }
        // An observation at the mark itself may still have company of the same instant; its order does not matter.
        guard let earliest, earliest.at <= self.limit else { return nil }
        return self.stories[earliest.source].take()
    }

    package var count: Int { self.stories.reduce(0) { $0 + $1.count } }
}

/// The observations of one source that are not merged yet, in order: a queue, because they arrive nearly in
/// order.
private struct Story: Sendable {
    var mark = Instant(nanoseconds: .min)
    private var waiting: [Observation] = []
    private var taken = 0

    private static let takenMax = 1_024

    var count: Int { self.waiting.count - self.taken }

    var nextAt: Instant? { self.taken < self.waiting.count ? self.waiting[self.taken].at : nil }

    mutating func add(_ observation: Observation) {
        var index = self.waiting.count - 1
        guard self.count > 0, self.waiting[index].at > observation.at else {
            self.waiting.append(observation)
            return
        }
        while index > self.taken, self.waiting[index - 1].at > observation.at { index -= 1 }
        self.waiting.insert(observation, at: index)
    }

    mutating func add(contentsOf batch: [Observation]) {
        let isInOrder = batch.indices.dropFirst().allSatisfy { batch[$0 - 1].at <= batch[$0].at }
        guard self.count == 0, isInOrder else {
            for observation in batch { self.add(observation) }
            return
        }
        self.waiting = batch
        self.taken = 0
    }

    mutating func take() -> Observation {
        let observation = self.waiting.take(self.taken, leaving: .nothing)
        self.taken += 1
        if self.taken == self.waiting.count {
            self.waiting = []
            self.taken = 0
        } else if self.taken >= Self.takenMax, self.taken * 2 >= self.waiting.count {
            self.waiting.removeFirst(self.taken)
            self.taken = 0
        }
        return observation
    }
}
