import Observations
import SimBase
import Talaria
import Testing

@testable import Ledger

/// Whom faults may hit, how often and when, and what passes a stream that they touch.
@Suite struct HarnessRuleTests {
    private static let refuses = FaultEffect.status(503)

    @Test func `a fault fires for a scan as often as the scenario says`() {
        func story(times: UInt32, scans: Int = 1) -> HarnessStory {
            HarnessStory {
                for scan in 1...scans {
                    ($0.scan, $0.job) = (ScanNumber(UInt32(scan)), "job-\(scan)")
                    for attempt in 1...times { $0.exchange(.upload, attempt: attempt, 503, by: 0) }
                }
            }
        }
        let (once, twice) = (FaultRule(firingsMax: 1), FaultRule(firingsMax: 2))
        #expect(story(times: 1, scans: 3).errors([Self.refuses], rules: [once]) == [])
        #expect(
            story(times: 2).errors([Self.refuses], rules: [once]) == [
                "fault 1 of the list fired 2 times for one scan (maximum: 1)"
            ])
        #expect(story(times: 2).errors([Self.refuses], rules: [twice]) == [])
        #expect(story(times: 3).errors([Self.refuses], rules: [twice]).count == 1)
        #expect(story(times: 9).errors([Self.refuses], rules: [FaultRule()]) == [])
        // An event that is written to two streams of a job, one of which is dead.
        let atOnce = HarnessStory {
            $0.begin()
            $0.open(attempt: 2, after: 1)
            for attempt in 1...2 { $0.fault(.fired(fault: 0, .stream, attempt: UInt32(attempt))) }
        }
        #expect(atOnce.errors([.booksStripped], rules: [once]) == [])
    }

    @Test func `a fault that the operator starts may act before its time`() {
        func story(_ control: ControlObservation?) -> HarnessStory {
            HarnessStory {
                $0.phone(.launched(restored: 0))
                $0.pass()
                if let control { $0.control(control) }
                $0.pass()
                $0.fault(.began(fault: 1))
                $0.phone(.storageFilled)
            }
        }
        let effects = [Self.refuses, FaultEffect.ofPhone(.storageFull)]
        let rules = [FaultRule(), FaultRule(from: .zero + .minutes(5))]
        let early = ["fault 2 of the list fired before its start time"]
        #expect(story(nil).errors(effects, rules: rules) == early)
        #expect(story(.fault(1)).errors(effects, rules: rules) == [])
        #expect(story(.fault(0)).errors(effects, rules: rules) == early, "another fault")
        #expect(story(.fault(7)).errors(effects, rules: rules) == early, "no fault of the list")
    }

    @Test func `a fault hits its group, and no other`() {
        func story(_ device: UInt32) -> HarnessStory {
            HarnessStory {
                $0.device = DeviceNumber(device)
                $0.exchange(.upload, 503, by: 0)
            }
        }
        let rule = FaultRule(group: 1)
        #expect(story(1).errors([Self.refuses], rules: [rule], groups: [0, 1]) == [])
        #expect(
            story(0).errors([Self.refuses], rules: [rule], groups: [0, 1]) == [
                "fault 1 of the list affected a phone of another group"
            ])
        let act = HarnessStory {
            $0.phone(.launched(restored: 0))
            $0.pass()
            $0.fault(.began(fault: 0))
            $0.phone(.storageFilled)
        }
        #expect(act.errors([.ofPhone(.storageFull)], rules: [FaultRule(group: 0)], groups: [0, 1]) == [])
        #expect(
            act.errors([.ofPhone(.storageFull)], rules: [rule], groups: [0, 1]) == [
                "fault 1 of the list affected a phone of another group"
            ])
    }

    @Test func `a fault for a share of the phones spares the others, but for chance`() {
        func errors(hit: UInt32, of phones: Int, share: Int) -> [String] {
            HarnessStory {
                for device in 0..<hit {
                    ($0.device, $0.job) = (DeviceNumber(device), "job-\(device)")
                    for attempt in 1...2 { $0.exchange(.upload, attempt: UInt32(attempt), 503, by: 0) }
                }
            }.errors([Self.refuses], rules: [FaultRule(share: share)], phones: phones)
        }
        #expect(errors(hit: 40, of: 40, share: 1_000_000) == [])
        #expect(
            errors(hit: 40, of: 40, share: 300_000) == [
                "fault 1 of the list has a scope of 300000 in a million phones, but affected 40 of 40"
            ])
        // 40 x ln(1 / 0.3) is 48, and 28 x ln(1 / 0.3) is 33.7.
        #expect(errors(hit: 28, of: 28, share: 300_000) == [])
        #expect(errors(hit: 29, of: 29, share: 300_000).count == 1)
        #expect(errors(hit: 24, of: 60, share: 300_000) == [])
        #expect(errors(hit: 50, of: 60, share: 300_000).count == 1)
    }

    @Test func `a fault sleeps until its time`() {
        func story(_ time: Interval) -> HarnessStory {
            HarnessStory {
                $0.pass(time - .milliseconds(2))
                $0.exchange(.upload, 503, by: 0)
            }
        }
        let rule = FaultRule(from: .zero + .seconds(5))
        #expect(story(.seconds(5)).errors([Self.refuses], rules: [rule]) == [])
        #expect(
            story(.milliseconds(4_999)).errors([Self.refuses], rules: [rule]) == [
                "fault 1 of the list fired before its start time"
            ])
    }

    @Test func `a cut behind so many events lets no other through`() {
        func story(_ events: Int, replayed: Int = 0, cutAfter: Int = 2) -> HarnessStory {
            HarnessStory {
                $0.upload()
                $0.open()
                for position in 0..<(replayed + events) {
                    let isReplay = position < replayed
                    $0.pass()
                    $0.write(position, replayed: isReplay)
                    if position == replayed + cutAfter - 1 {
                        $0.fault(.fired(fault: 0, .stream, attempt: 1))
                    }
                    $0.pass()
                    $0.phone(
                        .eventApplied(
                            job: $0.job, id: "\(100 + position)-progress", kind: .progress, latency: nil,
                            replayed: isReplay))
                }
                $0.pass()
                $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            }
        }
        let rule = FaultRule(eventsMax: 2)
        #expect(story(2).errors([.cut(.reset)], rules: [rule]) == [])
        #expect(story(2, replayed: 3).errors([.cut(.reset)], rules: [rule]) == [])
        let text = "3 new events arrived on a stream that a fault should have cut after 2"
        #expect(story(3).errors([.cut(.reset)], rules: [rule]) == [text])
        #expect(story(3, cutAfter: 3).errors([.cut(.reset)], rules: [rule]) == [text])
        #expect(story(3).errors([.cut(.reset)], rules: [FaultRule()]) == [])
    }

    @Test func `behind the gateway, a cut lets through what the gateway says, new or not`() {
        func story(_ applied: Int, passed: Int, replayed: Int) -> HarnessStory {
            HarnessStory {
                $0.ask(.stream)
                $0.fault(
                    .passed(fault: 0, attempt: 1, events: passed), .fired(fault: 0, .stream, attempt: 1))
                for position in 0..<applied {
                    $0.pass()
                    $0.phone(
                        .eventApplied(
                            job: $0.job, id: "\(100 + position)-progress", kind: .progress, latency: nil,
                            replayed: position < replayed))
                }
                $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            }
        }
        func errors(_ applied: Int, passed: Int, replayed: Int = 0) -> [String] {
            story(applied, passed: passed, replayed: replayed)
                .errors([.cut(.reset)], rules: [FaultRule(eventsMax: 2)], server: .gateway)
        }
        #expect(errors(6, passed: 6) == [], "four of them may have come before")
        #expect(errors(5, passed: 6) == [])
        #expect(errors(3, passed: 3, replayed: 2) == [])
        #expect(
            errors(3, passed: 2, replayed: 1) == [
                "3 events arrived on a stream that a fault should have cut after 2"
            ])
        #expect(
            errors(3, passed: 2) == ["3 events arrived on a stream that a fault should have cut after 2"])
    }

    @Test func `the pings that were written to a stream come before its end`() {
        func story(written: Int, seen: Int, isReopened: Bool = false) -> HarnessStory {
            HarnessStory {
                $0.begin()
                if isReopened { $0.open(attempt: 2, after: 1) }
                for ping in 0..<written {
                    $0.pass()
                    $0.backend(.pingWritten(job: $0.job))
                    if ping < seen { $0.phone(.ping(id: nil, gap: nil)) }
                }
                $0.end(2, attempt: isReopened ? 2 : 1)
                $0.apply()
            }
        }
        #expect(story(written: 3, seen: 3).errors() == [])
        #expect(
            story(written: 3, seen: 2).errors() == ["3 pings were written to a stream, but 2 arrived"])
        // To which of two streams they were written is not known.
        #expect(story(written: 3, seen: 2, isReopened: true).errors() == [])
        let ofEarlierJob = HarnessStory {
            $0.begin()
            let earlier = $0.job
            $0.job = "job-2"
            $0.begin()
            $0.backend(.pingWritten(job: earlier))
            $0.end(2)
            $0.apply()
        }
        #expect(ofEarlierJob.errors() == [])
    }

    @Test func `a replay says when its event was new`() {
        func story(_ stamped: Interval, id: String = "101-progress") -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: true))
                $0.pass(.seconds(3))
                $0.open(attempt: 2, after: 0)
                $0.write(1, replayed: true)
                $0.phone(
                    .eventApplied(job: $0.job, id: id, kind: .progress, latency: stamped, replayed: true))
            }
        }
        // It was written 3.003 s ago.
        #expect(story(.milliseconds(3_003)).errors() == [])
        #expect(story(.milliseconds(2_760)).errors() == [])
        #expect(
            story(.milliseconds(2)).errors() == [
                "a replayed event is 2 ms old by its timestamp, but was first written 3003 ms ago"
            ])
        #expect(story(.milliseconds(3_260)).errors().count == 1)
        // Of an event that was not seen when it was new nothing is known.
        #expect(story(.milliseconds(2), id: "77-progress").errors() == [])
    }

    @Test func `behind the gateway a token that a fault revoked is good no more`() {
        func story(_ status: Int, after time: Interval = .milliseconds(10)) -> HarnessStory {
            HarnessStory {
                $0.ask(.stream)
                $0.get(.stream, 200)
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
                $0.pass(time)
                $0.ask(.stream, attempt: 2)
                $0.get(.stream, attempt: 2, status)
            }
        }
        let text = "stream was accepted with a token that a fault had revoked"
        #expect(story(401).errors([.tokenRevoked], server: .gateway) == [])
        #expect(story(200).errors([.tokenRevoked], server: .gateway) == [text])
        // What was under way as it was revoked may pass.
        #expect(story(200, after: .milliseconds(2)).errors([.tokenRevoked], server: .gateway) == [])
    }

    @Test func `an event that loses its books keeps its id`() {
        func story(_ id: String?, first: String? = "1-progress") -> HarnessStory {
            HarnessStory {
                $0.ask(.stream)
                $0.get(.stream, 200)
                $0.phone(
                    .eventApplied(
                        job: $0.job, id: first, kind: .progress, latency: nil, replayed: false))
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
                $0.pass()
                $0.phone(
                    .eventApplied(job: $0.job, id: id, kind: .completed, latency: nil, replayed: false))
            }
        }
        #expect(story("2-completed").errors([.booksStripped], server: .gateway) == [])
        #expect(
            story(nil).errors([.booksStripped], server: .gateway) == [
                "an event that a fault changed had no id"
            ])
        // A target without ids has none there either.
        #expect(story(nil, first: nil).errors([.booksStripped], server: .gateway) == [])
        #expect(story(nil).errors([.unobserved], server: .gateway) == [])
    }
}
