import Backend
import Faults
import JSON
import Observations
import OriginServer
import SimBase
import SimTestSupport
import Talaria
import Testing
import Wire

/// Faults that change what is written to one stream.
@Suite struct StreamFaultTests {
    private struct Run {
        var bench = Bench()
        var job: Bench.Job
        var plain, faulty: ExchangeID

        /// Two streams of one job from its start, one of them with faults, up to the end of the job.
        init(
            _ faults: [ArmedFault], to end: Interval = .seconds(10),
            _ change: (inout BackendConfiguration) -> Void = { _ in }
        ) {
            self.bench = Bench(change)
            self.job = self.bench.job()
            self.plain = self.bench.stream(self.job).exchange
            self.faulty = self.bench.stream(self.job, attempt: 2, faults: faults).exchange
            self.bench.run(to: .zero + end)
        }

        var firings: [FaultObservation] { self.bench.effects.faultSightings }
        var good: [SSEEvent] { self.bench.read(self.plain) }
        var bad: [SSEEvent] { self.bench.read(self.faulty) }
    }

    private static let firing = FaultObservation.fired(fault: 2, .stream, attempt: 2)

    // MARK: Events that are none

    @Test func `an event that no contract knows comes before the next one, with an id to resume behind`()
        throws
    {
        var run = Run([.armed(.unknownEvent(nil), .afterEvents(2))])
        let extra = run.bad[3]
        #expect(extra.type == "telemetry" && EventKind(eventName: extra.type) == nil)
        #expect(extra.id == "1769947207260-telemetry")
        #expect(
            extra.data
                == "{\"jobId\":\"\(run.job.id)\",\"timestamp\":\"2026-02-01T12:00:07.260Z\",\"type\":\"telemetry\"}"
        )
        #expect(run.bad[4].id == "1769947207261-progress")
        #expect(run.bad.filter { $0 != extra }.map(\.data) == run.good.map(\.data))
        #expect(run.bench.marks(run.faulty).filter { $0 == .extra }.count == 1)
        #expect(run.firings == [Self.firing])
        // What was seen is positions 0 to 2 and the extra one.
        let resumed = run.bench.opening(run.job, after: extra.id)
        #expect(resumed == [-4, -5, -6, -7])
    }

    @Test(arguments: UnknownEvent.allCases)
    func `it has the name of an event of another version where the fault names one`(event: UnknownEvent) {
        let run = Run([.armed(.unknownEvent(event), .afterEvents(2))])
        #expect(run.bad[3].type == event.rawValue && run.bad[3].id == "1769947207260-\(event.rawValue)")
        #expect(run.bad[3].data.hasSuffix("\"type\":\"\(event.rawValue)\"}"))
    }

    @Test func `the data of each event come in two lines, and are the same`() {
        let run = Run([.armed(.eventShape(.splitData))])
        #expect(run.bad.map(\.id) == run.good.map(\.id))
        #expect(run.bad.allSatisfy { $0.data.split(separator: "\n").count == 2 })
        #expect(run.bad.map { $0.data.replacing("\n", with: "") } == run.good.map(\.data))
        for event in run.bad {
            if case .malformed = JobEvent(name: event.type, data: event.data) { Issue.record("\(event)") }
        }
    }

    @Test(arguments: [
        (#"{"a":1,"b":2}"#, #"{"a":1,|"b":2}"#), (#"{"a,\\":",","b":[1,2]}"#, #"{"a,\\":",",|"b":[1,2]}"#),
        (#"{"a\",":"x"}"#, #"{|"a\",":"x"}"#), ("{}", "{|}"), ("7", "7"),
    ])
    func `a line break comes where JSON allows one`(data: String, split: String) {
        let bytes = EventDistortion.split(Array(data.utf8))
        #expect(String(decoding: bytes, as: UTF8.self) == split.replacing("|", with: "\n"))
    }

    @Test func `at once it comes before the first event, and to resume behind it is to begin`() {
        var run = Run([.armed(.unknownEvent(nil))], to: .seconds(1))
        #expect(run.bad.map(\.type) == ["telemetry", "progress", "progress"])
        let extra = run.bad[0].id
        #expect(run.bench.opening(run.job, after: extra) == [-1, -2])
    }

    @Test func `an event more has data that are no JSON`() {
        let run = Run([.armed(.badJSON(.extra), .afterEvents(1))])
        #expect(run.bad.count == run.good.count + 1)
        #expect(run.bad[2].type == "progress")
        #expect(run.bad[2].id == "1769947206000-progress")
        #expect(JobEvent(name: run.bad[2].type, data: run.bad[2].data) == .malformed(.progress))
        #expect(run.firings == [Self.firing])
    }

    @Test func `one event has data that are no JSON under its own id`() {
        for (target, index) in [(BadJSONTarget.progress, 2), (.completed, 6)] {
            let run = Run([.armed(.badJSON(target), .afterEvents(1))])
            #expect(run.bad.count == run.good.count)
            let kind: EventKind = target == .completed ? .completed : .progress
            let bad = run.bad[index]
            #expect(JobEvent(name: bad.type, data: bad.data) == .malformed(kind))
            #expect(bad.data == "{\"jobId\":\"\(run.job.id)\",\"type\":\"\(kind.rawValue)\",")
            #expect(bad.id == run.good[index].id)
            for other in run.bad.indices where other != index {
                #expect(run.bad[other].data == run.good[other].data)
            }
            #expect(run.firings == [Self.firing])
        }
    }

    @Test func `what is no JSON is not stripped as well`() {
        let run = Run([.armed(.stripBooks(.null), fault: 1), .armed(.badJSON(.completed), fault: 0)])
        #expect(run.bad.last?.data.hasSuffix(",") == true)
        #expect(run.firings == [.fired(fault: 0, .stream, attempt: 2)])
    }

    @Test func `progress comes without its text as long as the stream lives`() {
        let run = Run([.armed(.eventShape(.noMessage), .afterEvents(1))])
        #expect(run.bad.count == run.good.count)
        for (index, (bad, good)) in zip(run.bad, run.good).enumerated() {
            guard (2..<6).contains(index) else {
                #expect(bad.data == good.data)
                continue
            }
            guard var expected = JSON.decode(ProgressData.self, from: good.data) else {
                Issue.record("no progress: \(good)")
                continue
            }
            #expect(expected.message != nil)
            expected.message = nil
            #expect(bad.data == String(decoding: JSON.encodeByEncoder(expected), as: UTF8.self))
            #expect(bad.id == good.id)
        }
        #expect(run.firings == [Self.firing])
    }

    // MARK: Ends

    @Test func `a second terminal event follows the first, without books`() throws {
        var run = Run([.armed(.twoTerminals)])
        let ends = run.bad.suffix(2)
        #expect(run.bad.count == run.good.count + 1)
        #expect(ends.map(\.id) == ["1769947210000-completed", "1769947210001-completed"])
        #expect(ends.map(\.type) == ["completed", "completed"])
        #expect(ends.first?.data == run.good.last?.data)
        let second = try #require(JSON.decode(CompletedReading.self, from: ends.last?.data ?? ""))
        #expect(second.inline == .absent)
        #expect(second.resultsUrl == "/v3/jobs/scans/\(run.job.id)/results")
        #expect(run.bench.positions(run.faulty).suffix(2) == [6, 7])
        #expect(run.bench.hasEnded(run.faulty))
        #expect(run.firings == [Self.firing])
        #expect(
            run.bench.effects.backendSightings.contains(
                .eventWritten(
                    job: run.job.id, id: "1769947210001-completed", position: 7, kind: .completed,
                    replayed: false)))
        // The job itself has one end, which is all that a late comer hears, whatever it has seen.
        #expect(run.bench.opening(run.job) == [-7])
        #expect(run.bench.opening(run.job, after: "1769947210001-completed") == [-7])
        // And on a stream that comes to the finished job.
        let late = run.bench.stream(run.job, attempt: 3, faults: [.armed(.twoTerminals)]).exchange
        #expect(run.bench.positions(late) == [-7, 7])
    }

    @Test func `a job that failed fails twice`() {
        let run = Run([
            .armed(.finalError(code: "INVALID_FILE"), .afterEvents(1), fault: 0),
            .armed(.twoTerminals, fault: 1),
        ])
        let ends = run.bad.suffix(2)
        #expect(ends.map(\.type) == ["error", "error"])
        #expect(ends.first?.data == ends.last?.data)
        #expect(ends.first?.id != ends.last?.id)
        #expect(
            run.firings == [
                .fired(fault: 0, .stream, attempt: 2), .fired(fault: 1, .stream, attempt: 2),
            ])
    }

    @Test func `a stream ends where its terminal event would be, which comes to the next`() {
        var run = Run([.armed(.endWithoutTerminal)])
        #expect(run.bad == run.good.dropLast())
        #expect(run.bench.hasEnded(run.faulty))
        #expect(run.firings == [Self.firing])
        #expect(run.bench.opening(run.job, after: run.bad.last?.id) == [-7])
        // Also when the stream comes late.
        let late = run.bench.stream(run.job, attempt: 3, faults: [.armed(.endWithoutTerminal)]).exchange
        #expect(run.bench.positions(late) == [])
        #expect(run.bench.hasEnded(late))
    }

    // MARK: Pings

    @Test func `each ping is late by so much more`() {
        let run = Run([.armed(.latePing(by: .milliseconds(300)))], to: .seconds(3)) { $0.ping = .seconds(1) }
        let plain = Self.pings(run, run.plain)
        let late = Self.pings(run, run.faulty)
        #expect(plain == [1_000, 2_000, 3_000])
        #expect(late == [1_300, 2_600])
        #expect(run.firings == [Self.firing])
        let firedAt = run.bench.effects.compactMap { effect -> Instant? in
            guard case .observe(let observation) = effect, case .fault = observation.what else { return nil }
            return observation.at
        }
        #expect(firedAt == [.zero + .seconds(1)])
    }

    @Test func `pings stop from the trigger on`() {
        let run = Run([.armed(.noPing, .afterTime(.milliseconds(1_500)))], to: .seconds(4)) {
            $0.ping = .seconds(1)
        }
        let plain = Self.pings(run, run.plain)
        let none = Self.pings(run, run.faulty)
        #expect(plain == [1_000, 2_000, 3_000, 4_000])
        #expect(none == [1_000])
        #expect(run.firings == [Self.firing])
    }

    /// When pings were written to a stream, in milliseconds.
    private static func pings(_ run: Run, _ exchange: ExchangeID) -> [Int64] {
        var now = Instant.zero
        var pings: [Int64] = []
        for effect in run.bench.effects {
            switch effect {
            case .observe(let observation): now = observation.at
            case .stream(exchange, _, .ping): pings.append((now - .zero).wholeMilliseconds)
            default: break
            }
        }
        return pings
    }

    // MARK: Resuming

    @Test func `a stream starts over whatever the phone has seen`() {
        var bench = Bench()
        let job = bench.job()
        let first = bench.stream(job).exchange
        bench.run(seconds: 7)
        let last = bench.read(first).last?.id
        let faults = [ArmedFault.armed(.ignoreLastEventID)]
        let (again, effects) = bench.stream(job, after: last, attempt: 2, faults: faults)
        #expect(bench.positions(again) == [-1, -2, -3])
        #expect(
            effects.payloads.prefix(4) == [
                .backend(.requested(.stream, attempt: 2, connection: 1)),
                .backend(.answered(.stream, attempt: 2, status: 200)),
                .fault(.fired(fault: 2, .stream, attempt: 2)),
                .backend(.streamOpened(job: job.id, attempt: 2, after: nil)),
            ])
        #expect(
            effects.contains(.stream(again, bytes: Array(": connection established\n\n".utf8), .preamble)))
        // There is nothing to ignore without an id.
        let fresh = bench.stream(job, attempt: 3, faults: faults).effects
        #expect(fresh.faultSightings == [])
    }
}
