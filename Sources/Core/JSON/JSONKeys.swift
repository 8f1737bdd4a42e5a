import SimBase

/// Texts that strings of a document are looked up in, such as the keys of an object. Different from each other.
///
/// A text is compared as two words, its first and its last eight bytes.
package final class JSONKeys: Sendable {
    private struct Entry: Sendable {
        let count: Int
        let head, tail: UInt64

        init(_ bytes: [UInt8], _ range: Range<Int>) {
            self.count = range.count
            self.head = bytes.word(at: range.lowerBound, count: min(range.count, 8))
            self.tail = range.count > 8 ? bytes.word(at: range.upperBound - 8, count: 8) : 0
        }

        /// Whether the texts are equal; those of more than 16 bytes have others between the words.
        func matches(_ other: Entry) -> Bool {
            self.head == other.head && self.tail == other.tail && self.count == other.count
        }
    }

    package let texts: [String]
    private let entries: [Entry]

    package init(_ texts: [String]) {
        self.texts = texts
        self.entries = texts.map { text in
            let bytes = Array(text.utf8)
            return Entry(bytes, bytes.indices)
        }
    }

    /// The index of the text in a range of the bytes. `guess`: the index that is tried first.
    func index(in bytes: [UInt8], _ range: Range<Int>, guess: Int) -> Int? {
        if guess < self.entries.count, self.entries[guess].count == range.count,
            bytes.holds(self.texts[guess], at: range.lowerBound)
        {
            return guess
        }
        let entry = Entry(bytes, range)
        for index in self.entries.indices where self.holds(entry, at: index, in: bytes, range) {
            return index
        }
        return nil
    }

    private func holds(_ entry: Entry, at index: Int, in bytes: [UInt8], _ range: Range<Int>) -> Bool {
        guard self.entries[index].matches(entry) else { return false }
        return entry.count <= 16 || bytes.holds(self.texts[index], at: range.lowerBound)
    }
}
