package import SimBase

/// Drawn damage: a good input of a parser with a few changes, the same for the same draws.
package struct Mutator: Sendable {
    /// No mutation is longer: the time of a case is bounded by its input.
    package static let bytesMax = 64 * 1_024
    private static let changesMax = 8

    /// Good inputs, one of which each case begins with. Not empty.
    private let corpus: [[UInt8]]
    /// What means something to the parser, to be inserted at any position.
    private let dictionary: [[UInt8]]

    package init(corpus: [[UInt8]], dictionary: [String]) {
        precondition(!corpus.isEmpty, "damage needs something whole")
        self.corpus = corpus
        self.dictionary = (dictionary + Self.everywhere).map { Array($0.utf8) } + Self.notText
    }

    /// What is nasty to any parser of text: numbers beyond every type, deep nesting, long runs.
    private static let everywhere = [
        "0", "-1", "255", "256", "65536", "2147483648", "4294967295", "4294967296", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "18446744073709551616", "1e400", "0.1", "NaN",
        String(repeating: "9", count: 400), String(repeating: "[", count: 2_000),
        String(repeating: "{\"a\":", count: 600), String(repeating: "a", count: 5_000), "null", "true", "\"",
        "\\u0000", "\\ud800", "\r\n", "\n", "\r", "\0", "\t", " ", ":", ";", ",", "=", "%", "\u{FEFF}",
        "\u{2028}", "\u{1F4DA}", "e\u{301}", "\u{202E}",
    ]

    /// No UTF-8: a lone continuation, an overlong slash, a surrogate, a cut sequence, bytes that never occur.
    private static let notText: [[UInt8]] = [
        [0x80], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF4, 0x90, 0x80, 0x80], [0xFF],
        [0xFE, 0xFF],
    ]

    /// One of the corpus with one to eight changes.
    package func input(_ fuzz: FuzzCase) -> [UInt8] {
        var bytes = self.corpus[fuzz.below(self.corpus.count, 0, 0)]
        // Mostly few: what is wrong everywhere is refused at its first byte.
        for change in 1...UInt64(1 + fuzz.below(1 + fuzz.below(Self.changesMax, 0, 1), 0, 2)) {
            self.damage(&bytes, fuzz, change)
            if bytes.count > Self.bytesMax { bytes.removeSubrange(Self.bytesMax...) }
        }
        return bytes
    }

    private func damage(_ bytes: inout [UInt8], _ fuzz: FuzzCase, _ change: UInt64) {
        func draw(_ bound: Int, _ what: UInt64) -> Int { fuzz.below(max(1, bound), change, what) }
        let offset = draw(bytes.count + 1, 1)
        let run = offset..<min(bytes.count, offset + 1 + draw(draw(8, 2) == 0 ? 400 : 12, 3))
        switch draw(12, 4) {
        case 0 where offset < bytes.count: bytes[offset] ^= 1 << UInt8(draw(8, 5))
        case 1 where offset < bytes.count: bytes[offset] = UInt8(draw(256, 5))
        case 2: bytes.insert(UInt8(draw(256, 5)), at: offset)
        case 3 where offset < bytes.count: bytes.removeSubrange(run)
        case 4 where draw(4, 5) == 0: bytes.removeSubrange(offset...)
        case 5 where offset < bytes.count:
            bytes.insert(contentsOf: Array(bytes[run]), at: draw(bytes.count, 5))
        case 6 where offset < bytes.count:
            // Many times the same: what is written once is easily thought to come once.
            bytes.insert(
                contentsOf: repeatElement(Array(bytes[run]), count: 1 + draw(60, 5)).joined(), at: offset)
        case 7:
            // The end of another one.
            let other = self.corpus[draw(self.corpus.count, 5)]
            bytes.replaceSubrange(offset..., with: other[draw(other.count + 1, 6)...])
        case 8: bytes.insert(contentsOf: self.word(draw(self.dictionary.count, 5)), at: offset)
        case 9: Self.replaceNumber(in: &bytes, from: offset, with: self.word(draw(self.dictionary.count, 5)))
        default:
            bytes.replaceSubrange(
                offset..<max(offset, run.upperBound), with: self.word(draw(self.dictionary.count, 5)))
        }
    }

    private func word(_ offset: Int) -> [UInt8] { self.dictionary[offset] }

    /// Replaces the next number by a word: what follows is likely to be still understood.
    private static func replaceNumber(in bytes: inout [UInt8], from offset: Int, with word: [UInt8]) {
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        guard let first = bytes[offset...].firstIndex(where: isDigit) else { return }
        let end = bytes[first...].firstIndex { !isDigit($0) } ?? bytes.endIndex
        bytes.replaceSubrange(first..<end, with: word)
    }
}

/// One case of a fuzz test: everything in it is drawn from the seed and the number.
package struct FuzzCase: Sendable, CustomStringConvertible {
    package let random: KeyedRandom
    package let number: UInt64

    package init(seed: UInt64, number: UInt64) {
        self.random = KeyedRandom(seed: seed)
        self.number = number
    }

    /// How to see it again.
    package var description: String {
        "\(Fuzz.seedVariable)=\(self.random.seed) \(Fuzz.caseVariable)=\(self.number)"
    }

    /// A draw of this case. `part` and `detail` distinguish its draws.
    package func below(_ bound: Int, _ part: UInt64, _ detail: UInt64) -> Int {
        precondition(bound > 0 && detail < 1 << 32, "a draw needs an outcome and a name")
        return Int(self.random.below(UInt64(bound), .test, self.number, part << 32 | detail))
    }

    /// The bytes whole, one by one, and cut at positions of this case, empty pieces included.
    package func cuts(of bytes: [UInt8]) -> [[[UInt8]]] {
        var ways = [[bytes]]
        if bytes.count <= 4_096 { ways.append(bytes.map { [$0] }) }
        for way in 0..<3 as Range<UInt64> {
            let pieces = 1 + self.below(7, 1_000, way)
            let ends =
                (0..<UInt64(pieces)).map { self.below(bytes.count + 1, 1_001 + way, $0) }.sorted() + [
                    bytes.count
                ]
            var start = 0
            ways.append(
                ends.map { end in
                    defer { start = end }
                    return Array(bytes[start..<end])
                })
        }
        return ways
    }
}
