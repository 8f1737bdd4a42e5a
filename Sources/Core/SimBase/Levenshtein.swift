/// The Levenshtein distance, and the similarity of texts by it.
package enum Levenshtein {
    /// The longest text that is compared: the contract allows titles of so many (Docs/contract.md section 3.2). The work is the
    /// product of both lengths, and texts come from a server.
    package static let charactersMax = 500
    /// The longest character: the Stream-Safe Text Format of Unicode (UAX #15) allows 30 marks in a row. Comparing characters
    /// sorts their marks.
    package static let scalarsMax = 32
    /// Compared first, since splitting a text reads all of it. A family of four, which is one emoji, has 25 bytes.
    package static let bytesMax = 32 * charactersMax

    /// The similarity of two texts: 1 - distance / length, where the length is that of the longer one. That of two empty
    /// texts is 1.
    package struct Similarity: Hashable, Sendable {
        package let distance: Int
        package let length: Int

        /// Whether it is greater than this share, in whole numbers.
        package func isAbove(percent: Int) -> Bool {
            self.length == 0 ? percent < 100 : 100 * (self.length - self.distance) > percent * self.length
        }
    }

    /// Compares texts by grapheme clusters, with case. Returns nil if one is too long. It is not cut, because texts with equal
    /// beginnings may end differently.
    ///
    /// No normal form is needed: a text has the same clusters in each form, and characters that are canonically equivalent are
    /// equal.
    package static func similarity(_ left: String, _ right: String) -> Similarity? {
        // One number for equal characters. Comparing the characters themselves takes twenty times as long.
        var numbers: [Character: Int] = [:]
        guard let left = Self.numbered(left, &numbers), let right = Self.numbered(right, &numbers) else {
            return nil
        }
        return Similarity(
            distance: Self.distance(left, right, countsSwaps: false), length: max(left.count, right.count))
    }

    private static func numbered(_ text: String, _ numbers: inout [Character: Int]) -> [Int]? {
        guard text.utf8.count <= Self.bytesMax else { return nil }
        var list: [Int] = []
        for character in text {
            guard list.count < Self.charactersMax, character.unicodeScalars.count <= Self.scalarsMax else {
                return nil
            }
            let number = numbers[character] ?? numbers.count
            numbers[character] = number
            list.append(number)
        }
        return list
    }

    /// Returns the number of insertions, deletions and replacements that turn one sequence into the other. With `countsSwaps`,
    /// a swap of neighbors is one difference, too (optimal string alignment).
    package static func distance<Element: Equatable>(
        _ left: [Element], _ right: [Element], countsSwaps: Bool
    ) -> Int {
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for column in 0..<right.count {
                let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
                var least = min(replaced, last[column + 1] + 1, current[column] + 1)
                if countsSwaps, row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
