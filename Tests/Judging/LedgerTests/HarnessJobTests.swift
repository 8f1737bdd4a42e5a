import Observations
import SimBase
import Talaria
import Testing

@testable import Ledger

/// A job is served as it was made, to whom has its token, and until it is gone.
@Suite struct HarnessJobTests {
    private static func effectless(_ operation: Talaria.Operation = .stream) -> String {
        "fault 1 of the list fired (\(operation.name), attempt 1) without effect"
    }

    private static func unexplained(_ what: String) -> String {
        "\(what), but neither a fault nor anything else explains it"
    }

    // MARK: Tokens

    /// A job whose token is looked at when it is so old.
    private static func late(_ age: Interval, _ status: Int, _ operation: Talaria.Operation = .stream)
        -> HarnessStory
    {
        HarnessStory {
            $0.upload()
            let accepted = $0.now - .milliseconds(1)
            $0.pass(age - .milliseconds(2) - ($0.now - accepted))
            $0.exchange(operation, status)
        }
    }

    @Test func `a token is good until it expires, and not a moment longer`() {
        let lifetime = HarnessStory.server.tokenLifetime
        #expect(Self.late(lifetime, 401).errors() == [])
        #expect(Self.late(lifetime - .milliseconds(1), 200).errors() == [])
        #expect(
            Self.late(lifetime, 200).errors() == ["stream was accepted with a token that had expired"])
        #expect(
            Self.late(lifetime - .milliseconds(1), 401).errors()
                == [Self.unexplained("stream was answered with 401")])
        #expect(
            Self.late(lifetime, 204, .cleanup).errors() == [
                "cleanup was accepted with a token that had expired"
            ])
    }

    /// A job whose token is exchanged after nine of its ten minutes, and whose stream is requested so long after that.
    private static func exchanged(_ pause: Interval, _ status: Int, isReceived: Bool = true) -> [String] {
        HarnessStory {
            $0.upload()
            $0.pass(.minutes(9))
            $0.ask(.refresh)
            $0.backend(.tokenExchanged(job: $0.job), .answered(.refresh, attempt: 1, status: 200))
            let exchanged = $0.now
            if isReceived {
                $0.get(.refresh, 200)
                $0.phone(.tokenExchanged(job: $0.job, took: .milliseconds(2)))
            }
            $0.pass(pause - .milliseconds(2) - ($0.now - exchanged))
            $0.exchange(.stream, status)
        }.errors()
    }

    @Test func `a new token is good for a lifetime of its own, and one that was lost saves no phone`() {
        let lifetime = HarnessStory.server.tokenLifetime
        #expect(Self.exchanged(lifetime - .milliseconds(1), 200) == [])
        #expect(Self.exchanged(lifetime, 401) == [])
        #expect(Self.exchanged(lifetime, 200) == ["stream was accepted with a token that had expired"])
        #expect(
            Self.exchanged(lifetime - .milliseconds(1), 401) == [
                Self.unexplained("stream was answered with 401")
            ])
        #expect(Self.exchanged(.seconds(50), 200, isReceived: false) == [])
        #expect(Self.exchanged(.seconds(70), 401, isReceived: false) == [])
        #expect(
            Self.exchanged(.seconds(50), 401, isReceived: false) == [
                Self.unexplained("stream was answered with 401")
            ])
    }

    @Test func `a request on its way when the token is exchanged has shown the old one`() {
        func errors(after pause: Interval) -> [String] {
            HarnessStory {
                $0.upload()
                $0.pass(.minutes(9))
                $0.pass()
                $0.phone(.requestSent(.stream, attempt: 1, job: $0.job, lastEventID: nil))
                $0.exchange(.refresh, 200, seen: .tokenExchanged(job: $0.job))
                $0.phone(.tokenExchanged(job: $0.job, took: .milliseconds(2)))
                $0.pass(pause)
                $0.backend(.requested(.stream, attempt: 1, connection: 1))
                $0.backend(.answered(.stream, attempt: 1, status: 401))
                $0.get(.stream, 401)
            }.errors()
        }
        #expect(errors(after: .seconds(70)) == [])
        #expect(errors(after: .seconds(50)) == [Self.unexplained("stream was answered with 401")])
    }

    @Test func `a WebSocket can be joined again for 60 s, a stream while its token is good`() {
        func errors(_ transport: StreamTransport, after pause: Interval) -> [String] {
            HarnessStory {
                $0.upload()
                $0.phone(.jobFollowed(job: $0.job, by: transport))
                $0.open()
                $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: true))
                $0.phone(.streamLost(job: $0.job, attempt: 1, .silence, silence: nil))
                $0.pass(pause - .milliseconds(2))
                $0.exchange(.stream, attempt: 2, 401)
            }.errors()
        }
        let minute = Interval.seconds(60)
        #expect(errors(.websocket, after: minute + .milliseconds(1)) == [])
        #expect(errors(.websocket, after: minute) == [Self.unexplained("stream was answered with 401")])
        #expect(errors(.sse, after: .minutes(2)) == [Self.unexplained("stream was answered with 401")])
    }

    @Test func `a token that was revoked is good no more`() {
        func story(_ status: Int) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.pass()
                $0.backend(
                    .tokenRevoked(job: $0.job), .streamEnded(job: $0.job, attempt: 1, byPeer: false))
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
                $0.pass()
                $0.phone(.streamLost(job: $0.job, attempt: 1, .endWithoutTerminal, silence: nil))
                $0.exchange(.stream, attempt: 2, status)
            }
        }
        #expect(story(401).errors([.tokenRevoked]) == [])
        #expect(
            story(200).errors([.tokenRevoked]) == ["stream was accepted with a token that was revoked"])
    }

    // MARK: Faults

    @Test(arguments: [
        (FaultEffect.tokenRevoked, BackendObservation.tokenRevoked(job: "job-1"), "a token was revoked"),
        (.jobGone(status: 410), .vanished(job: "job-1"), "a job vanished"),
        (.jobFailed, .finished(job: "job-1", kind: .error, books: 0), "a job failed"),
        (
            .degraded,
            .eventWritten(job: "job-1", id: "102-x", position: 2, kind: .enrichmentDegraded, replayed: false),
            "a book was degraded"
        ),
    ])
    func `what happens to a job by a fault has its fault`(
        fault: FaultEffect, effect: BackendObservation, text: String
    ) {
        func story(effect: BackendObservation?, isFired: Bool) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.pass()
                if let effect { $0.backend(effect) }
                if isFired { $0.fault(.fired(fault: 0, .stream, attempt: 1)) }
            }
        }
        #expect(story(effect: effect, isFired: true).errors([fault]) == [])
        #expect(story(effect: effect, isFired: false).errors([fault]) == [Self.unexplained(text)])
        #expect(story(effect: nil, isFired: true).errors([fault]) == [Self.effectless()])
    }

    @Test func `an effect of another instant is not the fault's`() {
        let story = HarnessStory {
            $0.begin()
            $0.pass()
            $0.backend(.tokenRevoked(job: $0.job))
            $0.pass()
            $0.fault(.fired(fault: 0, .stream, attempt: 1))
        }
        #expect(
            story.errors([.tokenRevoked]) == [Self.unexplained("a token was revoked"), Self.effectless()])
    }

    @Test func `a job that was canceled fails without a fault`() {
        let story = HarnessStory {
            $0.begin()
            $0.pass()
            $0.backend(.canceled(job: $0.job), .finished(job: $0.job, kind: .error, books: 0))
        }
        #expect(story.errors() == [])
    }

    @Test(arguments: [404, 410])
    func `a job that is there is not said to be gone`(status: Int) {
        func story(isGone: Bool) -> HarnessStory {
            HarnessStory {
                $0.upload()
                if isGone {
                    $0.pass(.minutes(10))
                    $0.backend(.expired(job: $0.job))
                }
                $0.exchange(.stream, status)
            }
        }
        #expect(story(isGone: true).errors() == [])
        #expect(story(isGone: false).errors() == [Self.unexplained("stream was answered with \(status)")])
    }

    @Test func `a job that a fault makes slow does not end before`() {
        func story(_ time: Interval) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.pass()
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
                $0.pass(time - .milliseconds(1))
                $0.end(2)
            }
        }
        #expect(story(.seconds(2)).errors([.slowed(by: .seconds(2))]) == [])
        #expect(
            story(.milliseconds(1_999)).errors([.slowed(by: .seconds(2))])
                == ["a fault slowed a job down, but it ended 1000000 ns early"])
    }

    @Test func `a stream that a fault silences has no ping, and a late one has it late`() {
        func story(_ time: Interval, attempt: UInt32 = 1) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.pass()
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
                if attempt > 1 {
                    $0.pass()
                    $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: true))
                    $0.open(attempt: attempt, after: 1)
                }
                $0.pass(time)
                $0.backend(.pingWritten(job: $0.job))
            }
        }
        #expect(
            story(.seconds(9)).errors([.noPings])
                == ["a ping was written to a stream for which a fault had disabled pings"])
        #expect(story(.seconds(9), attempt: 2).errors([.noPings]) == [])
        #expect(story(.seconds(1)).errors([.latePings(by: .seconds(1))]) == [])
        #expect(
            story(.milliseconds(999)).errors([.latePings(by: .seconds(1))])
                == ["a ping that a fault had delayed was on time"])
    }

    // MARK: Books and ends

    @Test func `a job has as many books in the end as in the beginning`() {
        let ends = HarnessStory {
            $0.begin()
            $0.end(2, books: 4)
        }
        #expect(ends.errors() == ["a job with 3 books ended with 4"])
        let served = HarnessStory {
            $0.begin()
            $0.end(2)
            $0.results(served: 2)
        }
        #expect(
            served.errors() == ["2 books were served for a job with 3", "2 books arrived from a job with 3"])
        let decoded = HarnessStory {
            $0.begin()
            $0.end(2)
            $0.results(decoded: 2)
        }
        #expect(decoded.errors() == ["2 books arrived from a job with 3"])
    }

    @Test func `results are served while a job has them`() {
        func story(ends: Bool, after time: Interval) -> HarnessStory {
            HarnessStory {
                $0.begin()
                if ends { $0.end(2) }
                $0.pass(time)
                $0.results()
            }
        }
        #expect(story(ends: true, after: .minutes(4)).errors() == [])
        #expect(
            story(ends: true, after: .minutes(5)).errors() == [
                "results were served that the job does not have"
            ]
        )
        #expect(
            story(ends: false, after: .zero).errors() == ["results were served that the job does not have"])
    }

    @Test func `a job ends once, and as its phone is told`() {
        let twice = HarnessStory {
            $0.begin()
            $0.end(2)
            $0.pass()
            $0.backend(.finished(job: $0.job, kind: .completed, books: 3))
        }
        #expect(twice.errors() == ["a job ended twice"])
        let early = HarnessStory {
            $0.begin()
            $0.apply()
        }
        #expect(early.errors() == ["a phone applied completed, but the job continues"])
        let other = HarnessStory {
            $0.begin()
            $0.end(2)
            $0.apply(.error)
        }
        #expect(other.errors() == ["a phone applied error, but the job ended with completed"])
    }

    @Test func `a job is deleted once, and expires in its time`() {
        let twice = HarnessStory {
            $0.journey()
            $0.backend(.cleaned(job: $0.job, effective: true))
        }
        #expect(twice.errors() == ["a job that does not exist was deleted"])
        let spared = HarnessStory {
            $0.upload()
            $0.backend(.cleaned(job: $0.job, effective: false))
        }
        #expect(spared.errors() == ["a DELETE had no effect on an existing job"])
        let early = HarnessStory {
            $0.upload()
            $0.backend(.expired(job: $0.job))
        }
        #expect(early.errors() == ["a job expired before its time"])
    }

    // MARK: Events

    @Test func `events follow one another, and their ids grow`() {
        func story(_ positions: [Int], ids: [Int?] = [nil, nil, nil, nil]) -> HarnessStory {
            HarnessStory {
                $0.upload()
                $0.open()
                for (position, id) in zip(positions, ids) {
                    $0.pass()
                    $0.write(position, id: id)
                }
            }
        }
        #expect(story([0, 1, 2]).errors() == [])
        #expect(story([4, 5]).errors() == [])  // What was written before the stream was open.
        #expect(story([0, 2, 3]).errors() == ["event 2 of a job was written instead of event 1"])
        #expect(
            story([0, 1, 1]).errors() == [
                "event 1 of a job was written instead of event 2", "an event id does not increase",
            ])
        #expect(story([0, 1], ids: [50, 50]).errors() == ["an event id does not increase"])
        #expect(story([0, 1], ids: [50, 49]).errors() == ["an event id does not increase"])
    }

    @Test func `a stream goes on where it resumes`() {
        func story(after: Int?, replayed: [Int], then live: Int, by fault: FaultEffect = .unobserved)
            -> [String]
        {
            HarnessStory {
                $0.begin()
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
                $0.pass()
                $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: true))
                $0.open(attempt: 2, after: after)
                for position in replayed { $0.write(position, replayed: true) }
                $0.pass()
                $0.write(live)
            }.errors([fault])
        }
        #expect(story(after: 1, replayed: [2, 3], then: 4) == [])
        #expect(story(after: 1, replayed: [], then: 2) == [])
        #expect(story(after: nil, replayed: [1], then: 2) == [])
        #expect(story(after: 1, replayed: [3, 4], then: 5) == [])  // The buffer has lost event 2.
        #expect(story(after: 1, replayed: [], then: 3).count == 1)
        #expect(story(after: 1, replayed: [2, 4], then: 5).count == 1)
        #expect(story(after: 1, replayed: [1, 2], then: 3).count == 1)
        #expect(story(after: 1, replayed: [], then: 3, by: .eventsForgotten) == [])
    }

    /// A stream of a job that is resumed behind event 1, so long after the 202.
    private static func resumed(
        with replayed: [Int], _ kind: EventKind = .progress, after time: Interval = .seconds(1),
        besides isOpen: Bool = false, by fault: FaultEffect = .unobserved, isPolled: Bool = false
    ) -> [String] {
        var server = HarnessStory.server
        server.replayTime = .seconds(60)
        server.v2IsPolled = isPolled
        return HarnessStory {
            if isPolled { $0.job = "scan_1" }
            $0.begin()
            $0.fault(.fired(fault: 0, .stream, attempt: 1))
            $0.pass(time)
            if !isOpen { $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: true)) }
            $0.open(attempt: 2, after: 1)
            for position in replayed { $0.write(position, kind, replayed: true) }
        }.errors([fault], server: .simulated(server))
    }

    @Test(arguments: [false, true])
    func `a stream is resumed with the next event, as long as the log has it`(isPolled: Bool) {
        let late = ["a stream was resumed with event 3 of a job, but event 2 was due"]
        #expect(Self.resumed(with: [2, 3], isPolled: isPolled) == [])
        #expect(Self.resumed(with: [3, 4], isPolled: isPolled) == late)
        #expect(Self.resumed(with: [3, 4], besides: true, isPolled: isPolled) == late)
        #expect(Self.resumed(with: [3], .completed, isPolled: isPolled) == late)
        #expect(Self.resumed(with: [3, 4], after: .seconds(61), isPolled: isPolled) == [])
    }

    @Test func `a log that a fault has emptied has the terminal event only`() {
        #expect(Self.resumed(with: [3], .completed, by: .eventsForgotten) == [])
        #expect(
            Self.resumed(with: [2], by: .eventsForgotten) == [
                "event 2 of a job was replayed, but a fault had emptied its log"
            ])
    }

    @Test func `a stream of a job that has ended ends behind its terminal event`() {
        func errors(_ fault: FaultEffect? = nil, job: String = "job-1", _ end: (inout HarnessStory) -> Void)
            -> [String]
        {
            HarnessStory {
                $0.job = job
                $0.begin()
                $0.pass()
                $0.backend(.finished(job: $0.job, kind: .completed, books: 3))
                end(&$0)
                $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: false))
                if fault != nil { $0.fault(.fired(fault: 0, .stream, attempt: 1)) }
            }.errors(fault.map { [$0] } ?? [])
        }
        let omitted = [Self.unexplained("the backend ended a stream without the terminal event of its job")]
        #expect(errors { $0.write(2, .completed) } == [])
        #expect(errors { _ in } == omitted)
        #expect(errors { $0.write(2) } == omitted)
        #expect(errors(.noTerminal) { _ in } == [])
        #expect(errors { $0.backend(.cleaned(job: $0.job, effective: true)) } == [])
        #expect(errors(job: "scan_1") { $0.pass(APIVersion.v2.streamLifetime!) } == [])
        // One for each stream, whatever an earlier one has left.
        #expect(
            errors {
                $0.write(2, .completed)
                $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: true))
                $0.open(attempt: 2, after: 1)
            } == omitted)
    }

    @Test func `an event that a fault made unreadable is not read`() {
        func errors(_ seen: [PhoneObservation], inline: InlineBooksForm = .books, isFired: Bool = true)
            -> [String]
        {
            HarnessStory { story in
                story.begin()
                if isFired { story.fault(.fired(fault: 0, .stream, attempt: 1)) }
                story.pass()
                seen.forEach { story.phone($0) }
                story.end(2)
                story.apply(inline: inline)
            }.errors([.eventGarbled])
        }
        let ignored = PhoneObservation.eventIgnored(job: "job-1", id: nil, name: "progress", malformed: true)
        #expect(errors([ignored]) == [])
        #expect(errors([], inline: .undecodable) == [])
        #expect(errors([], isFired: false) == [])
        #expect(errors([]) == ["a fault made an event of a stream unreadable, but all of them were read"])
    }

    @Test func `of several streams of one job nothing is known but that they are written`() {
        let story = HarnessStory {
            $0.begin()
            $0.open(attempt: 2, after: 1)
            $0.pass()
            $0.write(2)
            $0.write(2)
            $0.pass()
            $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: true))
            $0.write(3)
            $0.pass()
            $0.write(4)
        }
        #expect(story.errors() == [])
    }

    @Test func `of a large fleet the events of every eighth phone are followed`() {
        func errors(device: UInt32, phones: Int) -> Int {
            HarnessStory {
                $0.device = DeviceNumber(device)
                $0.begin()
                $0.pass()
                $0.write(3)
            }.errors(phones: phones).count
        }
        #expect(errors(device: 1, phones: 64) == 1)
        #expect(errors(device: 1, phones: 65) == 0)
        #expect(errors(device: 8, phones: 65) == 1)
    }
}
