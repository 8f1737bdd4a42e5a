/// The shelf as it stands before the camera, photographed onto a film a little larger than the picture.
struct ShelfScene {
    /// The margin for turning and cropping by the camera model, as a share of the picture's sides.
    static let margin: Float = 0.1

    private let random: PaintRandom
    private let halfWidth: Float
    private let halfHeight: Float
    /// Pixels a centimeter at the shelf's front edge.
    private let scale: Float
    private let distance: Float
    private let furniture: ShelfFurniture
    private let lamp: ShelfLamp
    private let film: Raster
    private let center: Point

    init(_ picture: ShelfPicture) {
        self.random = PaintRandom(seed: picture.seed)
        let size = picture.size
        let camera = self.random.thing(.camera, 0)
        // Centimeters from side to side.
        let widthSeen: Float =
            size.width >= size.height
            ? camera.real(60...67, .width)
            : size.height >= size.width * 2 ? camera.real(41...45, .width) : camera.real(49...54, .width)
        self.scale = Float(size.width) / widthSeen
        self.distance = camera.real(75...95, .distance)
        self.film = Raster(
            width: Int(Float(size.width) * (1 + Self.margin)),
            height: Int(Float(size.height) * (1 + Self.margin)),
            ink: .black)
        self.center = Point(Float(self.film.width) / 2, Float(self.film.height) / 2)
        self.halfWidth = self.center.x / self.scale
        self.halfHeight = self.center.y / self.scale
        self.furniture = ShelfFurniture(picture, halfWidth: self.halfWidth, halfHeight: self.halfHeight)
        self.lamp = ShelfLamp(picture, halfWidth: self.halfWidth, halfHeight: self.halfHeight)
    }

    func photograph() -> Raster {
        let boards = self.furniture.boards(halfHeight: self.halfHeight)
        for board in boards { self.cavity(above: board) }
        for board in boards { self.books(on: board, row: board - boards.lowerBound) }
        for board in (boards.lowerBound - 1)...boards.upperBound { self.boardEdge(board) }
        self.panels()
        return self.film
    }

    // MARK: Projection

    private func project(_ x: Float, _ y: Float, _ z: Float) -> Point {
        let share = self.distance / (self.distance + z) * self.scale
        return Point(self.center.x + x * share, self.center.y + y * share)
    }

    /// How deep a ray reaches a plane at `plane` when it passes the front at `front`, both measured from the
    /// axis.
    private func depth(front: Float, plane: Float) -> Float {
        guard front * plane > 0 else { return .infinity }
        let z = self.distance * (plane / front - 1)
        return z >= 0 ? z : .infinity
    }

    private func quad(_ corners: [(Float, Float, Float)]) -> [Point] {
        corners.map { self.project($0.0, $0.1, $0.2) }
    }

    /// The position on the front plane that a pixel shows.
    private func front(_ px: Float, _ py: Float) -> Point {
        Point((px - self.center.x) / self.scale, (py - self.center.y) / self.scale)
    }

    // MARK: Furniture

    /// The inside of a row: back wall, the board below, the board above, the side panels.
    private func cavity(above board: Int) {
        let floor = self.furniture.boardTop(board)
        let ceiling = self.furniture.ceiling(board)
        let left = self.furniture.left
        let right = self.furniture.right
        let corners = self.quad([
            (-self.halfWidth - 1, ceiling, 0), (self.halfWidth + 1, ceiling, 0),
            (self.halfWidth + 1, floor, 0),
            (-self.halfWidth - 1, floor, 0),
        ])
        self.film.fill(corners) { px, py in
            let front = self.front(px, py)
            if front.x < left - ShelfFurniture.panelThickness
                || front.x > right + ShelfFurniture.panelThickness
            {
                return .black  // The room's wall is painted over it.
            }
            let toFloor = self.depth(front: front.y, plane: floor)
            let toCeiling = self.depth(front: front.y, plane: ceiling)
            let toSide = min(
                self.depth(front: front.x, plane: left), self.depth(front: front.x, plane: right))
            let z = min(min(toFloor, toCeiling), min(toSide, ShelfFurniture.cavityDepth))
            let spread = (self.distance + z) / self.distance
            let x = front.x * spread
            let y = front.y * spread
            let light = self.lamp.strength(x, y)
            // Corners are darker: distance to the nearest other face.
            let corner =
                smoothstep(-2, 7, min(y - ceiling, floor - y)) * smoothstep(-3, 5, min(x - left, right - x))
            if z == toFloor {
                let falloff = 1 / (1 + z * z / 18)
                return self.furniture.fibers(self.furniture.wood, along: x, across: z)
                    .scaled(light * (0.1 + 0.75 * falloff))
            }
            if z == toCeiling {
                return self.furniture.fibers(self.furniture.wood, along: x, across: z + 40)
                    .scaled(light * 0.2 * (1 - z / ShelfFurniture.cavityDepth * 0.6))
            }
            if z == toSide {
                let lit: Float = (x > 0) == (self.lamp.side < 0) ? 0.6 : 0.28
                return self.furniture.fibers(self.furniture.wood, along: y, across: z + 80)
                    .scaled(light * lit / (1 + z * z / 160) * (0.4 + 0.6 * corner))
            }
            return self.furniture.fibers(self.furniture.back, along: x, across: y)
                .scaled(light * (0.05 + 0.22 * corner))
        }
    }

    private func boardEdge(_ board: Int) {
        let top = self.furniture.boardTop(board)
        let bottom = top + ShelfFurniture.boardThickness
        let left = max(-self.halfWidth - 1, self.furniture.left)
        let right = min(self.halfWidth + 1, self.furniture.right)
        let corners = self.quad([(left, top, 0), (right, top, 0), (right, bottom, 0), (left, bottom, 0)])
        self.film.fill(corners) { px, py in
            let position = self.front(px, py)
            let down = position.y - top
            // A worn upper edge catches the light, the lower one turns away.
            let bevel =
                1 + 0.35 * (1 - smoothstep(0.02, 0.18, down))
                - 0.4 * smoothstep(ShelfFurniture.boardThickness - 0.2, ShelfFurniture.boardThickness, down)
            return self.furniture.fibers(
                self.furniture.wood, along: position.x, across: down + Float(board) * 7
            )
            .scaled(self.lamp.strength(position.x, position.y) * 0.92 * bevel)
        }
    }

    /// The front faces of the side panels and the room beyond them.
    private func panels() {
        for (inner, outward) in [(self.furniture.left, -1), (self.furniture.right, 1)] as [(Float, Float)] {
            guard abs(inner) < self.halfWidth + 1 else { continue }
            let outer = inner + outward * ShelfFurniture.panelThickness
            let edge = outward * (self.halfWidth + 1)
            let tall = self.halfHeight + 1
            self.film.fill(
                self.quad([(outer, -tall, 0), (edge, -tall, 0), (edge, tall, 0), (outer, tall, 0)])
            ) { px, py in
                let position = self.front(px, py)
                let away = abs(position.x - outer)
                let shadow = 0.35 + 0.65 * smoothstep(0, 5, away)
                return self.furniture.wall.scaled(self.lamp.strength(position.x, position.y) * 0.6 * shadow)
            }
            self.film.fill(
                self.quad([(inner, -tall, 0), (outer, -tall, 0), (outer, tall, 0), (inner, tall, 0)])
            ) { px, py in
                let position = self.front(px, py)
                let across = abs(position.x - inner)
                let bevel = 1 + 0.25 * (1 - smoothstep(0.02, 0.15, across))
                return self.furniture.fibers(self.furniture.wood, along: position.y, across: across + 120)
                    .scaled(self.lamp.strength(position.x, position.y) * 0.9 * bevel)
            }
        }
    }

    // MARK: Books

    /// Paints a row from the outside in, since what is nearer the camera's axis hides the sides of what is
    /// not.
    private func books(on board: Int, row: Int) {
        let left = max(-self.halfWidth - 6, self.furniture.left + 0.2)
        let right = min(self.halfWidth + 6, self.furniture.right - 0.2)
        let standing = BookRow(row: row, from: left, to: right - 2, in: self.random)
        let distances = standing.books.map { abs($0.groupCenter) }
        let order = standing.books.indices.sorted { first, second in
            distances[first] != distances[second] ? distances[first] > distances[second] : first < second
        }
        // What stands on another board is behind the edges of this row's boards.
        let floor = self.furniture.boardTop(board)
        let ceiling = self.furniture.ceiling(board)
        self.film.window = self.project(0, ceiling, 0).y...self.project(0, floor, 0).y
        defer { self.film.window = 0...Float.greatestFiniteMagnitude }
        for index in order {
            let placed = standing.books[index]
            guard placed.right < right + 0.5 else { continue }
            let neighborIndex = index + Int(self.lamp.side)
            let neighbor =
                standing.books.indices.contains(neighborIndex) ? standing.books[neighborIndex] : nil
            BookOnShelf(
                placed, neighbor: neighbor, floor: floor, ceiling: ceiling, lampSide: self.lamp.side
            ).paint(onto: self.film, scale: self.scale, in: self.random, self.project, self.lamp.strength)
        }
    }
}
