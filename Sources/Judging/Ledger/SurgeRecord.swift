package import SimBase

/// One window of time in which phones could come at once.
package struct SurgeWindow: Equatable, Sendable {
    /// The window's number: its start in lengths of a window.
    package let number: Int64
    /// What begins to be expected here, and what ends to be: phones whose path returned, or shares of waits.
    package var begins: Int64 = 0
    package var ends: Int64 = 0
    /// The phones that came.
    package var came: Int64 = 0
    /// The last of them.
    package var lastCame: DeviceNumber?

    package init(_ number: Int64) { self.number = number }
}

/// The windows of a shard, for a check that only all phones of the fleet together can be held to: sums of shards are those
/// of the fleet.
///
/// Where there are more windows than are kept, the earliest ones are: up to `incompleteFrom` they are those of a record
/// without a limit.
package struct SurgeRecord: Equatable, Sendable {
    /// Windows that are kept.
    package static let windowsMax = 49_152

    /// The windows in the order of time.
    package private(set) var windows: [SurgeWindow] = []
    /// The number of the first window that may be incomplete; nil if all windows are kept.
    package private(set) var incompleteFrom: Int64?

    package init() {}

    /// `windows`: in the order of time, and before `incompleteFrom`.
    package init(windows: [SurgeWindow], incompleteFrom: Int64?) {
        self.windows = windows
        self.incompleteFrom = incompleteFrom
    }

    /// Changes the window with a number, which is made where it is not there yet.
    package mutating func change(_ number: Int64, _ change: (inout SurgeWindow) -> Void) {
        if let end = self.incompleteFrom, number >= end { return }
        let index = self.index(of: number)
        if index == self.windows.count || self.windows[index].number != number {
            if self.windows.count == Self.windowsMax {
                guard index < self.windows.count else {
                    self.incompleteFrom = number
                    return
                }
                self.incompleteFrom = self.windows.removeLast().number
            }
            self.windows.insert(SurgeWindow(number), at: index)
        }
        change(&self.windows[index])
    }

    /// Leaves out the windows from a number on.
    mutating func cut(from number: Int64) {
        guard self.incompleteFrom.map({ number < $0 }) ?? true else { return }
        self.windows.removeSubrange(self.index(of: number)...)
        self.incompleteFrom = number
    }

    /// Adds the windows of other phones. The sum has as many windows as its parts have, whatever a part is limited to.
    mutating func add(_ other: SurgeRecord) {
        var sum: [SurgeWindow] = []
        sum.reserveCapacity(self.windows.count + other.windows.count)
        var rest = other.windows[...]
        for var window in self.windows {
            while let next = rest.first, next.number <= window.number {
                rest.removeFirst()
                if next.number == window.number { window.add(next) } else { sum.append(next) }
            }
            sum.append(window)
        }
        self.windows = sum + rest
        if let end = other.incompleteFrom { self.cut(from: end) }
        if let end = self.incompleteFrom { self.windows.removeSubrange(self.index(of: end)...) }
    }

    /// The index of the first window that is not before this one.
    private func index(of number: Int64) -> Int {
        var low = 0
        var high = self.windows.count
        while low < high {
            let middle = (low + high) / 2
            if self.windows[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension SurgeWindow {
    fileprivate mutating func add(_ other: SurgeWindow) {
        self.begins += other.begins
        self.ends += other.ends
        self.came += other.came
        self.lastCame = [self.lastCame, other.lastCame].compactMap { $0 }.max()
    }
}
