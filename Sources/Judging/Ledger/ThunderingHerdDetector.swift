import SimBase

/// Detects reconnect surges: whether phones whose path returned send requests more densely than the
/// contract's jitter allows.
///
/// A phone whose path returns retries everything within the jitter's time: each of its jobs at its own time,
/// and its queue at one time. The first of its requests is therefore in a window with a probability of at
/// most (slots + 1) divided by the windows in that time. Phones draw independently: a window may have as many
/// as that makes of all phones that may be returning, plus six standard deviations, plus ten.
struct ThunderingHerdDetector: Sendable {
    /// More in one window than jitter explains.
    struct Herd: Sendable {
        let count: Int
        /// Phones whose path had returned within the time of the jitter.
        let of: Int

        func text(_ settings: SimulationInvariantSettings) -> String {
            "\(self.count) of \(self.of) phones whose path had returned sent requests within \(settings.herdTime.wholeMilliseconds / Int64(ThunderingHerdDetector.windows)) ms"
        }
    }

    /// Windows in the time of the jitter.
    static let windows = 50
    /// The maximum count that is never a surge.
    static let few = 10

    private let window: Int64
    private let draws: Int
    private var current: Int64 = 0
    /// The counts of the present window and those before it, in a ring.
    private var returned = [Int](repeating: 0, count: Self.windows + 1)
    private var coming = 0
    private var released = 0
    /// What a shard keeps instead of a judgement; nil if it has all phones.
    private(set) var record: SurgeRecord?

    /// `time`: in which phones spread what they try again. `slots`: jobs that a phone may have running.
    init(time: Interval, slots: Int) {
        self.window = max(1, time.nanoseconds / Int64(Self.windows))
        self.draws = slots + 1
    }

    /// Keeps windows from now on, and judges nothing.
    mutating func keepRecord() { self.record = SurgeRecord() }

    func start(ofWindow number: Int64) -> Instant { Instant(nanoseconds: number * self.window) }

    mutating func pathReturned(at now: Instant) -> Herd? {
        guard self.record == nil else {
            self.record?.change(now.nanoseconds / self.window) { $0.begins += 1 }
            return nil
        }
        let herd = self.advance(to: now)
        self.returned[self.index] += 1
        self.coming += 1
        return herd
    }

    /// A phone requests something for the first time since its path returned.
    mutating func asked(at now: Instant, by device: DeviceNumber? = nil) -> Herd? {
        guard self.record == nil else {
            self.record?.change(now.nanoseconds / self.window) {
                $0.came += 1
                $0.lastCame = device
            }
            return nil
        }
        let herd = self.advance(to: now)
        self.released += 1
        return herd
    }

    /// The window that is the last.
    mutating func end() -> Herd? {
        defer { self.released = 0 }
        return self.herd
    }

    private var index: Int { Int(self.current % Int64(self.returned.count)) }

    private mutating func advance(to now: Instant) -> Herd? {
        let next = max(self.current, now.nanoseconds / self.window)
        guard next > self.current else { return nil }
        let herd = self.end()
        for _ in 0..<min(next - self.current, Int64(self.returned.count)) {
            self.current += 1
            self.coming -= self.returned[self.index]
            self.returned[self.index] = 0
        }
        if self.current < next { self.current = next }
        return herd
    }

    /// The detected surge, computed in whole numbers: the expectation times the number of windows.
    private var herd: Herd? {
        let expected = self.coming * self.draws
        let excess = (self.released - Self.few) * Self.windows - expected
        guard excess > 0, excess * excess > 36 * expected * Self.windows else { return nil }
        return Herd(count: self.released, of: self.coming)
    }
}
