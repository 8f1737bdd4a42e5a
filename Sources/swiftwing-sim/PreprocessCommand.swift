import EventLoop
import Foundation
import Imaging
import RunArchive
import RunDriver

/// `preprocess`: what the app does to one photo before it uploads it.
enum PreprocessCommand {
    static let command = Command(
        name: "preprocess", usage: "IN.jpg OUT.jpg",
        summary: "Preprocesses one photo as the app does before an upload, and prints the result as JSON",
        options: [
            Option(
                name: "--no-denoise", value: nil,
                help: "skip noise reduction, which only approximates the app's"),
            Option(
                name: "--stages", value: "DIR", help: "also write the picture after each step to this folder"),
        ],
        positionalsMin: 2, positionalsMax: 2,
        example: "swiftwing-sim preprocess Images/shelves/shelf-3-landscape-dark.jpg /tmp/upload.jpg",
        run: { try Self.run($0, $1) })

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let (source, target) = (arguments.positionals[0], arguments.positionals[1])
        let noise: NoiseReduction = arguments.has("--no-denoise") ? .off : .on
        let jpeg = try PhotoInput.of(source) { () throws(ImagingError) in try PhotoFile.bytes(of: source) }
        var preprocessor = Preprocessor()
        let began = MonotonicClock.now()
        let filtered = preprocessor.filter(jpeg, noise: noise)
        let filteredAt = MonotonicClock.now()
        let upload = try PhotoInput.of(source) { () throws(ImagingError) in
            try preprocessor.resize(filtered)
        }
        let endedAt = MonotonicClock.now()
        // The stages take memory of their own.
        let memory = ResourceUsage.own().residentMax
        try PhotoOutput.write(upload.jpeg, to: target)
        if let folder = arguments["--stages"] {
            try PhotoOutput.makeFolder(folder)
            let stages = try PhotoInput.of(source) { () throws(ImagingError) in
                try preprocessor.stages(jpeg, noise: noise)
            }
            for stage in stages { try PhotoOutput.write(stage.jpeg, to: "\(folder)/\(stage.name).jpg") }
        }
        let report = Report(
            brightnessAdjustment: upload.brightnessAdjustment, denoised: noise == .on,
            filtered: .init(filtered.sizes?.filtered ?? upload.sourceSize, filtered.jpeg),
            memoryPeakBytes: memory, processingTimeMs: Self.milliseconds(filteredAt - began),
            source: .init(upload.sourceSize, jpeg), totalTimeMs: Self.milliseconds(endedAt - began),
            upload: .init(upload.size, upload.jpeg), wasRotated: upload.wasRotated)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        console.out(String(decoding: try encoder.encode(report), as: UTF8.self))
        return .success
    }

    private static func milliseconds(_ nanoseconds: Int64) -> Double {
        Double((nanoseconds + 5_000) / 10_000) / 100
    }

    /// The first, second and fifth key are the app's own (`PreprocessingResult`).
    private struct Report: Encodable {
        struct Photo: Encodable {
            var bytes: Int
            var height: Int
            var width: Int

            init(_ size: PixelSize, _ jpeg: [UInt8]) {
                self.bytes = jpeg.count
                self.height = size.height
                self.width = size.width
            }
        }

        var brightnessAdjustment: Double
        var denoised: Bool
        /// After the filters, as the app hands it to its resize.
        var filtered: Photo
        /// Of the whole process.
        var memoryPeakBytes: Int64
        /// Decoding, filters and the first encoding, as the app counts.
        var processingTimeMs: Double
        var source: Photo
        /// With the resize and the second encoding.
        var totalTimeMs: Double
        var upload: Photo
        var wasRotated: Bool
    }
}

/// Writing pictures for commands.
enum PhotoOutput {
    static func write(_ bytes: [UInt8], to path: String) throws {
        do {
            try Data(bytes).write(to: URL(filePath: path))
        } catch {
            throw CommandFailure(.cannotWrite, "cannot write \(path): \(OutputError.reason(error))")
        }
    }

    static func makeFolder(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure(
                .cannotWrite, "cannot create the folder \(path): \(OutputError.reason(error))")
        }
    }
}
