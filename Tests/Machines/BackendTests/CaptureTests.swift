import JSON
import OriginServer
import SimBase
import Talaria
import Testing

@testable import Backend

/// A captured stream, and the jobs that have its events.
@Suite struct CaptureTests {
    private static let job = "captured-job-1"
    private static let books =
        #"[{"title":"Emma","author":"Jane Austen"},{"title":"Ilias","author":"Ὅμηρος","isbn":null,"confidence":0.5}]"#

    private static func event(_ id: String, _ name: String, _ data: String) -> String {
        "id: \(id)\nevent: \(name)\ndata: \(data)\n\n"
    }

    private static let progress = #"{"jobId":"captured-job-1","message":"one"}"#
    private static let result = #"{"jobId":"captured-job-1","path":"/x/captured-job-1/y","book":{}}"#
    private static let completed = #"{"jobId":"captured-job-1","books":\#(Self.books),"more":1}"#
    private static let final = #"{"jobId":"captured-job-1","resultsUrl":"https://a.example/captured-job-1"}"#

    /// A stream whose ids give the times, 2 s in all, with a second terminal event 500 ms later.
    private static let text =
        ": connection established\n\nretry: 5000\n\n"
        + Self.event("1000-initial", "progress", Self.progress)
        + ": t 17\nevent: ping\ndata: {}\n\n"
        + Self.event("900-progress", "progress", Self.progress)
        + Self.event("2000-result", "result", Self.result)
        + Self.event("2000-result", "result", Self.result)
        + Self.event("3000-completed", "completed", Self.completed)
        + Self.event("3500-final", "completed", Self.final)

    private static func capture(_ text: String = Self.text) throws(Capture.Mistake) -> Capture {
        try Capture(name: "a.sse", text: text)
    }

    private static func mistake(_ text: String) -> Capture.Mistake? {
        do throws(Capture.Mistake) {
            _ = try Self.capture(text)
            return nil
        } catch { return error }
    }

    private static func bench(_ text: String = Self.text) throws -> Bench {
        let backend = BackendConfiguration.replaying(try Self.capture(text))
        return Bench { configuration in
            configuration = backend
            configuration.wallClockAtZero = Bench.wallClockAtZero
        }
    }

    private static func text(_ effects: [OriginEffect], on exchange: ExchangeID) -> String {
        let pieces = effects.map { effect -> [UInt8] in
            if case .stream(exchange, let bytes, _) = effect { bytes } else { [] }
        }
        return String(decoding: pieces.joined(), as: UTF8.self)
    }

    // MARK: Reading

    @Test func `ids give the times, and an id that goes back waits for none`() throws {
        let capture = try Self.capture()
        #expect(capture.events.map(\.offset) == [0, 0, 1_000, 1_000])
        #expect(capture.events.map(\.milliseconds) == [1_000, 900, 2_000, 2_000])
        #expect(capture.completed.offset == 2_000)
        #expect(capture.again?.offset == 2_500)
        #expect(capture.jobTime == .seconds(2))
        #expect(capture.retry == .seconds(5))
        #expect(capture.books.map(\.title) == ["Emma", "Ilias"])
    }

    @Test func `comments give the times where every event has one`() throws {
        let events = [
            ": at 100ms\n" + Self.event("7-progress", "progress", Self.progress),
            ": at 350ms\n" + Self.event("8-completed", "complete", Self.completed),
        ]
        let capture = try Self.capture(events.joined())
        #expect(capture.events.map(\.offset) == [0])
        #expect(capture.completed.offset == 250)
        let missing = Self.mistake(events[0] + Self.event("8-completed", "complete", Self.completed))
        #expect(missing?.line == 6)
        #expect(missing?.message == "an event without a time among events with `: at`")
        #expect(
            Self.mistake(events[1] + events[0])?.message == "an invalid time in a comment", "it decreases")
    }

    @Test(arguments: ["\n", "\r\n", "\r"]) func `the line ends do not matter`(end: String) throws {
        let other = try Self.capture(Self.text.replacing("\n", with: end))
        let capture = try Self.capture()
        #expect(other.events == capture.events)
        #expect(other.completed == capture.completed && other.again == capture.again)
        #expect(other.books == capture.books)
    }

    /// Wherever the capture was broken off, it is a whole job or a mistake with a line of the text.
    @Test func `a capture that was broken off anywhere is a job or a mistake`() throws {
        let bytes = Array(Self.text.utf8)
        let whole = try Self.capture()
        var ends: Set<Int> = []
        for count in bytes.indices {
            guard let text = String(validating: bytes[..<count], as: UTF8.self) else { continue }
            do throws(Capture.Mistake) {
                let capture = try Self.capture(text)
                #expect(capture.events == whole.events && capture.completed == whole.completed)
                ends.insert(capture.again == nil ? 1 : 2)
            } catch {
                #expect(
                    (1...text.split(separator: "\n", omittingEmptySubsequences: false).count).contains(
                        error.line))
            }
        }
        // The second terminal event needs the last byte, which is its blank line.
        #expect(ends == [1])
    }

    @Test(arguments: [
        ("", 1, "this is no event stream of a job: it has no complete event"),
        ("hello\n\n", 1, "this is no event stream of a job: it has no complete event"),
        ("{\"recording\":1}\n", 1, "this is JSON and no event stream"),
        (Self.event("1-progress", "progress", Self.progress), 4, "the stream has no `completed` event"),
        (
            Self.event("1-a", "progress", Self.progress) + Self.event("x", "completed", Self.completed), 5,
            "an event without an id of the form `1770112148771-progress`"
        ),
        ("event: completed\ndata: {}\n\n", 1, "an event without an id of the form `1770112148771-progress`"),
        (
            Self.event("01-a", "completed", Self.completed), 1,
            "the number of an id has leading zeros or a sign"
        ),
        (
            Self.event("1-a", "error", "{}"), 1,
            "the job has failed: only a stream that ends with `completed` can be replayed"
        ),
        (
            Self.event("1-a", "enrichment_degraded", "{}"), 1,
            "an event `enrichment_degraded` cannot be replayed"
        ),
        (Self.event("1-a", "completed", "{\ndata: }"), 1, "an event has its data in several lines"),
        (Self.event("1-a", "completed", Self.final), 1, "no `completed` event has `books`"),
        (
            Self.event("1-a", "completed", #"{"books":[{"title":null}]}"#), 1,
            "the books of the `completed` event cannot be read"
        ),
        (
            Self.event("1-a", "completed", Self.completed) + Self.event("2-a", "progress", Self.progress), 5,
            "an event follows the end of the job"
        ),
        (
            Self.event("1-a", "progress", #"{"jobId":"another-job"}"#)
                + Self.event("2-a", "completed", Self.completed), 5,
            "the event is of another job than the first"
        ),
        (Self.event("1-a", "completed", #"{"jobId":"7","books":[]}"#), 1, "a `jobId` of fewer than 8 bytes"),
        (
            Self.event("1-a", "progress", "{}") + Self.event("\(Int64.max)-a", "completed", Self.completed),
            5,
            "the event comes more than 24 h after the first"
        ),
    ]) func `a mistake has a line and a reason`(text: String, line: Int, message: String) {
        let mistake = Self.mistake(text)
        #expect(mistake?.line == line)
        #expect(mistake?.message == message)
    }

    // MARK: The backend

    @Test func `a job has the captured events at their times, with its own id`() throws {
        var bench = try Self.bench()
        let job = bench.job()
        let exchange = bench.stream(job).exchange
        func own(_ text: String) -> String { text.replacing(Self.job, with: job.id) }
        let start =
            Self.event("1000-initial", "progress", Self.progress)
            + Self.event("900-progress", "progress", Self.progress)
        #expect(
            Self.text(bench.effects, on: exchange) == ": connection established\nretry: 5000\n\n" + own(start)
        )
        let result = Self.event("2000-result", "result", Self.result)
        #expect(Self.text(bench.run(to: .zero + .milliseconds(999)), on: exchange).isEmpty)
        #expect(Self.text(bench.run(seconds: 1), on: exchange) == own(result + result))
        let completed = Self.event("3000-completed", "completed", Self.completed)
        #expect(Self.text(bench.run(to: .zero + .seconds(2)), on: exchange) == own(completed))
        let final = #"{"jobId":"\#(job.id)","resultsUrl":"/v3/jobs/scans/\#(job.id)/results"}"#
        #expect(
            Self.text(bench.run(seconds: 1), on: exchange) == Self.event("3500-final", "completed", final))
        #expect(bench.effects.contains(.endStream(exchange)))
    }

    @Test func `a stream resumes by the captured ids, as far as they allow`() throws {
        var bench = try Self.bench()
        let job = bench.job()
        bench.run(seconds: 10)
        func names(after id: String?) -> [String] {
            let (exchange, effects) = bench.stream(job, after: id)
            let lines = Self.text(effects, on: exchange).split(separator: "\n")
            return lines.filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
        }
        let all = [
            "1000-initial", "900-progress", "2000-result", "2000-result", "3000-completed", "3500-final",
        ]
        #expect(names(after: nil) == all)
        // If two events have one id, it is not known which one the client has.
        #expect(names(after: "2000-result") == Array(all[4...]))
        #expect(names(after: "3000-completed") == ["3500-final"])
        #expect(names(after: "3500-final") == ["3500-final"])
    }

    @Test func `the results are the books of the captured event`() throws {
        var bench = try Self.bench()
        let job = bench.job()
        #expect(bench.results(job).reply?.status == 404)
        bench.run(seconds: 2)
        let body = try #require(
            bench.results(job).reply.flatMap { JSON.decode(ResultsBody.self, from: $0.body) })
        #expect(body.data.results == (try Self.capture()).books)
        #expect(body.data.results == bench.shelf.books(device: DeviceNumber(4), scan: ScanNumber(1)))
    }

    @Test func `a longer job takes its time between the events`() throws {
        let backend = BackendConfiguration.replaying(try Self.capture())
        var bench = Bench { configuration in
            configuration = backend
            configuration.jobTime = .seconds(20)...(.seconds(20))
        }
        let job = bench.job()
        let exchange = bench.stream(job).exchange
        #expect(Self.text(bench.run(to: .zero + .milliseconds(9_999)), on: exchange).isEmpty)
        #expect(!Self.text(bench.run(to: .zero + .seconds(10)), on: exchange).isEmpty)
    }
}
