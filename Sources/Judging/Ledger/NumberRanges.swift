/// A set of whole numbers kept as ranges, in order: a run of neighbors costs two words however long it is.
///
/// This is how settled scans collapse to a high-water mark, and how the books of a scan are remembered.
struct NumberRanges<Number: FixedWidthInteger & Sendable>: Hashable, Sendable {
    private(set) var ranges: [ClosedRange<Number>] = []
    private(set) var count = 0
    var isEmpty: Bool { self.count == 0 }

    /// The index of the first range that does not end before the number.
    private func index(of number: Number) -> Int {
        // Almost always the number belongs to the last range or after it.
        guard let last = self.ranges.last, last.upperBound >= number else { return self.ranges.count }
        var low = 0
        var high = self.ranges.count - 1
        while low < high {
            let middle = (low + high) / 2
            if self.ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func contains(_ number: Number) -> Bool {
        let index = self.index(of: number)
        return index < self.ranges.count && self.ranges[index].contains(number)
    }

    /// Whether any number of the range is in the set.
    func intersects(_ range: ClosedRange<Number>) -> Bool {
        let index = self.index(of: range.lowerBound)
        return index < self.ranges.count && self.ranges[index].lowerBound <= range.upperBound
    }

    /// False when it was there already.
    mutating func insert(_ number: Number) -> Bool {
        let index = self.index(of: number)
        if index < self.ranges.count, self.ranges[index].contains(number) { return false }
        self.count += 1
        // `number` is strictly above the range before and strictly below the range here: no sum can overflow.
        let joinsBefore = index > 0 && self.ranges[index - 1].upperBound + 1 == number
        let joinsHere = index < self.ranges.count && self.ranges[index].lowerBound - 1 == number
        switch (joinsBefore, joinsHere) {
        case (true, true):
            self.ranges[index - 1] = self.ranges[index - 1].lowerBound...self.ranges[index].upperBound
            self.ranges.remove(at: index)
        case (true, false):
            self.ranges[index - 1] = self.ranges[index - 1].lowerBound...number
        case (false, true):
            self.ranges[index] = number...self.ranges[index].upperBound
        case (false, false):
            self.ranges.insert(number...number, at: index)
        }
        return true
    }

    /// Returns the number of elements from 0 up to, but not including, `end`.
    func count(below end: Number) -> Int {
        var sum = 0
        for range in self.ranges where range.upperBound >= 0 && range.lowerBound < end {
            sum += Int(Swift.min(range.upperBound, end - 1) - Swift.max(range.lowerBound, 0)) + 1
        }
        return sum
    }
}
