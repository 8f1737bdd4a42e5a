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
package struct SurgeRecord: Equatable, Sendable {
    /// Windows that are kept. A run with more cannot be judged.
    package static let windowsMax = 8_192

    /// The windows in the order of time.
    package private(set) var windows: [SurgeWindow] = []
    package private(set) var isComplete = true

    package init() {}

    /// Changes the window with a number, which is made where it is not there yet.
    package mutating func change(_ number: Int64, _ change: (inout SurgeWindow) -> Void) {
        let index = self.index(of: number)
        if index == self.windows.count || self.windows[index].number != number {
            guard self.windows.count < Self.windowsMax else {
                self.isComplete = false
                return
            }
            self.windows.insert(SurgeWindow(number), at: index)
        }
        change(&self.windows[index])
    }

    package mutating func leaveIncomplete() { self.isComplete = false }

    /// Adds the windows of other phones.
    mutating func add(_ other: SurgeRecord) {
        self.isComplete = self.isComplete && other.isComplete
        for window in other.windows {
            self.change(window.number) { $0.add(window) }
        }
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
