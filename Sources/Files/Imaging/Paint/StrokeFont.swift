/// Capitals, digits and a few signs as strokes, drawn by us: every letter is a few lines on a grid 12 units
/// high.
struct StrokeFont {
    /// Half the width of an upright stroke, in grid units.
    let weight: Float
    /// A level stroke's width as a share of an upright one's: below 1 for book faces.
    let levelShare: Float
    /// Width of the letters, 1 for the grid's own.
    let stretch: Float
    let hasSerifs: Bool
    /// Between letters, in grid units.
    let tracking: Float

    static let gridHeight: Float = 12

    /// The faces on a shelf.
    static let all: [StrokeFont] = [
        StrokeFont(weight: 0.85, levelShare: 0.95, stretch: 0.9, hasSerifs: false, tracking: 3.2),
        StrokeFont(weight: 1.25, levelShare: 0.9, stretch: 0.82, hasSerifs: false, tracking: 3.6),
        StrokeFont(weight: 0.95, levelShare: 0.9, stretch: 0.55, hasSerifs: false, tracking: 2.9),
        StrokeFont(weight: 0.95, levelShare: 0.45, stretch: 0.95, hasSerifs: true, tracking: 4.2),
        StrokeFont(weight: 1.15, levelShare: 0.4, stretch: 0.85, hasSerifs: true, tracking: 4.2),
        StrokeFont(weight: 0.6, levelShare: 0.8, stretch: 1.05, hasSerifs: false, tracking: 5.5),
    ]

    struct Stroke {
        let from: Point
        let to: Point
        let halfWidth: Float
    }

    struct Glyph {
        let strokes: [Stroke]
        let width: Float
    }

    /// A letter in grid units, its baseline at y 0, y upwards. Unknown signs are spaces.
    func glyph(_ character: Character) -> Glyph {
        guard let shape = Self.shapes[character] else { return Glyph(strokes: [], width: 3 * self.stretch) }
        var strokes: [Stroke] = []
        var width: Float = 0
        for line in shape {
            let points = Self.points(of: line).map { Point($0.x * self.stretch, $0.y) }
            for (from, to) in zip(points, points.dropFirst()) {
                strokes.append(self.stroke(from, to))
            }
            for point in points { width = max(width, point.x) }
            if self.hasSerifs { strokes += self.serifs(of: points) }
        }
        return Glyph(strokes: strokes, width: width)
    }

    /// The width of a line of text in grid units.
    func width(of text: String) -> Float {
        let widths = text.map { self.glyph($0).width + self.tracking }
        return max(0, widths.reduce(0, +) - self.tracking)
    }

    private func stroke(_ from: Point, _ to: Point) -> Stroke {
        let across = to.x - from.x
        let up = to.y - from.y
        let length = max(0.001, (across * across + up * up).squareRoot())
        let upright = abs(up) / length
        let share = self.levelShare + (1 - self.levelShare) * upright
        return Stroke(from: from, to: to, halfWidth: self.weight * share)
    }

    /// Short level strokes where a line ends upright on the baseline or at the top.
    private func serifs(of points: [Point]) -> [Stroke] {
        guard points.count > 1 else { return [] }
        let ends = [(points[0], points[1]), (points[points.count - 1], points[points.count - 2])]
        return ends.compactMap { end, before in
            guard end.y == 0 || end.y == Self.gridHeight, abs(before.y - end.y) > abs(before.x - end.x) else {
                return nil
            }
            let reach = self.weight + 0.9
            return Stroke(
                from: Point(end.x - reach, end.y), to: Point(end.x + reach, end.y),
                halfWidth: self.weight * self.levelShare * 0.8)
        }
    }

    /// A line is pairs of hexadecimal digits, x then y. "~" rounds its corners, "o" also closes it.
    private static func points(of line: String) -> [Point] {
        let digits = line.compactMap(\.hexDigitValue)
        var points = stride(from: 0, to: digits.count - 1, by: 2).map {
            Point(Float(digits[$0]), Float(digits[$0 + 1]))
        }
        guard let mark = line.first, mark == "~" || mark == "o" else { return points }
        for _ in 0..<3 { points = Self.rounded(points, closed: mark == "o") }
        if mark == "o" { points.append(points[0]) }
        return points
    }

    /// One round of Chaikin's corner cutting.
    private static func rounded(_ points: [Point], closed: Bool) -> [Point] {
        var result: [Point] = closed ? [] : [points[0]]
        for index in 0..<(closed ? points.count : points.count - 1) {
            let from = points[index]
            let to = points[(index + 1) % points.count]
            result.append(Point(from.x * 0.75 + to.x * 0.25, from.y * 0.75 + to.y * 0.25))
            result.append(Point(from.x * 0.25 + to.x * 0.75, from.y * 0.25 + to.y * 0.75))
        }
        if closed == false { result.append(points[points.count - 1]) }
        return result
    }

    private static let shapes: [Character: [String]] = [
        "A": ["004C80", "1474"], "B": ["000C", "~0C7C7707", "~07878000"], "C": ["~8A8C0C008082"],
        "D": ["000C", "~0C8C8000"], "E": ["8C0C0080", "0767"], "F": ["8C0C00", "0767"],
        "G": ["~8A8C0C008085", "4585"], "H": ["000C", "808C", "0686"], "I": ["000C"], "J": ["~6C600003"],
        "K": ["000C", "8C05", "3780"], "L": ["0C0070"], "M": ["000C53ACA0"], "N": ["000C808C"],
        "O": ["o0C8C8000"], "P": ["000C", "~0C8C8606"], "Q": ["o0C8C8000", "5381"],
        "R": ["000C", "~0C8C8606", "3680"], "S": ["~8A8C0C0686800002"], "T": ["0C8C", "404C"],
        "U": ["~0C00808C"], "V": ["0C408C"], "W": ["0C307AB0EC"], "X": ["008C", "0C80"],
        "Y": ["0C468C", "4640"], "Z": ["0C8C0080"],
        "0": ["o0C7C7000"], "1": ["093C30"], "2": ["~0A0C8C8700", "0080"],
        "3": ["~0A0C8C8747", "~4787800002"],
        "4": ["606C0383"], "5": ["7C0C07", "~0787800002"], "6": ["~8B0C0080870704"], "7": ["0C8C30"],
        "8": ["o1C7C7616", "o07878000"], "9": ["~01808C0C058588"],
        "&": ["~801A3C6C6A06005085"], ".": ["0001"], "-": ["0656"], "'": ["0C0A"],
    ]
}
