/// Who is to blame for an error, a finding or a lost book (Docs/design.md section 11.11).
package enum Cause: Hashable, Sendable {
    /// The fault of the scenario with this id has changed just this.
    case injected(fault: String)
    /// The server at the other end: the target, or the simulated backend where no fault acted.
    case target
    /// The app, its user, or its device.
    case phone
    /// What is between the phone and the server: the network of the scenario, the resolution of names, routes.
    case path
    /// This program.
    case harness

    /// The name in files: the value of `by`.
    package var by: String {
        switch self {
        case .injected: "injected"
        case .target: "target"
        case .phone: "phone"
        case .path: "path"
        case .harness: "harness"
        }
    }

    /// The fault that has changed it; nil if none has.
    package var fault: String? {
        if case .injected(let fault) = self { fault } else { nil }
    }

    /// Reads `by` and `fault`; nil if there is no such cause.
    package init?(by: String, fault: String?) {
        switch (by, fault) {
        case ("injected", let fault?): self = .injected(fault: fault)
        case ("target", nil): self = .target
        case ("phone", nil): self = .phone
        case ("path", nil): self = .path
        case ("harness", nil): self = .harness
        default: return nil
        }
    }
}

/// How many of something each cause accounts for.
package struct CauseCounts: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var cause: Cause
        package var count: Int
    }

    /// One entry for each cause, in the order of their names: sums of the same counts are equal.
    package private(set) var entries: [Entry] = []

    package init() {}

    package init(_ cause: Cause?, _ count: Int = 1) {
        if let cause { self.add(cause, count) }
    }

    package subscript(cause: Cause) -> Int { self.entries.first { $0.cause == cause }?.count ?? 0 }

    /// Those that faults have injected.
    package var injected: Int {
        self.entries.reduce(0) { $1.cause.fault == nil ? $0 : Self.sum($0, $1.count) }
    }

    /// The most frequent first.
    package var byCount: [Entry] {
        self.entries.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
            .map(\.element)
    }

    package mutating func add(_ cause: Cause, _ count: Int = 1) {
        guard count > 0 else { return }
        let place = self.entries.firstIndex { !Self.precedes($0.cause, cause) } ?? self.entries.count
        if place < self.entries.count, self.entries[place].cause == cause {
            self.entries[place].count = Self.sum(self.entries[place].count, count)
        } else {
            self.entries.insert(Entry(cause: cause, count: count), at: place)
        }
    }

    package mutating func add(_ other: CauseCounts) {
        for entry in other.entries { self.add(entry.cause, entry.count) }
    }

    private static func precedes(_ one: Cause, _ two: Cause) -> Bool {
        (one.by, one.fault ?? "") < (two.by, two.fault ?? "")
    }

    /// A file may have any count.
    private static func sum(_ one: Int, _ two: Int) -> Int {
        let (sum, overflow) = one.addingReportingOverflow(two)
        return overflow ? .max : sum
    }
}
