import EventLoop
import Foundation
import Ledger
import LivePhones
import Observations
import Phone
import SimBase
import SimTestSupport
import Talaria
import Testing

/// Everything that a server can answer. It has a name and is counted, it costs a bounded amount of memory, and no scan is
/// lost by it: once the server is good again, the scan is completed.
@Suite(.serialized) struct HostileServerTests {
    /// Phones that lose no time, so that many answers can be tried.
    private static func hasten(_ profile: inout ClientProfile, patience: Interval) {
        profile.backoff = BackoffPolicy(base: .milliseconds(2), cap: .milliseconds(20))
        profile.stream.connectTimeout = patience
        profile.stream.idleTimeout = patience
        profile.requestTimeout = patience
        profile.events.errorRetryDelay = .milliseconds(5)
    }

    /// A fleet of as many phones as there are hostile answers; each gets one, then a good server.
    private func run(_ answers: [HostileAnswer], _ path: String) throws -> FleetBench {
        let bench = try FleetBench(
            devices: answers.count, threads: 1, state: path, drain: .seconds(45),
            profile: { index, profile in
                // A test of a deadline should not wait long for it; no other test should reach one.
                let isAboutTime = answers[index].named.contains {
                    $0 == "failed timed-out" || $0 == "lost silence"
                }
                Self.hasten(&profile, patience: isAboutTime ? .milliseconds(800) : .seconds(20))
                // Results are asked for only where no books came with the event.
                profile.results.usesInlineBooks = answers[index].operation != .results
            },
            front: { loop, port in
                try HostileFront(loop: loop, upstream: port) { trace in
                    let answer = answers[Int(trace.device.raw)]
                    guard trace.operation == answer.operation, trace.attempt == 1 else { return nil }
                    return .instead(answer.acts)
                }
            })
        try bench.start()
        let outcome = try bench.finish(atMost: .seconds(60))
        #expect(outcome.failure == nil)
        #expect(bench.front?.replaced.count == answers.count, "every answer was given")
        return bench
    }

    private func check(_ answers: [HostileAnswer]) throws {
        let folder = TemporaryFolder()
        let before = ResourceUsage.own().residentMax
        let bench = try self.run(answers, folder.path)
        let after = ResourceUsage.own().residentMax
        let (merged, ledger) = try bench.judge()
        for (index, answer) in answers.enumerated() {
            let payloads = merged.compactMap { observation -> PhoneObservation? in
                guard observation.device.raw == UInt32(index), case .phone(let payload) = observation.what
                else {
                    return nil
                }
                return payload
            }
            let named = HostileAnswer.outcomes(of: answer.operation, in: payloads)
            #expect(named == answer.named, "\(answer.title)")
            let isCompleted = payloads.contains { if case .completed = $0 { true } else { false } }
            #expect(isCompleted, "\(answer.title)")
        }
        #expect(ledger.totals.scans.completed == answers.count)
        #expect(ledger.totals.scans.isConserved)
        let broken = ledger.verdicts.filter { $0.standing == .broken }
        #expect(broken.isEmpty, "\(broken)")
        #expect(after - before < 128 << 20, "bytes kept")
    }

    /// What a server sends faster than it is judged stays in its sockets.
    @Test func `a flood waits until what it brought is judged`() throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: 4, threads: 1, state: folder.path, drain: .seconds(45),
            front: { loop, port in
                try HostileFront(loop: loop, upstream: port) { trace in
                    guard trace.operation == .stream else { return nil }
                    return .instead([
                        .text("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
                        .repeatedly(Array("data\n\n".utf8), times: 60_000),
                    ])
                }
            })
        try bench.start()
        func count() -> Int { bench.reports.reduce(0) { $0 + $1.observations.count } }
        let isFlooded = bench.turn(until: { bench.front?.replaced.count == 4 && count() > 1_000 })
        #expect(isFlooded)
        // Nothing is judged for a while.
        CurrentThread.pause(milliseconds: 4_000)
        let before = count()
        bench.loop.runOnce()
        // One chunk more than may wait.
        #expect(count() - before < FleetLimits.backlogMost + 50_000, "observations that waited")
        let longest = bench.reports.map(\.observations.count).max() ?? 0
        #expect(longest < FleetLimits.handOverMost + 50_000, "observations of one turn")
        bench.stop()
        #expect(try bench.finish(atMost: .seconds(60)).failure == nil)
    }

    @Test func `what is no answer has a name, and the scan is completed`() throws {
        try self.check(HostileAnswer.broken)
    }

    @Test func `what is no stream has a name, and the scan is completed`() throws {
        try self.check(HostileAnswer.streams)
    }

    @Test func `what accepts no upload has a name, and the scan is completed`() throws {
        try self.check(HostileAnswer.uploads)
    }

    @Test func `what is no result has a name, and the scan is completed`() throws {
        try self.check(HostileAnswer.others)
    }

    /// More than any answer of the kind has, a stream also with the pings of a machine that is slow: every byte of every
    /// answer has its turn.
    private static let lengths: [(operation: Talaria.Operation, bytes: Int)] = [
        (.upload, 1_000), (.stream, 4_800), (.results, 2_600), (.cleanup, 300),
    ]
    /// So many at once: a cut takes six descriptors.
    private static let cutsAtOnceMax = 600

    @Test func `an answer that ends early at any byte is noticed and loses nothing`() throws {
        let step = Fuzz.isLong ? 1 : 13
        let cuts = Self.lengths.flatMap { length in
            (stride(from: 0, to: length.bytes, by: step) + [length.bytes]).map { (length.operation, $0) }
        }
        for start in stride(from: 0, to: cuts.count, by: Self.cutsAtOnceMax) {
            try self.check(cuts: Array(cuts[start..<min(start + Self.cutsAtOnceMax, cuts.count)]))
        }
    }

    /// Each phone's first answer of one kind ends after its own number of bytes.
    private func check(cuts: [(operation: Talaria.Operation, bytes: Int)]) throws {
        let folder = TemporaryFolder()
        let bench = try FleetBench(
            devices: cuts.count, threads: 1, state: folder.path, drain: .seconds(60),
            profile: { index, profile in
                Self.hasten(&profile, patience: .seconds(20))
                profile.results.usesInlineBooks = cuts[index].operation != .results
            },
            front: { loop, port in
                try HostileFront(loop: loop, upstream: port) { trace in
                    let cut = cuts[Int(trace.device.raw)]
                    return trace.operation == cut.operation && trace.attempt == 1
                        ? .cut(after: cut.bytes) : nil
                }
            })
        try bench.start()
        let outcome = try bench.finish(atMost: .seconds(120))
        #expect(outcome.failure == nil)
        let (merged, ledger) = try bench.judge()
        #expect(ledger.totals.scans.completed == cuts.count)
        let broken = ledger.verdicts.filter { $0.standing == .broken }
        #expect(broken.isEmpty, "\(broken)")

        var noticed: Set<DeviceNumber> = []
        for observation in merged {
            guard case .phone(let payload) = observation.what else { continue }
            let operation = cuts[Int(observation.device.raw)].operation
            if !HostileAnswer.outcomes(of: operation, in: [payload]).isEmpty {
                noticed.insert(observation.device)
            }
        }
        let front = try #require(bench.front)
        for (index, cut) in cuts.enumerated() {
            let device = DeviceNumber(UInt32(index))
            guard let sent = front.cuts[device]?.sent else {
                #expect(!noticed.contains(device), "\(cut): nothing was cut")
                continue
            }
            // What follows the last event does not matter.
            let last = String(decoding: sent, as: UTF8.self).split(separator: "event: completed\n")
                .dropFirst().last
            let isOver = cut.operation == .stream && last?.contains("\n\n") == true
            #expect(noticed.contains(device) != isOver, "\(cut) of \(sent.count)")
        }
        for (index, cut) in cuts.enumerated() where Self.lengths.contains(where: { $0 == cut }) {
            #expect(front.cuts[DeviceNumber(UInt32(index))] == nil, "\(cut.operation) is longer")
        }
    }
}
