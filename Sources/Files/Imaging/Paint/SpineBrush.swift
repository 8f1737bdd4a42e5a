/// Draws on the spine of one book, in centimeters: u across from the left, v down from the head.
struct SpineBrush {
    let raster: Raster
    /// Pixels a centimeter.
    let scale: Float
    let width: Float
    let height: Float

    init(width: Float, height: Float, scale: Float, ink: Ink) {
        self.scale = scale
        self.width = width
        self.height = height
        self.raster = Raster(
            width: max(1, Int((width * scale).rounded(.up))),
            height: max(1, Int((height * scale).rounded(.up))),
            ink: ink)
    }

    /// A rectangle across part of the spine.
    func box(u: ClosedRange<Float>, v: ClosedRange<Float>, _ ink: Ink, cover: Float = 1) {
        let low = Point(u.lowerBound * self.scale, v.lowerBound * self.scale)
        let high = Point(u.upperBound * self.scale, v.upperBound * self.scale)
        for row in Raster.span(low.y, high.y, self.raster.height) {
            let down = min(Float(row + 1), high.y) - max(Float(row), low.y)
            for column in Raster.span(low.x, high.x, self.raster.width) {
                let across = min(Float(column + 1), high.x) - max(Float(column), low.x)
                self.raster.lay(ink, column, row, cover: max(0, across) * max(0, down) * cover)
            }
        }
    }

    /// A stripe across the whole spine.
    func stripe(v: Float, thickness: Float, _ ink: Ink) {
        self.box(u: 0...self.width, v: v...(v + thickness), ink)
    }

    /// A ring, or a disc when `hole` is 0.
    func ring(u: Float, v: Float, radius: Float, hole: Float, _ ink: Ink) {
        let center = Point(u * self.scale, v * self.scale)
        let outer = radius * self.scale
        let inner = hole * self.scale
        for row in Raster.span(center.y - outer, center.y + outer, self.raster.height) {
            for column in Raster.span(center.x - outer, center.x + outer, self.raster.width) {
                let across = Float(column) + 0.5 - center.x
                let down = Float(row) + 0.5 - center.y
                let distance = (across * across + down * down).squareRoot()
                let cover = min(outer - distance, inner > 0 ? distance - inner : outer) + 0.5
                self.raster.lay(ink, column, row, cover: min(1, cover))
            }
        }
    }

    /// One line of text down the spine, centered across it, as large as fits. Returns where it ends.
    @discardableResult
    func textDown(
        _ text: String, v: ClosedRange<Float>, capMax: Float, _ font: StrokeFont, _ ink: Ink, centered: Bool
    ) -> Float {
        let units = max(1, font.width(of: text))
        let cap = min(capMax, (v.upperBound - v.lowerBound) / units * StrokeFont.gridHeight)
        let unit = cap / StrokeFont.gridHeight
        let spare = v.upperBound - v.lowerBound - units * unit
        let start = v.lowerBound + (centered ? spare / 2 : 0)
        let baseline = self.width / 2 - cap / 2
        self.draw(text, font, ink, unit: unit) { Point(baseline + $0.y * unit, start + $0.x * unit) }
        return start + units * unit
    }

    /// One line of text across the spine, its baseline at `v`, as large as fits. Returns its height.
    @discardableResult
    func textAcross(_ text: String, baseline v: Float, capMax: Float, _ font: StrokeFont, _ ink: Ink) -> Float
    {
        let units = max(1, font.width(of: text))
        let cap = min(capMax, self.width * 0.8 / units * StrokeFont.gridHeight)
        let unit = cap / StrokeFont.gridHeight
        let start = (self.width - units * unit) / 2
        self.draw(text, font, ink, unit: unit) { Point(start + $0.x * unit, v - $0.y * unit) }
        return cap
    }

    private func draw(
        _ text: String, _ font: StrokeFont, _ ink: Ink, unit: Float, position: (Point) -> Point
    ) {
        var pen: Float = 0
        for character in text {
            let glyph = font.glyph(character)
            let strokes = glyph.strokes.map { stroke in
                let from = position(Point(stroke.from.x + pen, stroke.from.y))
                let to = position(Point(stroke.to.x + pen, stroke.to.y))
                return StrokeFont.Stroke(
                    from: Point(from.x * self.scale, from.y * self.scale),
                    to: Point(to.x * self.scale, to.y * self.scale),
                    halfWidth: max(0.35, stroke.halfWidth * unit * self.scale))
            }
            self.lay(strokes, ink)
            pen += glyph.width + font.tracking
        }
    }

    /// The strokes of one letter, which may cross without darkening each other.
    private func lay(_ strokes: [StrokeFont.Stroke], _ ink: Ink) {
        guard let first = strokes.first else { return }
        var low = first.from
        var high = first.from
        for stroke in strokes {
            let reach = stroke.halfWidth
            low.x = min(low.x, min(stroke.from.x, stroke.to.x) - reach)
            low.y = min(low.y, min(stroke.from.y, stroke.to.y) - reach)
            high.x = max(high.x, max(stroke.from.x, stroke.to.x) + reach)
            high.y = max(high.y, max(stroke.from.y, stroke.to.y) + reach)
        }
        for row in Raster.span(low.y, high.y, self.raster.height) {
            for column in Raster.span(low.x, high.x, self.raster.width) {
                var cover: Float = 0
                for stroke in strokes {
                    let distance = Self.distance(Float(column) + 0.5, Float(row) + 0.5, stroke)
                    cover = max(cover, stroke.halfWidth - distance + 0.5)
                }
                self.raster.lay(ink, column, row, cover: min(1, cover))
            }
        }
    }

    private static func distance(_ x: Float, _ y: Float, _ stroke: StrokeFont.Stroke) -> Float {
        let across = stroke.to.x - stroke.from.x
        let down = stroke.to.y - stroke.from.y
        let squared = across * across + down * down
        let toX = x - stroke.from.x
        let toY = y - stroke.from.y
        let along = squared > 0 ? min(1, max(0, (toX * across + toY * down) / squared)) : 0
        let offX = toX - across * along
        let offY = toY - down * along
        return (offX * offX + offY * offY).squareRoot()
    }
}
