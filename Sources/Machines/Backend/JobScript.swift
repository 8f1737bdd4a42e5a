internal import Faults
internal import SimBase
internal import Talaria

/// The events of a job with their times: a pure function of its course, of what it has to do and of the duration.
struct JobScript: Hashable, Sendable {
    /// One event.
    enum Step: Hashable, Sendable {
        /// What is said at the n-th part of a stage, from 1.
        case event(JobCourse.Stage, Int, JobCourse.Said)
        case completed
    }

    let course: JobCourse
    let photos: Int
    let books: Int
    /// Books that were asked for and that no provider has.
    var notFound = 0
    /// The rows of a library file.
    var rows = 0
    let time: Interval

    /// Docs/contract.md section 3.3: progress is sent every 2 s, or on a change.
    private static let tickMax = Interval.seconds(2)
    private static let ticksMin = 3

    /// The number of events up to the terminal one.
    var count: Int { self.course.stages.reduce(1) { $0 + self.count(of: $1) } }

    func step(at position: Int) -> Step {
        guard let (index, number, said) = self.part(at: position) else { return .completed }
        return .event(self.course.stages[index], number, said)
    }

    /// The index of the stage of the event at a position, the part of the stage from 1, and what is said; nil behind all events.
    /// By index: a loop would copy each stage.
    private func part(at position: Int) -> (stage: Int, number: Int, said: JobCourse.Said)? {
        var left = max(0, position)
        for index in self.course.stages.indices {
            let count = self.count(of: self.course.stages[index].count)
            let events = self.course.stages[index].events.count
            if left < count * events {
                let (part, event) = left.quotientAndRemainder(dividingBy: events)
                return (index, part + 1, self.course.stages[index].events[event])
            }
            left -= count * events
        }
        return nil
    }

    /// The position of the first event that waits for this part of the work.
    func first(of phase: ScanPhase) -> Int {
        var position = 0
        for stage in self.course.stages {
            if stage.phase == phase { return position }
            position += self.count(of: stage)
        }
        return position
    }

    /// Returns the time of the event at a position, from the acceptance of the job.
    func offset(at position: Int) -> Interval {
        let length = self.course.length
        var part = length
        if let (index, number, said) = self.part(at: position) {
            let (from, to) = (self.course.stages[index].from, self.course.stages[index].to)
            // What is done next is said before it takes its time.
            part =
                from + (to - from) * Int64(said == .bookProgress ? number - 1 : number)
                / Int64(self.parts(of: self.course.stages[index].count))
        }
        let time = self.time.nanoseconds
        return Interval(nanoseconds: time / length * part + time % length * part / length)
    }

    /// Returns the progress after the event at a position.
    func progress(at position: Int) -> JobProgress {
        switch self.step(at: position) {
        case .event(let stage, let number, _):
            let parts = self.parts(of: stage.count)
            return JobProgress(
                processed: self.processed(stage, number), total: self.total(stage.counts),
                thousandths: stage.progressFrom + (stage.progressTo - stage.progressFrom) * number / parts)
        case .completed:
            let total = self.total(self.course.counted)
            return JobProgress(processed: total, total: total, thousandths: 1_000)
        }
    }

    private func processed(_ stage: JobCourse.Stage, _ number: Int) -> Int {
        switch stage.count {
        case .one: 0
        case .photos, .books: number
        case .ticks: self.rows * number / self.parts(of: .ticks)
        }
    }

    private func total(_ counted: JobCourse.Counted) -> Int {
        switch counted {
        case .photos: self.photos
        case .books: self.books + self.notFound
        case .rows: self.rows
        }
    }

    private func count(of stage: JobCourse.Stage) -> Int { self.count(of: stage.count) * stage.events.count }

    private func count(of count: JobCourse.Stage.Count) -> Int {
        switch count {
        case .one: 1
        case .photos: self.photos
        case .books: self.books
        case .ticks: self.ticks
        }
    }

    /// The parts into which the events of a stage divide it. The last part of an import ends with the import.
    private func parts(of count: JobCourse.Stage.Count) -> Int {
        count == .ticks ? self.ticks + 1 : self.count(of: count)
    }

    /// Progress events of an import. Each reports some more rows.
    private var ticks: Int {
        let intervals = Int((self.time.nanoseconds - 1) / Self.tickMax.nanoseconds)
        return min(max(Self.ticksMin, intervals), max(0, self.rows - 1))
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
