import JSON
package import SimBase
package import Talaria

/// An event stream of one job that was captured from a backend, for example with `curl -N` (Docs/as-built.md section 7). The
/// simulated backend sends its events for every job.
package struct Capture: Hashable, Sendable {
    /// One event of it.
    struct Event: Hashable, Sendable {
        var form: EventForm
        var kind: EventKind
        /// The number of its id.
        var milliseconds: Int64
        /// The time since the first event, in milliseconds. It never decreases.
        var offset: Int64
        var data: CapturedData
    }

    /// What is wrong with a text that is not a capture.
    package struct Mistake: Error, Hashable, Sendable {
        /// From 1.
        package var line: Int
        package var message: String
        package var help: String?
    }

    package static let bytesMax = 256 << 10
    /// The longest time between two events of a capture, in milliseconds.
    private static let timeMax: Int64 = 24 * 3_600_000
    /// A shorter job id may be in the data by chance.
    private static let jobBytesMin = 8

    /// The path that a scenario calls it by.
    package let name: String
    package let text: String
    /// Those before the first `completed` event.
    let events: [Event]
    let completed: Event
    /// The second `completed` event, if there is one.
    let again: Event?
    /// The books of its `completed` events, in their order in the capture.
    package let books: [Book]
    /// The first `retry:` in it.
    package let retry: Interval?

    /// The time from the first event to the first `completed` event, at least a millisecond.
    package var jobTime: Interval { .milliseconds(max(1, self.completed.offset)) }

    /// `name`: what it is called in a scenario.
    package init(name: String, text: String) throws(Mistake) {
        let reading = try CaptureReading(text)
        let found = reading.timed()
        guard let end = found.firstIndex(where: { $0.kind == .completed }) else {
            throw Mistake(
                line: reading.lines, message: "the stream has no `completed` event",
                help: "capture it until the job is over")
        }
        let after = found[(end + 1)...]
        if let surplus = after.first(where: { $0.kind != .completed }) ?? after.dropFirst().first {
            throw Mistake(
                line: surplus.line, message: "an event follows the end of the job",
                help: "only a second `completed` event may follow the first")
        }
        if let late = found.first(where: { $0.offset > Self.timeMax }) {
            throw Mistake(
                line: late.line, message: "the event comes more than 24 h after the first",
                help: "give the times of all events in comments: `: at 1250ms`")
        }
        let job = try Self.job(of: found)
        let events = found.map { $0.event(job: job) }
        self.name = name
        self.text = text
        self.events = Array(events[..<end])
        self.completed = events[end]
        self.again = events.count > end + 1 ? events[end + 1] : nil
        self.books = try reading.books(from: end)
        self.retry = reading.retry
    }

    /// The id of the job in the data of the events; nil if they name none.
    private static func job(of events: [CaptureReading.Found]) throws(Mistake) -> String? {
        let named = events.compactMap { event in event.jobID.map { (line: event.line, id: $0) } }
        guard let job = named.first else { return nil }
        if let other = named.first(where: { $0.id != job.id }) {
            throw Mistake(
                line: other.line, message: "the event is of another job than the first",
                help: "capture the stream of one job")
        }
        guard job.id.utf8.count >= self.jobBytesMin else {
            throw Mistake(
                line: job.line, message: "a `jobId` of fewer than \(self.jobBytesMin) bytes",
                help: "it is replaced wherever it stands in the data: write a longer one")
        }
        return job.id
    }
}

/// The data of a captured event, in which the id of the job and the address of the results are those of another job.
struct CapturedData: Hashable, Sendable {
    private enum Piece: Hashable, Sendable {
        case bytes([UInt8])
        case job
        case resultsURL
    }

    private var pieces: [Piece]

    /// `job`: the id of the job that was captured.
    init(_ data: [UInt8], job: String?) {
        var pieces: [Piece] = []
        if let object = JSONObjectText(data), object.text("resultsUrl") != nil,
            let value = object.value("resultsUrl")
        {
            pieces = Self.split(Array(data[..<value.startIndex]), job)
            pieces.append(.resultsURL)
            pieces += Self.split(Array(data[value.endIndex...]), job)
        } else {
            pieces = Self.split(data, job)
        }
        self.pieces = pieces
    }

    private static func split(_ data: [UInt8], _ job: String?) -> [Piece] {
        guard let job, !job.isEmpty else { return [.bytes(data)] }
        let id = Array(job.utf8)
        var pieces: [Piece] = []
        var rest = data[...]
        while let range = rest.firstRange(of: id) {
            pieces += [.bytes(Array(rest[..<range.lowerBound])), .job]
            rest = rest[range.upperBound...]
        }
        return pieces + [.bytes(Array(rest))]
    }

    /// The data for a job. `resultsURL` is not JSON yet.
    func bytes(job: String, resultsURL: String) -> [UInt8] {
        self.pieces.reduce(into: []) { bytes, piece in
            switch piece {
            case .bytes(let some): bytes += some
            case .job: bytes += Array(job.utf8)
            case .resultsURL: bytes += JSON.string(resultsURL)
            }
        }
    }
}
