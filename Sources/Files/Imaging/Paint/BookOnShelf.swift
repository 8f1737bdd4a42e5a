/// One book in its place: its spine, its head or upper cover, and the side that shows where a neighbor is
/// lower.
struct BookOnShelf {
    private let placed: PlacedBook
    private let book: Book
    private let neighbor: PlacedBook?
    private let floor: Float
    private let ceiling: Float
    private let lampSide: Float
    /// The corner where both axes of the spine begin, and the axes themselves (unit vectors; u across, v
    /// down).
    private let origin: Point
    private let across: Point
    private let down: Point

    /// `neighbor` is the book on the lamp's side, which may throw its shadow on this one.
    init(_ placed: PlacedBook, neighbor: PlacedBook?, floor: Float, ceiling: Float, lampSide: Float) {
        self.placed = placed
        self.book = placed.book
        self.neighbor = neighbor
        self.floor = floor
        self.ceiling = ceiling
        self.lampSide = lampSide
        switch placed.pose {
        case .upright:
            self.across = Point(1, 0)
            self.down = Point(0, 1)
            self.origin = Point(placed.left, floor - placed.book.height)
        case .leaning(let slope):
            let cosine = 1 / (1 + slope * slope).squareRoot()
            let sine = slope * cosine
            // Turned about the lower left corner; the head goes left, the lower right corner lifts.
            self.across = Point(cosine, -sine)
            self.down = Point(sine, cosine)
            self.origin = Point(
                placed.left - sine * placed.book.height, floor - cosine * placed.book.height)
        case .lying(let above):
            self.across = Point(0, -1)
            self.down = Point(1, 0)
            self.origin = Point(placed.left, floor - above)
        }
    }

    func paint(
        onto film: Raster, scale: Float, in picture: PaintRandom, _ project: (Float, Float, Float) -> Point,
        _ lamp: (Float, Float) -> Float
    ) {
        let cover = SpineArt.cover(of: self.book, in: picture)
        self.paintDepth(onto: film, cover: cover, in: picture, project, lamp)
        self.paintSpine(onto: film, scale: scale, in: picture, project, lamp)
    }

    private func position(_ u: Float, _ v: Float) -> Point {
        Point(
            self.origin.x + self.across.x * u + self.down.x * v,
            self.origin.y + self.across.y * u + self.down.y * v)
    }

    // MARK: Head and sides

    /// The faces that run back from the spine, as far as the camera sees them.
    private func paintDepth(
        onto film: Raster, cover: Ink, in picture: PaintRandom, _ project: (Float, Float, Float) -> Point,
        _ lamp: (Float, Float) -> Float
    ) {
        let front = self.book.setback
        let back = front + self.book.depth
        let corners = [
            self.position(0, 0), self.position(self.book.width, 0),
            self.position(self.book.width, self.book.height),
            self.position(0, self.book.height),
        ]
        let paper = Ink(0xDCCFB2)
        let grain = Grain(picture.thing(.book, self.book.number).bits(.grain))
        // Edges in order: head, right cover, foot, left cover.
        for edge in 0..<4 {
            let from = corners[edge]
            let to = corners[(edge + 1) % 4]
            // Below is the board, or the next book.
            let isUnder = if case .lying = self.placed.pose { edge == 3 } else { edge == 2 }
            if isUnder { continue }
            // The outward normal of a clockwise outline (y down); a face shows if it turns towards the axis.
            let normal = Point(to.y - from.y, from.x - to.x)
            guard normal.x * from.x + normal.y * from.y < -0.05 else { continue }
            let isPaper = edge == 0 || edge == 2
            let facesLamp = normal.x * self.lampSide > 0.01
            let facesUp = normal.y < -0.5
            let exposure: Float = facesUp ? 0.55 : facesLamp ? 0.5 : 0.22
            let outline = [
                project(from.x, from.y, front), project(to.x, to.y, front), project(to.x, to.y, back),
                project(from.x, from.y, back),
            ]
            let light = lamp((from.x + to.x) / 2, (from.y + to.y) / 2)
            let near = outline[0]
            let far = outline[3]
            let span = Point(far.x - near.x, far.y - near.y)
            let squared = max(0.01, span.x * span.x + span.y * span.y)
            let side = Point(outline[1].x - near.x, outline[1].y - near.y)
            let sideSquared = max(0.01, side.x * side.x + side.y * side.y)
            film.fill(outline) { px, py in
                let inward = min(1, max(0, ((px - near.x) * span.x + (py - near.y) * span.y) / squared))
                let along = ((px - near.x) * side.x + (py - near.y) * side.y) / sideSquared
                let shade = exposure * light * (0.15 + 0.85 / (1 + inward * inward * 14))
                guard isPaper else { return cover.scaled(shade) }
                // Boards at both edges of the block, leaves between them.
                let fromCover = min(along, 1 - along) * self.book.width
                if fromCover < 0.16 { return cover.scaled(shade) }
                let leaves =
                    grain.smooth(along * self.book.width * 22, 0) * 0.16 + grain.smooth(
                        along * 40, inward * 2) * 0.05
                return paper.scaled(
                    shade * (0.82 + leaves)
                        * (self.book.binding == .hard ? smoothstep(-0.3, 0.12, inward) : 1))
            }
        }
    }

    // MARK: Spine

    private func paintSpine(
        onto film: Raster, scale: Float, in picture: PaintRandom, _ project: (Float, Float, Float) -> Point,
        _ lamp: (Float, Float) -> Float
    ) {
        let z = self.book.setback
        let start = project(self.origin.x, self.origin.y, z)
        let end = project(self.origin.x + 1, self.origin.y, z)
        // Pixels a centimeter at the spine's depth.
        let local = end.x - start.x
        let art = SpineArt.paint(self.book, scale: local, in: picture)
        let own = picture.thing(.book, self.book.number)
        let profile = SpineProfile(
            self.book, own, lampSide: self.lampSide, isLying: self.placed.isUpright == false)
        let outline = [
            self.position(0, 0), self.position(self.book.width, 0),
            self.position(self.book.width, self.book.height),
            self.position(0, self.book.height),
        ].map { project($0.x, $0.y, z) }
        film.fill(outline) { px, py in
            let offX = (px - start.x) / local
            let offY = (py - start.y) / local
            let u = offX * self.across.x + offY * self.across.y
            let v = offX * self.down.x + offY * self.down.y
            let x = self.origin.x + offX
            let y = self.origin.y + offY
            let light = lamp(x, y) * self.shadows(u: u, x: x, y: y)
            let gloss = profile.gloss(u: u, v: v)
            let ink = art.sample(u * local, v * local)
            let lit = ink.scaled(light * profile.diffuse(u: u, v: v))
            return Ink(
                red: lit.red + gloss * light, green: lit.green + gloss * light, blue: lit.blue + gloss * light
            )
        }
    }

    /// The shadows of the board above, of the neighbor, and of the board below where the book stands on it.
    private func shadows(u: Float, x: Float, y: Float) -> Float {
        let z = self.book.setback
        let fromCeiling = y - self.ceiling
        var light = 0.3 + 0.7 * smoothstep(z * 0.8 - 0.9, z * 0.8 + 1.6, fromCeiling)
        light *= 0.55 + 0.45 * smoothstep(0, 1.6, self.floor - y)
        if let neighbor = self.neighbor, neighbor.isUpright, self.placed.isUpright {
            let reach = (z - neighbor.book.setback) * 0.9
            if reach > 0.05, y > self.floor - neighbor.book.height + reach * 0.4 {
                let away = self.lampSide < 0 ? u : self.book.width - u
                light *= 1 - 0.55 * (1 - smoothstep(reach * 0.45, reach * 1.25 + 0.08, away))
            }
        }
        return light
    }
}

/// The brightness of a spine across its width.
struct SpineProfile {
    private let width: Float
    private let height: Float
    private let roundness: Float
    private let hinge: Float
    private let glossiness: Float
    private let highlight: Float
    private let grain: Grain
    private let isLying: Bool

    init(_ book: Book, _ own: PaintRandom, lampSide: Float, isLying: Bool) {
        self.width = book.width
        self.height = book.height
        self.grain = Grain(own.bits(.gloss, 1))
        self.isLying = isLying
        // Seen on its side the lamp stands over the spine, not beside it.
        self.highlight = isLying ? 0.68 : 0.5 + 0.22 * lampSide
        switch book.binding {
        case .hard:
            self.roundness = 0.62
            self.hinge = 0.5
            self.glossiness = own.real(0...0.09, .gloss)
        case .paper:
            self.roundness = 0.16
            self.hinge = 0.1
            self.glossiness = own.real(0.01...0.07, .gloss)
        case .leather:
            self.roundness = 0.8
            self.hinge = 0.35
            self.glossiness = own.real(0.01...0.05, .gloss)
        }
    }

    /// Matte light: brightest where the spine faces the lamp, dark in the gaps to the neighbors.
    func diffuse(u: Float, v: Float) -> Float {
        let share = u / self.width
        let turned = (share - self.highlight) * 1.5
        let rounded = 1 - self.roundness * turned * turned
        let edge = min(u, self.width - u)
        let gap = 0.25 + 0.75 * smoothstep(-0.04, 0.2 + self.roundness * 0.12, edge)
        // The groove of a hard cover, a little inside its edge.
        let fromGroove = (edge - 0.32) / 0.1
        let groove = 1 - self.hinge * 0.35 / (1 + fromGroove * fromGroove * 3)
        return max(0.05, rounded * gap * (self.width > 1.4 ? groove : 1))
    }

    /// The lamp's reflection, broken up along the spine.
    func gloss(u: Float, v: Float) -> Float {
        let off = (u / self.width - self.highlight) / 0.16
        let streak = 1 / (1 + off * off * off * off)
        let broken = 0.6 + 0.4 * self.grain.smooth(v * 0.25, u * 0.8)
        return self.glossiness * streak * max(0, broken)
    }
}
