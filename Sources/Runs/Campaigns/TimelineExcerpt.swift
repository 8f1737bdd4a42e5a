/// Which lines of a timeline are shown where not all have room: its beginning and its end, and what is around each fault.
struct TimelineExcerpt {
    enum Part: Hashable {
        /// Lines that are shown, by their index.
        case lines(Range<Int>)
        /// The number of lines that are left out here.
        case left(Int)
    }

    private(set) var parts: [Part]

    /// - Parameter marks: For each line the fault that begins or acts in it; nil for any other line.
    /// - Parameter linesMax: The number of lines, with those that say how many are left out.
    init(marks: [Int?], linesMax: Int) {
        guard !marks.isEmpty else {
            self.parts = []
            return
        }
        var seen: Set<Int> = []
        var anchors = [0, marks.count - 1]
        for (index, mark) in marks.enumerated() {
            if let mark, seen.insert(mark).inserted { anchors.append(index) }
        }
        var shown = marks.indices.map { $0 == 0 || $0 == marks.count - 1 }
        for index in Self.nearestFirst(to: anchors, count: marks.count) {
            guard Self.lines(of: Self.parts(shown)) < linesMax else { break }
            var more = shown
            more[index] = true
            if Self.lines(of: Self.parts(more)) <= linesMax { shown = more }
        }
        self.parts = Self.parts(shown)
    }

    /// The lines by their distance from an anchor. The last line is one, and reaches twice as far as the others: what leads to the
    /// violation says most.
    private static func nearestFirst(to anchors: [Int], count: Int) -> [Int] {
        let distances = (0..<count).map { index in
            anchors.reduce(Int.max) { nearest, anchor in
                min(nearest, abs(index - anchor) * (anchor == count - 1 ? 1 : 2))
            }
        }
        return (0..<count).sorted { (distances[$0], -$0) < (distances[$1], -$1) }
    }

    private static func parts(_ shown: [Bool]) -> [Part] {
        let count = shown.count
        var parts: [Part] = []
        var start = 0
        while start < count {
            let end = shown[start...].firstIndex { $0 != shown[start] } ?? count
            // A line that says that one is left out has no more room than that line.
            parts.append(shown[start] || end == start + 1 ? .lines(start..<end) : .left(end - start))
            start = end
        }
        return parts
    }

    private static func lines(of parts: [Part]) -> Int {
        parts.reduce(0) { sum, part in
            switch part {
            case .lines(let range): sum + range.count
            case .left: sum + 1
            }
        }
    }
}
