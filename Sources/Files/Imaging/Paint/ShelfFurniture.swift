/// The bookcase: its wood, its boards and where the camera stands. Centimeters; x to the right and y down
/// from the axis of the camera, z away from it, 0 at the shelf's front edge.
struct ShelfFurniture {
    static let boardThickness: Float = 2
    static let cavityDepth: Float = 24
    static let panelThickness: Float = 2.2

    let wood: Ink
    let back: Ink
    let wall: Ink
    /// The strength of the wood's grain.
    let figure: Float
    /// The distance from the upper side of one board to the next.
    let pitch: Float
    /// The upper side of board 0.
    let firstBoard: Float
    /// The inner faces of the side panels; beyond the picture if none shows.
    let left: Float
    let right: Float

    private let grain: Grain

    init(_ picture: ShelfPicture, halfWidth: Float, halfHeight: Float) {
        let own = PaintRandom(seed: picture.seed).thing(.wood, 0)
        let woods: [(wood: UInt32, back: UInt32, figure: Float)] =
            switch picture.light {
            case .dark: [(0x6B4528, 0x573822, 0.5), (0x8A5F37, 0x6F4B2C, 0.45), (0x3A2A20, 0x30231B, 0.4)]
            case .normal:
                [
                    (0xA87B4A, 0x8F683F, 0.4), (0xC09A66, 0xA9875A, 0.35), (0x6B4528, 0x573822, 0.5),
                    (0xDAD5CA, 0xC9C4B8, 0.05),
                ]
            case .bright: [(0xECEAE4, 0xE2DFD8, 0.04), (0xD8BD92, 0xC8AE85, 0.13)]
            }
        let choice = own.one(of: woods, .furniture)
        self.wood = Ink(choice.wood)
        self.back = Ink(choice.back)
        self.figure = choice.figure
        self.wall = Ink(own.one(of: [0xD9D2C4, 0xC9CFD0, 0xB7BFAE, 0xCFC3B4], .tint))
        self.grain = Grain(own.bits(.grain))

        self.pitch = own.real(31.5...33.5, .height)
        let offset = own.real(-0.8...0.8, .offset)
        if picture.size.width >= picture.size.height {
            // One whole row in the middle.
            self.firstBoard = (self.pitch - Self.boardThickness) / 2 + offset
        } else {
            // A board near the middle: rows above and below it.
            self.firstBoard =
                (picture.size.height >= picture.size.width * 2 ? self.pitch * 0.46 : -1) + offset
        }
        // At most one side panel shows.
        let shown = own.whole(0...3, .panel)
        let inset = halfWidth - own.real(2.5...5.5, .panel, 1)
        self.left = shown == 0 ? -inset : -halfWidth - 30
        self.right = shown == 1 ? inset : halfWidth + 30
    }

    /// The boards whose rows can show, from the top: the number n has its upper side at `firstBoard + n *
    /// pitch`.
    func boards(halfHeight: Float) -> ClosedRange<Int> {
        let above = Int(((-halfHeight - self.firstBoard) / self.pitch).rounded(.down))
        let below = Int(((halfHeight - self.firstBoard) / self.pitch).rounded(.up))
        return above...max(above, below)
    }

    func boardTop(_ number: Int) -> Float { self.firstBoard + Float(number) * self.pitch }

    /// The lower side of the board above a row.
    func ceiling(_ number: Int) -> Float { self.boardTop(number) - self.pitch + Self.boardThickness }

    /// The wood of a board at a position along and across its fibers.
    func fibers(_ ink: Ink, along: Float, across: Float) -> Ink {
        let warp = self.grain.smooth(along * 0.03, across * 0.2) * 1.6
        let figure = self.grain.cloud(along * 0.045, across * 0.9 + warp)
        let pores = self.grain.smooth(along * 0.35, across * 14)
        return ink.scaled(1 + figure * self.figure + pores * self.figure * 0.22)
    }
}

/// The light in front of the shelf.
struct ShelfLamp {
    private let spot: Point
    private let reach: Float
    private let base: Float
    /// Which side the light comes from: -1 left, 1 right.
    let side: Float

    init(_ picture: ShelfPicture, halfWidth: Float, halfHeight: Float) {
        let own = PaintRandom(seed: picture.seed).thing(.camera, 1)
        self.side = own.happens(percent: 50, .light) ? -1 : 1
        self.spot = Point(
            self.side * halfWidth * own.real(0.3...0.9, .light, 1),
            -halfHeight * own.real(0.1...0.8, .light, 2))
        let size = max(halfWidth, halfHeight)
        switch picture.light {
        case .dark:
            self.reach = size * 0.75
            self.base = 0.2
        case .normal:
            self.reach = size * 1.25
            self.base = 0.5
        case .bright:
            self.reach = size * 1.3
            self.base = 0.65
        }
    }

    /// Returns the strength of the light on the front of the shelf.
    func strength(_ x: Float, _ y: Float) -> Float {
        let across = (x - self.spot.x) / self.reach
        let down = (y - self.spot.y) / self.reach
        return self.base + 1 / (1 + across * across + down * down)
    }
}
