import Observations
import SimBase
import Talaria
import Testing

@testable import Faults

struct FaultDeskTests {
    @Test func `a fault fires once per scan unless told otherwise`() {
        var planner = planner(
            spec("once"), spec("twice", count: .perScan(2)), spec("each", count: .eachAttempt))
        var armed: [[Int]] = []
        for attempt in UInt32(1)...4 {
            let key = key(3, 1, attempt: attempt)
            let faults = planner.opened(key).map(\.fault)
            armed.append(faults)
            for fault in faults { planner.fired(fault, key) }
        }
        #expect(armed == [[0, 1, 2], [1, 2], [2], [2]])
        #expect(planner.opened(key(3, 2)).map(\.fault) == [0, 1, 2], "another scan has its own firings")
        #expect(planner.opened(key(4, 1)).map(\.fault) == [0, 1, 2], "another phone has its own firings")
    }

    @Test func `an armed fault that did not come to fire keeps its firing`() {
        var planner = planner(spec("once"))
        #expect(planner.opened(key(1, 1, attempt: 1)).count == 1)
        #expect(planner.opened(key(1, 1, attempt: 2)).count == 1)
    }

    @Test func `only faults of the operation are armed, in the order of the list`() {
        var planner = planner(
            spec(
                "a", .rateLimit(quota: Quota(requests: 1, window: .seconds(4)), retryAfter: nil), on: .upload),
            spec("b", .expireToken), spec("c"), spec("d", .phone(.offline), on: .link))
        #expect(planner.opened(key(1, 1, .upload)).map(\.fault) == [0])
        #expect(planner.opened(key(1, 1, .stream)).map(\.fault) == [1, 2])
        #expect(planner.opened(key(1, 1, .cleanup)) == [])
        #expect(planner.opened(key(1, 1, .status)) == [])
    }

    @Test func `a fault of one transport spares the streams of the other, without a decision`() {
        var sse = spec("sse")
        sse.transport = .sse
        var planner = planner(sse, spec("both"))
        #expect(planner.opened(key(1, 1), by: .sse).map(\.fault) == [0, 1])
        #expect(planner.opened(key(1, 1), by: .websocket).map(\.fault) == [1])
        var observations: [Observation] = []
        _ = planner.open(key(1, 1), by: .websocket, group: "g", at: .zero, into: &observations)
        #expect(observations.count == 1)
    }

    @Test func `the decision is drawn once for a scan and operation, not for an attempt`() {
        var planner = planner(spec("some", chance: .percent(30), count: .eachAttempt))
        var chosen = 0
        for scan in UInt32(1)...2_000 {
            let first = planner.opened(key(7, scan, attempt: 1)).count
            for attempt in UInt32(2)...5 {
                #expect(planner.opened(key(7, scan, attempt: attempt)).count == first)
            }
            chosen += first
        }
        #expect((540...660).contains(chosen), "30 % of 2,000, within three deviations: \(chosen)")
    }

    @Test func `the observed decision is a function of the key alone`() {
        let specs = [spec("some", chance: .percent(50), window: FaultWindow(at: .seconds(5), length: nil))]
        var fresh = FaultPlanner(specs: specs, random: KeyedRandom(seed: 9))
        var worn = fresh
        for scan in UInt32(1)...50 {
            for fault in worn.opened(key(1, scan), at: seconds(6)) { worn.fired(fault.fault, key(1, scan)) }
        }
        for scan in (UInt32(1)...50).reversed() {
            var early: [Observation] = []
            var late: [Observation] = []
            _ = fresh.open(key(1, scan), by: .sse, group: "g", at: .zero, into: &early)
            _ = worn.open(key(1, scan), by: .sse, group: "g", at: .zero, into: &late)
            #expect(early == late)
            #expect(early.count == 1)
        }
    }

    @Test func `a decision is observed whether or not it fires`() {
        var planner = planner(spec("never", chance: .never), spec("always"))
        var observations: [Observation] = []
        _ = planner.open(key(2, 5, attempt: 3), by: .sse, group: "g", at: seconds(1), into: &observations)
        func decided(_ fault: Int, _ fires: Bool) -> Observation {
            Observation(
                at: seconds(1), device: DeviceNumber(2), scan: ScanNumber(5),
                what: .fault(.decided(fault: fault, .stream, attempt: 3, fires: fires)))
        }
        #expect(observations == [decided(0, false), decided(1, true)])
    }

    @Test func `removing one fault disturbs no other`() {
        let kept = spec(
            "kept", chance: .percent(40), trigger: .afterEvents(1...1_000), scope: .share(.percent(60)))
        var both = planner(spec("other", chance: .percent(40)), kept)
        var alone = planner(kept)
        for device in UInt32(0)..<20 {
            for scan in UInt32(1)...20 {
                let with = both.opened(key(device, scan)).filter { $0.fault == 1 }.map { [$0.trigger] }
                let without = alone.opened(key(device, scan)).map { [$0.trigger] }
                #expect(with == without)
            }
        }
    }

    @Test func `a share of the devices is the same devices at every scan`() {
        var planner = planner(spec("half", scope: .share(.percent(50))))
        var hit = 0
        for device in UInt32(0)..<1_000 {
            let first = planner.opened(key(device, 1)).count
            #expect(planner.opened(key(device, 2)).count == first)
            hit += first
        }
        #expect((450...550).contains(hit), "half of 1,000: \(hit)")
    }

    @Test func `a group scope hits that group only`() {
        var planner = planner(spec("commuters only", scope: .group("commuters")))
        #expect(planner.opened(key(1, 1), group: "commuters").count == 1)
        #expect(planner.opened(key(1, 1), group: "home").count == 0)
    }

    @Test func `trigger values are drawn per attempt, inside their range, reaching both ends`() {
        var planner = planner(spec("events", trigger: .afterEvents(1...4), count: .eachAttempt))
        var seen: [ArmedTrigger: Int] = [:]
        for attempt in UInt32(1)...200 {
            for fault in planner.opened(key(1, 1, attempt: attempt)) { seen[fault.trigger, default: 0] += 1 }
        }
        #expect(Set(seen.keys) == [.afterEvents(1), .afterEvents(2), .afterEvents(3), .afterEvents(4)])
        #expect(seen.values.allSatisfy { $0 > 25 })
    }

    @Test func `the widest range of a trigger does not trap`() {
        var planner = planner(
            spec("a", trigger: .afterBytes(0...Int.max)),
            spec("b", trigger: .afterTime(.zero...Interval(nanoseconds: .max))))
        #expect(planner.opened(key(1, 1), at: seconds(1)).count == 2)
    }

    @Test func `a fault is armed in its window only`() {
        let window = FaultWindow(at: .seconds(8), length: .seconds(4))
        var planner = planner(
            spec("events", window: window, trigger: .afterEvents(2...2)),
            spec("upload", .reset(.betweenEvents, .reply), on: .upload, window: window))
        #expect(planner.opened(key(1, 1), at: seconds(7)) == [])
        #expect(planner.opened(key(1, 1), at: seconds(8)).map(\.trigger) == [.afterEvents(2)])
        #expect(planner.opened(key(1, 1), at: seconds(12)) == [])
        #expect(
            planner.opened(key(1, 1, .upload), at: seconds(7)) == [], "an upload does not wait for a window")
    }

    @Test func `a request is refused in its window only, a stream's as any other`() {
        var planner = FaultPlanner(
            specs: [
                spec(
                    "gone", .refuse, on: .link, window: FaultWindow(at: .seconds(8), length: .seconds(10)),
                    count: .eachAttempt)
            ], random: KeyedRandom(seed: 1), side: .phone)
        for operation in [Talaria.Operation.upload, .stream, .results, .cleanup] {
            #expect(planner.opened(key(1, 1, operation), at: seconds(3)) == [])
            #expect(planner.opened(key(1, 1, operation), at: seconds(9)).map(\.trigger) == [.atOnce])
            #expect(planner.opened(key(1, 1, operation), at: seconds(18)) == [])
        }
    }

    @Test func `a stream that is open when the window opens is hit then`() {
        let window = FaultWindow(at: .seconds(8), length: .seconds(4))
        var planner = planner(
            spec("at once", window: window),
            spec("late", window: window, trigger: .afterTime(.seconds(7)...(.seconds(7)))),
            spec("too late", window: window, trigger: .afterTime(.seconds(20)...(.seconds(20)))))
        let armed = planner.opened(key(1, 1), at: seconds(3))
        #expect(armed.map(\.fault) == [0, 1])
        #expect(armed.map(\.trigger) == [.afterTime(.seconds(5)), .afterTime(.seconds(7))])
    }

    @Test func `what a phone's fault waits for is drawn for each phone`() {
        let length = FaultWindow(at: .seconds(1), length: .seconds(2))
        let planner = planner(
            spec("torn", .phone(.kill), on: .app, window: length, trigger: .afterRecords(3...9)),
            spec("step", .phone(.kill), on: .app, window: length, trigger: .afterStep(.book)),
            spec("plain", .phone(.kill), on: .app, window: length))
        var drawn: Set<Int> = []
        for device in UInt32(0)..<100 {
            let windows = planner.phoneSchedule(device: DeviceNumber(device), group: "g")
            #expect(windows.map(\.from) == Array(repeating: seconds(1), count: 3))
            guard case .afterRecords(let count)? = windows[0].trigger else { return #expect(Bool(false)) }
            drawn.insert(count)
            #expect(windows[1].trigger == .afterStep(.book))
            #expect(windows[2].trigger == nil)
            let opened = windows[0].opened(at: seconds(7))
            #expect(opened == PhoneWindow(fault: 0, kind: .kill, from: seconds(7), to: seconds(9)))
        }
        #expect(drawn == Set(3...9))
        let forever = PhoneWindow(fault: 0, kind: .kill, from: .zero, to: .distantFuture)
        #expect(forever.opened(at: seconds(7)).to == .distantFuture)
    }

    @Test func `a phone's windows follow chance and scope, once for the run`() {
        let planner = planner(
            spec(
                "lift", .phone(.offline), on: .link, window: FaultWindow(at: .seconds(8), length: .seconds(4))
            ),
            spec(
                "half", .phone(.offline), on: .link, window: FaultWindow(at: .seconds(1), length: nil),
                scope: .share(.percent(50))),
            spec("stream fault"))
        var halves = 0
        for device in UInt32(0)..<500 {
            let windows = planner.phoneSchedule(device: DeviceNumber(device), group: "g")
            #expect(windows.first == PhoneWindow(fault: 0, kind: .offline, from: seconds(8), to: seconds(12)))
            if windows.count == 2 {
                halves += 1
                #expect(
                    windows[1] == PhoneWindow(fault: 1, kind: .offline, from: seconds(1), to: .distantFuture))
            }
        }
        #expect((200...300).contains(halves), "half of 500: \(halves)")
    }

    @Test func `a firing of a fault that does not exist is ignored`() {
        var planner = planner(spec("once"))
        planner.fired(7, key(1, 1))
        planner.fired(-1, key(1, 1))
        #expect(planner.opened(key(1, 1)).count == 1)
    }
}

struct FiringBookTests {
    @Test func `the book remembers so many scans and drops the oldest`() {
        var book = FiringCounts(scansMax: 3)
        for scan in UInt32(1)...5 { book.add(0, device: DeviceNumber(1), scan: ScanNumber(scan)) }
        let counts = (UInt32(1)...5).map { book.count(0, device: DeviceNumber(1), scan: ScanNumber($0)) }
        #expect(counts == [0, 0, 1, 1, 1])
        #expect(book.scans == 3)
    }

    @Test func `adding for a long time stays within the limit`() {
        var book = FiringCounts(scansMax: 10)
        for scan in UInt32(1)...20_000 {
            book.add(2, device: DeviceNumber(1), scan: ScanNumber(scan))
            #expect(book.scans <= 10)
        }
        #expect(book.count(2, device: DeviceNumber(1), scan: ScanNumber(20_000)) == 1)
    }

    @Test func `what lasts is armed until its window is over, on any exchange`() {
        let window = FaultWindow(at: .seconds(5), length: .seconds(2))
        for kind in [
            FaultKind.delay(by: .zero ... .zero), .bandwidth(bitsPerSecond: 1_000), .loss(.always),
            .slice(bytes: 1...1),
        ] {
            var planner = planner(spec("x", kind, on: .link, window: window, count: .eachAttempt))
            for operation in [Talaria.Operation.upload, .stream] {
                for moment in [0, 5, 6] {
                    let armed = planner.opened(key(1, 1, operation), at: seconds(Int64(moment)))
                    #expect(armed.map(\.window) == [window])
                    #expect(armed.map(\.trigger) == [.atOnce])
                }
                let late = planner.opened(key(1, 1, operation), at: seconds(7))
                #expect(late.isEmpty)
            }
        }
    }

    @Test func `the phone's side and the backend's meet different faults`() {
        let specs = [
            spec("refuse-1", .refuse, on: .link), spec("reset-1"),
            spec("offline-1", .phone(.offline), on: .link),
        ]
        var phone = FaultPlanner(specs: specs, random: KeyedRandom(seed: 1), side: .phone)
        var backend = FaultPlanner(specs: specs, random: KeyedRandom(seed: 1))
        let (atPhone, atBackend) = (phone.opened(key(1, 1)), backend.opened(key(1, 1)))
        #expect(atPhone.map(\.fault) == [0])
        #expect(atBackend.map(\.fault) == [1])
        phone.fired(0, key(1, 1))
        let again = phone.opened(key(1, 1, attempt: 2))
        #expect(again.isEmpty)
    }
}
