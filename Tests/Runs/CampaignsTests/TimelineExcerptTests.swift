import Testing

@testable import Campaigns

struct TimelineExcerptTests {
    private static func shown(_ marks: [Int?], linesMax: Int) -> (lines: [Int], total: Int) {
        let excerpt = TimelineExcerpt(marks: marks, linesMax: linesMax)
        var lines: [Int] = []
        var total = 0
        var next = 0
        for part in excerpt.parts {
            switch part {
            case .lines(let range):
                #expect(range.lowerBound == next)
                lines += range
                total += range.count
                next = range.upperBound
            case .left(let count):
                #expect(count > 1)
                total += 1
                next += count
            }
        }
        #expect(next == marks.count)
        return (lines, total)
    }

    @Test func everythingIsShownWhereItHasRoom() {
        #expect(Self.shown(Array(repeating: nil, count: 9), linesMax: 9).lines == Array(0..<9))
        #expect(TimelineExcerpt(marks: [], linesMax: 5).parts.isEmpty)
    }

    @Test(arguments: [4, 8, 13, 20, 39]) func theRoomIsUsedAndNotExceeded(linesMax: Int) {
        var marks: [Int?] = Array(repeating: nil, count: 40)
        marks[17] = 0
        let (lines, total) = Self.shown(marks, linesMax: linesMax)
        #expect(total == linesMax)
        #expect(lines.first == 0 && lines.last == 39)
    }

    @Test func theFirstActOfEachFaultIsShownWithItsNeighbours() {
        var marks: [Int?] = Array(repeating: nil, count: 100)
        (marks[30], marks[60], marks[61], marks[70]) = (0, 1, 1, 0)
        let lines = Self.shown(marks, linesMax: 18).lines
        for line in [29, 30, 31, 59, 60, 61] { #expect(lines.contains(line)) }
        #expect(!lines.contains(70))
    }

    /// What leads to the violation says more than the beginning.
    @Test func theEndHasMoreRoomThanTheBeginning() {
        let lines = Self.shown(Array(repeating: nil, count: 100), linesMax: 20).lines
        #expect(lines.count { $0 > 50 } > 2 * lines.count { $0 < 50 })
    }
}
