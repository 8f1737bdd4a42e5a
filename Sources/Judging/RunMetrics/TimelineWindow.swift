import Observations
import SimBase
import Talaria

/// One stretch of time.
package struct TimelineWindow: Equatable, Sendable {
    package var planned = 0
    package var captured = 0
    package var completed = 0
    package var refused = 0
    package var events = 0
    package var pings = 0
    package var losses = 0
    /// GET of a stream by a phone that had lost one.
    package var reconnectAttempts = 0
    package var reconnected = 0
    /// The most of them at any time.
    package var connectedMost = 0
    package var reconnectingMost = 0
    package var offlineMost = 0
    /// The counts by `ErrorFamily.ordinal`.
    package var errors = [Int](repeating: 0, count: ErrorFamily.allCases.count)
    /// The counts by the index of the fault; empty while none fired.
    package private(set) var faults: [Int] = []

    package init() {}

    private typealias Field = any WritableKeyPath<TimelineWindow, Int> & Sendable

    /// What a longer window has the sum of.
    private static let sums: [Field] = [
        \.planned, \.captured, \.completed, \.refused, \.events, \.pings, \.losses, \.reconnectAttempts,
        \.reconnected,
    ]
    /// What a longer window has the maximum of.
    private static let peaks: [Field] = [\.connectedMost, \.reconnectingMost, \.offlineMost]

    /// All counts but those of faults, in a fixed order: what a shard hands over.
    package var numbers: [Int] { (Self.sums + Self.peaks).map { self[keyPath: $0] } + self.errors }

    /// Nil for what are not such counts.
    package init?(numbers: [Int], faults: [Int]) {
        let fields = Self.sums + Self.peaks
        guard numbers.count == fields.count + ErrorFamily.allCases.count else { return nil }
        for (field, number) in zip(fields, numbers) { self[keyPath: field] = number }
        self.errors = Array(numbers[fields.count...])
        self.faults = faults
    }

    package func fired(_ fault: Int) -> Int { self.faults.indices.contains(fault) ? self.faults[fault] : 0 }

    mutating func fault(_ fault: Int, of count: Int) {
        if self.faults.isEmpty { self.faults = [Int](repeating: 0, count: count) }
        self.faults[fault] += 1
    }

    mutating func record(_ gauges: FleetGauge) {
        self.connectedMost = max(self.connectedMost, gauges.connected)
        self.reconnectingMost = max(self.reconnectingMost, gauges.reconnecting)
        self.offlineMost = max(self.offlineMost, gauges.offline)
    }

    mutating func record(_ payload: PhoneObservation, wasReconnecting: Bool) {
        switch payload {
        case .captured: self.captured += 1
        case .completed: self.completed += 1
        case .refused: self.refused += 1
        case .streamLost: self.losses += 1
        case .reconnected: self.reconnected += 1
        case .requestSent(.stream, _, _, _) where wasReconnecting: self.reconnectAttempts += 1
        default: break
        }
    }

    /// The window that follows becomes part of this one.
    mutating func add(_ next: TimelineWindow) {
        self.count(next)
        for peak in Self.peaks { self[keyPath: peak] = max(self[keyPath: peak], next[keyPath: peak]) }
    }

    /// Adds another part of the same window.
    mutating func join(_ other: TimelineWindow) {
        self.count(other)
        for peak in Self.peaks { self[keyPath: peak] += other[keyPath: peak] }
    }

    private mutating func count(_ other: TimelineWindow) {
        for sum in Self.sums {
            self[keyPath: sum] = self[keyPath: sum].addingSaturating(other[keyPath: sum])
        }
        for index in self.errors.indices { self.errors[index] += other.errors[index] }
        guard !other.faults.isEmpty else { return }
        if self.faults.isEmpty {
            self.faults = other.faults
        } else {
            for index in self.faults.indices where index < other.faults.count {
                self.faults[index] += other.faults[index]
            }
        }
    }
}
