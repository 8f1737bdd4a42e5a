package import SimBase

/// Which way bytes travel.
package enum LinkWay: UInt64, CaseIterable, Hashable, Sendable {
    /// From the phone to the backend.
    case up = 1
    case down = 2
}

/// The effect of armed `delay`, `bandwidth` and `loss` faults on the bytes of one exchange in one direction,
/// in addition to the phone's link.
///
/// - `delay`: drawn once for the exchange and direction. Delays of several faults add up.
/// - `bandwidth`: the rate is the lowest of the link and the faults. Bytes admitted before the fault's window closes
///   pass at the link's own rate from then on.
/// - `loss`: by segments of 1,460 bytes, see `SegmentLoss`.
///
/// Each fault acts only within its window, also on a stream that is open before. The order of the bytes never
/// changes.
package struct LinkImpairments: Hashable, Sendable {
    private struct Delay: Hashable, Sendable {
        let fault: Int
        let window: FaultWindow
        let time: Interval
    }

    private struct Cap: Hashable, Sendable {
        let fault: Int
        let window: FaultWindow
        let direction: LinkDirection
        /// The time at which the last byte has been sent at its rate.
        var idleAt = Instant.zero
    }

    private struct Loss: Hashable, Sendable {
        let fault: Int
        let window: FaultWindow
        var segments: SegmentLoss
    }

    private var delays: [Delay] = []
    private var caps: [Cap] = []
    private var losses: [Loss] = []

    /// The value for an exchange without a link fault.
    package init() {}

    package init(_ armed: [ArmedFault], way: LinkWay, roundTrip: Interval) {
        for fault in armed {
            let random = KeyedRandom(seed: fault.draw)
            switch fault.kind {
            case .delay(let by):
                let width = UInt64((by.upperBound - by.lowerBound).nanoseconds) + 1
                let late = Int64(random.draw(.link, way.rawValue).scaled(below: width))
                self.delays.append(
                    Delay(
                        fault: fault.fault, window: fault.window,
                        time: by.lowerBound + .nanoseconds(late)))
            case .bandwidth(let rate):
                self.caps.append(
                    Cap(
                        fault: fault.fault, window: fault.window,
                        direction: LinkDirection(delay: .zero, bitsPerSecond: rate)))
            case .loss(let share):
                self.losses.append(
                    Loss(
                        fault: fault.fault, window: fault.window,
                        segments: SegmentLoss(
                            share, random: random, way: way,
                            stall: SegmentLoss.stall(roundTrip: roundTrip))))
            case .rateLimit, .httpError, .stripBooks, .truncateResults, .reorderResults, .expireToken,
                .jobGone, .retryableError, .finalError, .degraded, .slowStage, .unknownEvent, .badJSON,
                .eventShape, .latePing, .noPing, .twoTerminals, .endWithoutTerminal, .socketClose,
                .socketFrames, .ignoreLastEventID,
                .forgetEvents, .reset, .close, .endCleanly, .silence, .slice, .refuse, .phone:
                continue
            }
        }
    }

    package var isEmpty: Bool { self.delays.isEmpty && self.caps.isEmpty && self.losses.isEmpty }

    /// Admits bytes to the link and returns the time at which the last of them arrives. `acted`: the faults
    /// that affected them, by index in the scenario's list.
    package mutating func admit(
        bytes: Int, at now: Instant, through queue: inout LinkQueue, acted: inout [Int]
    ) -> Instant {
        let start = max(now, queue.idleAt)
        let undisturbed = queue.admit(bytes: bytes, at: now)
        guard !self.isEmpty, bytes > 0 else { return undisturbed }
        let underway = undisturbed == .distantFuture ? .zero : undisturbed - queue.idleAt
        var arrival = undisturbed
        for index in self.caps.indices where self.caps[index].window.contains(now) {
            let from = max(start, self.caps[index].idleAt)
            var sent = from + self.caps[index].direction.time(toSend: bytes)
            if let end = self.caps[index].window.end { sent = min(sent, max(from, end)) }
            self.caps[index].idleAt = sent
            arrival = max(arrival, sent + underway)
            acted.append(self.caps[index].fault)
        }
        for delay in self.delays where delay.window.contains(now) {
            arrival = arrival + delay.time
            acted.append(delay.fault)
        }
        for index in self.losses.indices where self.losses[index].window.contains(now) {
            guard let stall = self.losses[index].segments.stall(of: bytes) else { continue }
            arrival = arrival + stall
            acted.append(self.losses[index].fault)
        }
        return arrival
    }

    /// The time until which admitted bytes keep the exchange's share of the link busy.
    package var idleAt: Instant { self.caps.map(\.idleAt).max() ?? .zero }
}

extension FaultWindow {
    /// The end of the window; nil for none.
    package var end: Instant? {
        self.length.map { (Instant.zero + self.at) + $0 }
    }
}
