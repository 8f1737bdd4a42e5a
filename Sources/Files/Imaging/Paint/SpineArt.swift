/// The print on a spine: colors, bands, labels, title, author, the publisher's logo, wear.
struct SpineArt {
    private let book: Book
    private let shared: PaintRandom
    private let own: PaintRandom
    private let brush: SpineBrush
    private let colors: BookColors
    private let font: StrokeFont
    private let title: String
    private let author: String

    /// Paints the spine at `scale` pixels a centimeter, flat and evenly lit.
    static func paint(_ book: Book, scale: Float, in picture: PaintRandom) -> Raster {
        let art = SpineArt(book, scale: scale, picture)
        art.print()
        art.age()
        return art.brush.raster
    }

    /// The color of the boards, which shows at a book's side.
    static func cover(of book: Book, in picture: PaintRandom) -> Ink {
        picture.thing(.design, book.design).one(of: BookColors.all, .colors).cover
    }

    private init(_ book: Book, scale: Float, _ picture: PaintRandom) {
        self.book = book
        self.shared = picture.thing(.design, book.design)
        self.own = picture.thing(.book, book.number)
        self.colors = self.shared.one(of: BookColors.all, .colors)
        self.font = self.shared.one(of: StrokeFont.all, .typeface)
        self.title = BookTitles.title(book.volume == nil ? self.own : self.shared)
        self.author = BookTitles.author(self.shared)
        self.brush = SpineBrush(width: book.width, height: book.height, scale: scale, ink: self.colors.cover)
    }

    private func print() {
        if self.book.binding == .leather { return self.leather() }
        switch self.shared.whole(0...7, .design) {
        case 0: self.classic()
        case 1: self.authorFirst()
        case 2: self.label()
        case 3: self.twoTone()
        case 4: self.striped()
        case 5 where self.book.width > 3: self.stacked()
        case 6: self.pictured()
        default: self.plain()
        }
        if let volume = self.book.volume {
            let cap = min(0.75, self.book.width * 0.4)
            self.brush.textAcross(
                "\(volume)", baseline: self.book.height - 0.75, capMax: cap, self.font, self.colors.letters)
        }
    }

    private var capMax: Float { self.book.width * self.shared.real(0.28...0.46, .capHeight) }

    /// A color that contrasts with the accent: the color of the letters, otherwise black or paper.
    private var inkOnAccent: Ink {
        let accent = self.colors.accent.luma.squareRoot()
        if abs(accent - self.colors.letters.luma.squareRoot()) > 0.3 { return self.colors.letters }
        return accent > 0.5 ? Ink(0x1C1A18) : Ink(0xF0EADB)
    }

    private func down(
        _ text: String, _ from: Float, _ to: Float, share: Float = 1, _ ink: Ink? = nil, centered: Bool = true
    ) {
        // The sign or the volume's number stands at the foot.
        let foot = self.book.height - 2
        self.brush.textDown(
            text, v: (self.book.height * from)...min(self.book.height * to, foot),
            capMax: self.capMax * share,
            self.font,
            ink ?? self.colors.letters, centered: centered)
    }

    private func sign() {
        guard self.book.volume == nil else { return }
        let radius = min(0.42, self.book.width * 0.2)
        let v = self.book.height - 0.9 - radius
        switch self.shared.whole(0...3, .logo) {
        case 0:
            self.brush.ring(
                u: self.book.width / 2, v: v, radius: radius, hole: radius * 0.66, self.colors.letters)
        case 1:
            self.brush.ring(u: self.book.width / 2, v: v, radius: radius, hole: 0, self.colors.accent)
        case 2:
            let u = self.book.width / 2
            self.brush.box(
                u: (u - radius)...(u + radius), v: (v - radius)...(v + radius), self.colors.letters)
            self.brush.ring(u: u, v: v, radius: radius * 0.55, hole: 0, self.colors.cover)
        default:
            self.brush.textAcross(
                String(self.author.suffix(1)), baseline: v + radius, capMax: radius * 1.7, self.font,
                self.colors.letters)
        }
    }

    private func classic() {
        self.down(self.title, 0.08, 0.62)
        self.down(self.author, 0.66, 0.88, share: 0.68)
        self.sign()
    }

    private func authorFirst() {
        self.down(self.author, 0.05, 0.34, share: 0.8, self.colors.accent, centered: false)
        self.down(self.title, 0.37, 0.88, centered: false)
        self.sign()
    }

    private func label() {
        let height = self.book.height
        let from = height * 0.12
        let to = height * 0.6
        self.brush.box(u: 0...self.book.width, v: from...to, self.colors.accent)
        self.brush.stripe(v: from + 0.14, thickness: 0.07, self.colors.letters)
        self.brush.stripe(v: to - 0.21, thickness: 0.07, self.colors.letters)
        // Letters must stand out from the label too.
        let ink = self.inkOnAccent
        self.down(self.title, 0.15, 0.57, share: 0.95, ink)
        self.down(self.author, 0.66, 0.87, share: 0.7)
        self.sign()
    }

    private func twoTone() {
        let share = self.shared.real(0.22...0.4, .capHeight, 1)
        self.brush.box(u: 0...self.book.width, v: 0...(self.book.height * share), self.colors.accent)
        let ink = self.inkOnAccent
        self.down(self.author, 0.03, share - 0.02, share: 0.75, ink)
        self.down(self.title, share + 0.03, 0.89)
        self.sign()
    }

    private func striped() {
        let height = self.book.height
        let stripes: [(v: Float, thickness: Float)] = [
            (0.035, 0.45), (0.065, 0.09), (0.93, 0.09), (0.945, 0.45),
        ]
        // A volume's number takes the place of the stripes at the foot.
        for (v, thickness) in stripes.prefix(self.book.volume == nil ? 4 : 2) {
            self.brush.stripe(v: height * v, thickness: thickness, self.colors.accent)
        }
        self.down(self.title, 0.1, 0.6)
        self.down(self.author, 0.64, 0.9, share: 0.7, self.colors.accent)
    }

    private func stacked() {
        var baseline = self.book.height * 0.07
        for word in self.title.split(separator: " ") {
            let cap = min(self.book.width * 0.24, 0.95)
            baseline += cap
            self.brush.textAcross(
                String(word), baseline: baseline, capMax: cap, self.font, self.colors.letters)
            baseline += cap * 0.55
        }
        self.brush.stripe(v: baseline, thickness: 0.08, self.colors.accent)
        self.down(self.author, baseline / self.book.height + 0.05, 0.86, share: 0.62)
        self.sign()
    }

    /// A jacket whose picture runs around the spine.
    private func pictured() {
        let raster = self.brush.raster
        let grain = Grain(self.shared.bits(.texture))
        let zoom = 1 / (self.brush.scale * 3.1)
        for y in 0..<raster.height {
            let fade = smoothstep(0.1, 0.95, Float(y) / Float(raster.height))
            for x in 0..<raster.width {
                let cloud = grain.cloud(Float(x) * zoom, Float(y) * zoom * 0.7)
                let share = min(1, max(0, fade * 0.7 + cloud * 0.5))
                raster[x, y] = self.colors.cover.mixed(self.colors.accent, share)
            }
        }
        // A veil behind the letters keeps them readable, as designers do.
        self.brush.box(
            u: (self.book.width * 0.12)...(self.book.width * 0.88),
            v: (self.book.height * 0.06)...(self.book.height * 0.64),
            self.colors.cover, cover: 0.55)
        self.down(self.title, 0.08, 0.62)
        self.down(self.author, 0.68, 0.88, share: 0.7)
        self.sign()
    }

    private func plain() {
        self.down(self.title, 0.06, 0.58, centered: false)
        self.down(self.author, 0.62, 0.89, share: 0.66, centered: false)
        self.sign()
    }

    private func leather() {
        let gilt = Ink(0xC9A55A)
        let height = self.book.height
        let dark = self.colors.cover.luma < 0.2 ? self.colors.cover : Ink(0x5A2E1C)
        self.brush.box(u: 0...self.book.width, v: 0...height, dark)
        let bands: [Float] = [0.1, 0.26, 0.44, 0.62, 0.8]
        for compartment in [1, 3] {
            self.brush.box(
                u: 0...self.book.width,
                v: (height * bands[compartment - 1] + 0.35)...(height * bands[compartment] - 0.1),
                compartment == 1 ? Ink(0x6E1616) : Ink(0x1C2B22))
        }
        for band in bands {
            let v = height * band
            // A ridge: light above, shade below.
            self.brush.stripe(v: v - 0.02, thickness: 0.12, dark.mixed(Ink(0xFFFFFF), 0.2))
            self.brush.stripe(v: v + 0.1, thickness: 0.13, dark)
            self.brush.stripe(v: v + 0.23, thickness: 0.1, dark.scaled(0.3))
            self.brush.stripe(v: v - 0.12, thickness: 0.05, gilt)
            self.brush.stripe(v: v + 0.37, thickness: 0.05, gilt)
        }
        self.words(self.title, between: bands[0], and: bands[1], gilt)
        self.words(self.author, between: bands[2], and: bands[3], gilt)
        if let volume = self.book.volume {
            self.brush.textAcross("\(volume)", baseline: height * 0.74, capMax: 0.6, self.font, gilt)
        }
    }

    /// Words below each other in one compartment.
    private func words(_ text: String, between top: Float, and bottom: Float, _ ink: Ink) {
        let words = text.split(separator: " ")
        let from = self.book.height * top + 0.5
        let room = self.book.height * bottom - 0.2 - from
        let line = min(0.8, room / Float(words.count))
        var baseline = from + (room - line * Float(words.count)) / 2
        for word in words {
            baseline += line * 0.78
            self.brush.textAcross(String(word), baseline: baseline, capMax: line * 0.62, self.font, ink)
            baseline += line * 0.22
        }
    }

    /// Cloth, scuffs at the ends, creases and yellowing.
    private func age() {
        let raster = self.brush.raster
        let grain = Grain(self.own.bits(.texture))
        let wear = self.own.real(0...1, .wear)
        let cloth: Float =
            self.book.binding == .hard && self.shared.happens(percent: 45, .texture, 1) ? 0.1 : 0.025
        let creases = self.book.binding == .paper && wear > 0.45 ? self.own.whole(1...3, .crease) : 0
        let positions = (0..<creases).map {
            self.own.real(0.15...0.85, .crease, $0 + 1) * Float(raster.width)
        }
        let paper = Ink(0xE8DFC8)
        let end = 0.35 * self.brush.scale
        for y in 0..<raster.height {
            let fromEnd = min(Float(y), Float(raster.height - 1 - y))
            for x in 0..<raster.width {
                let fleck = grain.value(Int32(x), Int32(y)) - 0.5
                let blotch = grain.cloud(Float(x) * 0.03, Float(y) * 0.012)
                var ink = raster[x, y].scaled(1 + fleck * cloth + blotch * 0.09)
                let scuff = (1 - smoothstep(0, end * (0.4 + wear), fromEnd)) * wear
                ink = ink.mixed(
                    paper, scuff * 0.35 * smoothstep(-0.2, 0.9, grain.cloud(Float(x) * 0.12, Float(y) * 0.12))
                )
                for position in positions {
                    let waver = grain.smooth(Float(y) * 0.02, position) * 2
                    let distance = abs(Float(x) - position - waver)
                    if distance < 1.2 { ink = ink.mixed(paper, 0.18 * wear * (1 - distance / 1.2)) }
                }
                raster[x, y] = ink
            }
        }
    }
}
