import SimBase
import Wire

/// The events of one job that were dispatched already: a server that ignores Last-Event-ID sends them again, all of them
/// and in their order.
///
/// Known by a digest of id, name and data, because ids alone are not unique everywhere
/// (Docs/contract.md section 2.2); an event without an id of its own never counts as a repetition. The first
/// events of the job are remembered for good and, of a job that has more than that, the newest ones.
struct SeenEvents: Sendable {
    private var first: [UInt64] = []
    /// A ring, once it is full.
    private var newest: [UInt64] = []
    private var oldest = 0
    private var last: UInt64?
    /// The server repeats what it sent before, and has not come to the last of it.
    private var isInReplay = false

    private static let firstMax = AppLimits.rememberedEventsMax / 2
    private static let newestMax = AppLimits.rememberedEventsMax - firstMax

    enum Novelty: Hashable, Sendable {
        case new
        case repeated
        /// In the middle of a repetition of more events than are remembered: it may have come before.
        case uncertain
    }

    var count: Int { self.first.count + self.newest.count }

    /// The stream was opened again.
    mutating func reconnected() { self.isInReplay = false }

    /// Records an event, and returns whether it came before.
    mutating func record(_ event: SSEEvent) -> Novelty {
        guard event.hasOwnID, !event.id.isEmpty else { return .new }
        var digest = Digest()
        digest.absorbInWords(event.id)
        digest.absorbInWords(event.type)
        digest.absorbInWords(event.bytes)
        let value = digest.value
        if self.first.contains(value) || self.newest.contains(value) {
            self.isInReplay = value != self.last
            return .repeated
        }
        if self.isInReplay, self.newest.count == Self.newestMax { return .uncertain }
        self.isInReplay = false
        self.remember(value)
        return .new
    }

    private mutating func remember(_ value: UInt64) {
        self.last = value
        if self.first.count < Self.firstMax {
            self.first.append(value)
        } else if self.newest.count < Self.newestMax {
            self.newest.append(value)
        } else {
            self.newest[self.oldest] = value
            self.oldest = (self.oldest + 1) % Self.newestMax
        }
    }
}
