package import SimBase

/// The on-device extraction of a spine: what it makes of a book, and how long that takes (seed 002). A pure function of (seed,
/// device, scan): the phone gets the reading, and the ledger knows what it was.
package struct SpineReader: Hashable, Sendable {
    /// The share of readings that are without an error.
    package var accuracy = Odds.percent(92)
    /// From the capture of a photo to its reading, drawn uniformly.
    package var time: ClosedRange<Interval> = .milliseconds(300)...(.milliseconds(700))

    package init() {}

    /// What goes wrong in a reading.
    package enum Slip: CaseIterable, Hashable, Sendable {
        /// Some letters are taken for others of a similar shape.
        case confusedLetters
        /// A word is missing.
        case droppedWord
        /// Title and author have changed places.
        case swappedColumns
    }

    /// Letters that are taken for each other.
    private static let confusable: [Character: Character] = [
        "l": "1", "I": "l", "O": "0", "o": "0", "S": "5", "e": "c", "n": "r", "m": "n", "B": "8", "a": "o",
        "u": "v", "é": "e", "н": "и", "и": "н", "о": "0", "日": "目", "人": "入", "س": "ش",
    ]

    private func drawn(_ seed: UInt64, _ device: DeviceNumber, _ scan: ScanNumber, _ part: UInt64) -> UInt64 {
        KeyedRandom(seed: seed).draw(.spineReading, UInt64(device.raw), UInt64(scan.raw), part)
    }

    /// The time that the reading of a scan takes.
    package func time(seed: UInt64, device: DeviceNumber, scan: ScanNumber) -> Interval {
        let width = UInt64((self.time.upperBound - self.time.lowerBound).nanoseconds) + 1
        let drawn = self.drawn(seed, device, scan, 0).multipliedFullWidth(by: width).high
        return self.time.lowerBound + .nanoseconds(Int64(drawn))
    }

    /// What goes wrong with a scan; nil for a reading without an error.
    package func slip(seed: UInt64, device: DeviceNumber, scan: ScanNumber) -> Slip? {
        guard !self.accuracy.happens(self.drawn(seed, device, scan, 1)) else { return nil }
        let all = Slip.allCases
        return all[Int(self.drawn(seed, device, scan, 2) % UInt64(all.count))]
    }

    /// The reading of a book on the spine of a scan.
    package func reading(
        of book: Book, seed: UInt64, device: DeviceNumber, scan: ScanNumber
    ) -> BookReading {
        let slip = self.slip(seed: seed, device: device, scan: scan)
        var (title, author) = (book.title, book.author)
        let draw = self.drawn(seed, device, scan, 3)
        switch slip {
        case nil: break
        case .confusedLetters: title = Self.confused(title, draw)
        case .droppedWord: title = Self.shortened(title, draw)
        case .swappedColumns: (title, author) = (author, title)
        }
        // A reader that errs is less sure of itself, but not always.
        let least: UInt64 = slip == nil ? 75 : 40
        let hundredths = least + self.drawn(seed, device, scan, 4) % (slip == nil ? 25 : 50)
        let isbn = self.drawn(seed, device, scan, 5) % 10 < 3 ? book.isbn : nil
        return BookReading(
            title: title, author: author, isbn: isbn,
            text: "\(title)\n\(author)" + (isbn.map { "\n\($0)" } ?? ""),
            confidence: Double(hundredths) / 100)
    }

    /// One to three letters are taken for others; a title without any of them loses its first letter.
    private static func confused(_ title: String, _ draw: UInt64) -> String {
        var letters = Array(title)
        let places = letters.indices.filter { Self.confusable[letters[$0]] != nil }
        guard !places.isEmpty else { return String(title.dropFirst()) }
        for turn in 0...(draw % 3) {
            let place = places[Int((draw >> (8 * (turn + 1))) % UInt64(places.count))]
            letters[place] = Self.confusable[letters[place]] ?? letters[place]
        }
        return String(letters)
    }

    /// A title of one word loses its last letter.
    private static func shortened(_ title: String, _ draw: UInt64) -> String {
        var words = title.split(separator: " ")
        guard words.count > 1 else { return String(title.dropLast()) }
        words.remove(at: Int(draw % UInt64(words.count)))
        return words.joined(separator: " ")
    }
}
