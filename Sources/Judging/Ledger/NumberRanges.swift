/// A set of whole numbers kept as ranges, in order: a run of neighbors costs two words however long it is.
///
/// This is how settled scans collapse to a high-water mark, and how the books of a scan are remembered.
struct NumberRanges<Number: FixedWidthInteger & Sendable>: Hashable, Sendable {
    private(set) var ranges: [ClosedRange<Number>] = []
    private(set) var count = 0

    /// The place of the first range that does not end before the number.
    private func place(of number: Number) -> Int {
        // Almost always the number belongs to the last range or behind it.
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
        let place = self.place(of: number)
        return place < self.ranges.count && self.ranges[place].contains(number)
    }

    /// Whether any number of the range is in the set.
    func intersects(_ range: ClosedRange<Number>) -> Bool {
        let place = self.place(of: range.lowerBound)
        return place < self.ranges.count && self.ranges[place].lowerBound <= range.upperBound
    }

    /// False when it was there already.
    mutating func insert(_ number: Number) -> Bool {
        let place = self.place(of: number)
        if place < self.ranges.count, self.ranges[place].contains(number) { return false }
        self.count += 1
        // `number` is strictly above the range before and strictly below the range here: no sum can overflow.
        let joinsBefore = place > 0 && self.ranges[place - 1].upperBound + 1 == number
        let joinsHere = place < self.ranges.count && self.ranges[place].lowerBound - 1 == number
        switch (joinsBefore, joinsHere) {
        case (true, true):
            self.ranges[place - 1] = self.ranges[place - 1].lowerBound...self.ranges[place].upperBound
            self.ranges.remove(at: place)
        case (true, false):
            self.ranges[place - 1] = self.ranges[place - 1].lowerBound...number
        case (false, true):
            self.ranges[place] = number...self.ranges[place].upperBound
        case (false, false):
            self.ranges.insert(number...number, at: place)
        }
        return true
    }

    /// How many of the numbers from 0 up to, and without, `end` are in the set.
    func count(below end: Number) -> Int {
        var sum = 0
        for range in self.ranges where range.upperBound >= 0 && range.lowerBound < end {
            sum += Int(Swift.min(range.upperBound, end - 1) - Swift.max(range.lowerBound, 0)) + 1
        }
        return sum
    }
}
