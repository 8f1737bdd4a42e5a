import Imaging
import Plan
import RunDriver
import RunJudge

/// `images make`: a corpus of synthetic photos.
enum ImagesMakeCommand {
    private static let countDefault = 8

    static let command = Command(
        name: "images make", usage: "DIR",
        summary: "Generates synthetic photos of bookshelves; the same seed gives the same photos",
        options: [
            Option(name: "--count", value: "N", help: "number of photos (default: \(Self.countDefault))"),
            Option(name: "--seed", value: "N", help: "seed of the photos (default: 1)"),
            Option(
                name: "--size", value: "WxH",
                help: "size of every photo in pixels (default: the sizes of phone cameras)"),
        ],
        positionalsMin: 1, positionalsMax: 1,
        isTool: true,
        example: "swiftwing-sim tool images make Images/many --count 16 --seed 7",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let folder = arguments.positionals[0]
        let count =
            try arguments.number("--count", in: 1...ScenarioLimit.photosPaintedMax) ?? Self.countDefault
        let seed: UInt64 = try arguments.number("--seed", in: 0...(.max)) ?? 1
        let shelves = PaintedShelf.corpus(count: count, seed: seed, sizes: try Self.sizes(arguments))
        try PhotoOutput.makeFolder(folder)
        var encoder = JPEGEncoder()
        for shelf in shelves {
            let jpeg = try ShelfPainter.jpeg(shelf.picture, encoder: &encoder)
            try PhotoOutput.write(jpeg, to: "\(folder)/\(shelf.name)")
            console.error("\(folder)/\(shelf.name): \(shelf.picture.size), \(jpeg.count / 1_000) kB")
        }
        console.out("\(count) \(count == 1 ? "photo" : "photos") in \(folder)")
        return .success
    }

    private static func sizes(_ arguments: Arguments) throws -> PaintedShelf.Sizes {
        guard let text = arguments["--size"] else { return .phones }
        guard let size = PhotoSize(text) else {
            throw CommandFailure(
                .usage, "--size expects width and height in pixels, not '\(text)'",
                hint: "for example 4032x3024")
        }
        if let complaint = size.complaint { throw CommandFailure(.usage, "--size \(text): \(complaint)") }
        return .exactly(PixelSize(width: size.width, height: size.height))
    }
}
