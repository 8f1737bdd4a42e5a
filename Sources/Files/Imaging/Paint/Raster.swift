/// A picture of light: linear red, green and blue a pixel.
@safe final class Raster {
    let width: Int
    let height: Int
    private let values: UnsafeMutablePointer<Float>

    /// Filled with one color.
    init(width: Int, height: Int, ink: Ink) {
        precondition(width > 0 && height > 0, "a raster has at least one pixel")
        self.width = width
        self.height = height
        unsafe self.values = .allocate(capacity: width * height * 3)
        for index in 0..<(width * height) {
            unsafe (self.values + index * 3).initialize(to: ink.red)
            unsafe (self.values + index * 3 + 1).initialize(to: ink.green)
            unsafe (self.values + index * 3 + 2).initialize(to: ink.blue)
        }
    }

    deinit { unsafe self.values.deallocate() }

    subscript(x: Int, y: Int) -> Ink {
        get {
            assert(x >= 0 && x < self.width && y >= 0 && y < self.height)
            let pixel = unsafe self.values + (y * self.width + x) * 3
            return unsafe Ink(red: pixel[0], green: pixel[1], blue: pixel[2])
        }
        set {
            assert(x >= 0 && x < self.width && y >= 0 && y < self.height)
            let pixel = unsafe self.values + (y * self.width + x) * 3
            unsafe pixel[0] = newValue.red
            unsafe pixel[1] = newValue.green
            unsafe pixel[2] = newValue.blue
        }
    }

    /// Lays a color over a pixel. `cover` 0 to 1.
    func lay(_ ink: Ink, _ x: Int, _ y: Int, cover: Float) {
        guard cover > 0 else { return }
        self[x, y] = cover >= 1 ? ink : self[x, y].mixed(ink, cover)
    }

    /// The color between pixels; (0.5, 0.5) is the center of the first. Beyond the edge, the edge.
    func sample(_ x: Float, _ y: Float) -> Ink {
        let across = min(max(x - 0.5, 0), Float(self.width - 1))
        let down = min(max(y - 0.5, 0), Float(self.height - 1))
        let column = Int(across)
        let row = Int(down)
        let nextColumn = min(column + 1, self.width - 1)
        let nextRow = min(row + 1, self.height - 1)
        let above = self[column, row].mixed(self[nextColumn, row], across - Float(column))
        let below = self[column, nextRow].mixed(self[nextColumn, nextRow], across - Float(column))
        return above.mixed(below, down - Float(row))
    }

    /// The rows that `fill` may touch, as fractions of pixels from the top; all of them unless set.
    var window: ClosedRange<Float> = 0...Float.greatestFiniteMagnitude

    /// Fills a convex polygon, antialiased; `shade` gives the color at the center of each pixel it touches.
    func fill(_ corners: [Point], _ shade: (Float, Float) -> Ink) {
        let edges = Self.edges(of: corners)
        guard let first = corners.first, edges.isEmpty == false else { return }
        var low = first
        var high = first
        for corner in corners {
            low = Point(min(low.x, corner.x), min(low.y, corner.y))
            high = Point(max(high.x, corner.x), max(high.y, corner.y))
        }
        let columns = Self.span(low.x, high.x, self.width)
        for row in Self.span(
            max(low.y, self.window.lowerBound), min(high.y, self.window.upperBound), self.height)
        {
            let y = Float(row) + 0.5
            guard self.window.contains(y) else { continue }
            for column in columns {
                let x = Float(column) + 0.5
                var inside: Float = 1
                for edge in edges { inside = min(inside, edge.0 * x + edge.1 * y + edge.2 + 0.5) }
                if inside > 0 { self.lay(shade(x, y), column, row, cover: inside) }
            }
        }
    }

    /// The whole pixels between two positions, within the raster.
    static func span(_ low: Float, _ high: Float, _ size: Int) -> Range<Int> {
        let start = min(max(Int((low - 1).rounded(.down)), 0), size)
        let end = min(max(Int((high + 1).rounded(.up)), 0), size)
        return start..<max(start, end)
    }

    /// Returns, for each edge, the signed distance from it as (a, b, c) of ax + by + c, positive inside.
    private static func edges(of corners: [Point]) -> [(Float, Float, Float)] {
        var doubledArea: Float = 0
        for (index, corner) in corners.enumerated() {
            let next = corners[(index + 1) % corners.count]
            doubledArea += corner.x * next.y - next.x * corner.y
        }
        guard abs(doubledArea) > 0.01 else { return [] }
        let side: Float = doubledArea > 0 ? 1 : -1
        return corners.enumerated().compactMap { index, corner in
            let next = corners[(index + 1) % corners.count]
            let across = next.x - corner.x
            let down = next.y - corner.y
            let length = (across * across + down * down).squareRoot()
            guard length > 0 else { return nil }
            let a = -down / length * side
            let b = across / length * side
            return (a, b, -(a * corner.x + b * corner.y))
        }
    }
}

/// A position in a picture, in pixels or in centimeters, as its owner says.
struct Point {
    var x: Float
    var y: Float

    init(_ x: Float, _ y: Float) {
        self.x = x
        self.y = y
    }
}
