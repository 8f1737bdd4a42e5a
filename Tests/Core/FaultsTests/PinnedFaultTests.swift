import Faults
import Observations
import SimBase
import Talaria
import Testing

/// Faults as they acted in one run.
@Suite struct PinnedFaultTests {
    private static let drawn = spec(
        "drawn", chance: .percent(50), trigger: .afterEvents(1...1_000), scope: .share(.percent(60)))

    @Test func `a pinned fault acts on its exchange as the drawn one did, and on no other`() throws {
        var original = planner(Self.drawn)
        var tried = 0
        for scan in UInt32(1)...40 {
            let exchange = key(7, scan, attempt: 2)
            guard let armed = original.opened(exchange).first else { continue }
            tried += 1
            let fault = original.pinned(0, to: exchange, opened: .zero, scan: ScanNumber(scan))
            #expect(fault.chance == .always && fault.scope == .phone(DeviceNumber(7)))
            // With another seed: nothing is left to chance.
            var pinned = planner(fault, seed: 99)
            #expect(pinned.opened(exchange).map(\.trigger) == [armed.trigger])
            for other in [key(7, scan, attempt: 1), key(7, scan + 1, attempt: 2), key(6, scan, attempt: 2)] {
                #expect(pinned.opened(other).isEmpty)
            }
        }
        #expect(tried > 5)
    }

    @Test func `a window is kept only by an exchange that waited for it`() {
        let window = FaultWindow(at: .seconds(5), length: .seconds(2))
        let planner = planner(spec("timed", window: window))
        let scan = ScanNumber(1)
        #expect(planner.pinned(0, to: key(1, 1), opened: seconds(1), scan: scan).window == window)
        #expect(planner.pinned(0, to: key(1, 1), opened: seconds(6), scan: scan).window == .always)
    }

    @Test func `a fault of each attempt stays one fault`() {
        let limit = spec(
            "limit", .rateLimit(quota: Quota(requests: 1, window: .seconds(1)), retryAfter: nil), on: .upload,
            count: .eachAttempt)
        let fault = planner(limit).pinned(
            0, to: key(3, 2, .upload, attempt: 5), opened: .zero, scan: ScanNumber(2))
        #expect(fault.attempt == nil && fault.scan == nil && fault.count == .eachAttempt)
        #expect(fault.scope == .phone(DeviceNumber(3)))
    }

    @Test func `a fault of a phone begins when it began`() throws {
        var offline = spec(
            "offline", .phone(.offline), on: .link, chance: .percent(50),
            window: FaultWindow(at: .seconds(2), length: .seconds(1)))
        offline.spread = .seconds(10)
        let planner = planner(offline)
        var tried = 0
        for number in UInt32(0)..<20 {
            let device = DeviceNumber(number)
            guard let window = planner.phoneSchedule(device: device, group: "g").first else { continue }
            tried += 1
            let fault = planner.pinned(window, device: device)
            let pinned = FaultPlanner(specs: [fault], random: KeyedRandom(seed: 5))
            #expect(pinned.phoneSchedule(device: device, group: "g") == [window])
            #expect(pinned.phoneSchedule(device: DeviceNumber(number + 1), group: "g").isEmpty)
        }
        #expect(tried > 3)
    }
}
