internal import Faults
internal import SimBase
internal import Talaria

/// The events of a job with their times: a pure function of its course, the numbers of photos and books and the duration.
struct JobScript: Hashable, Sendable {
    /// One event.
    enum Step: Hashable, Sendable {
        /// The n-th event of a stage, from 1.
        case event(JobCourse.Stage, Int)
        case completed
    }

    let course: JobCourse
    let photos: Int
    let books: Int
    let time: Interval

    /// The number of events up to the terminal one.
    var count: Int { self.course.stages.reduce(1) { $0 + self.count(of: $1.count) } }

    func step(at position: Int) -> Step {
        var left = max(0, position)
        for stage in self.course.stages {
            let count = self.count(of: stage.count)
            if left < count { return .event(stage, left + 1) }
            left -= count
        }
        return .completed
    }

    /// The position of the first event that waits for this part of the work.
    func first(of phase: ScanPhase) -> Int {
        var position = 0
        for stage in self.course.stages {
            if stage.phase == phase { return position }
            position += self.count(of: stage.count)
        }
        return position
    }

    /// Returns the time of the event at a position, from the acceptance of the job.
    func offset(at position: Int) -> Interval {
        let length = self.course.length
        let part =
            switch self.step(at: position) {
            case .event(let stage, let number):
                stage.from + (stage.to - stage.from) * Int64(number) / Int64(self.count(of: stage.count))
            case .completed: length
            }
        let time = self.time.nanoseconds
        return Interval(nanoseconds: time / length * part + time % length * part / length)
    }

    /// Returns the progress after the event at a position.
    func thousandths(at position: Int) -> Int {
        switch self.step(at: position) {
        case .event(let stage, let number):
            stage.progressFrom
                + (stage.progressTo - stage.progressFrom) * number / self.count(of: stage.count)
        case .completed: 1_000
        }
    }

    /// Returns `processedCount` and `totalCount`: photos until the books are identified, then books.
    func counts(at position: Int) -> (processed: Int, total: Int) {
        switch self.step(at: position) {
        case .event(let stage, let number):
            (stage.count == .one ? 0 : number, self.count(of: stage.counts))
        case .completed: (self.books, self.books)
        }
    }

    private func count(of count: JobCourse.Stage.Count) -> Int {
        switch count {
        case .one: 1
        case .photos: self.photos
        case .books: self.books
        }
    }

    func append(_ message: JobCourse.Stage.Message, _ number: Int, to text: inout ByteBuilder) {
        switch message {
        case .text(let words):
            text.append(text: words)
        case .starting:
            text.append(literal: "Starting scan of ")
            Decimal.append(Int64(self.photos), to: &text)
            text.append(literal: " photos...")
        case .processing:
            text.append(literal: "Processing photo ")
            Self.append(number, of: self.photos, to: &text)
            text.append(literal: "...")
        case .identified:
            text.append(literal: "Identified ")
            Decimal.append(Int64(self.books), to: &text)
            text.append(literal: " books")
        case .enriching:
            text.append(literal: "Enriching ")
            Decimal.append(Int64(self.books), to: &text)
            text.append(literal: " detected books...")
        case .enriched:
            text.append(literal: "Enriched book ")
            Self.append(number, of: self.books, to: &text)
        case .enrichingBook:
            text.append(literal: "Enriching book ")
            Self.append(number, of: self.books, to: &text)
            text.append(literal: "...")
        }
    }

    private static func append(_ number: Int, of total: Int, to text: inout ByteBuilder) {
        Decimal.append(Int64(number), to: &text)
        text.append(literal: " of ")
        Decimal.append(Int64(total), to: &text)
    }
}
