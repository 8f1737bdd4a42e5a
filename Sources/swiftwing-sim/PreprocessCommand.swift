import EventLoop
import Imaging
import RunArchive
import RunDriver
import RunJudge
import SystemIO

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
        isTool: true,
        example: "swiftwing-sim tool preprocess Images/shelves/shelf-3-landscape-dark.jpg /tmp/upload.jpg",
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
        // The first, second and fifth key are the app's own (`PreprocessingResult`).
        let report = JSONValue.object([
            "brightnessAdjustment": .decimal(upload.brightnessAdjustment), "denoised": .bool(noise == .on),
            // After the filters, as the app hands it to its resize.
            "filtered": Self.photo(filtered.sizes?.filtered ?? upload.sourceSize, filtered.jpeg),
            // The whole process.
            "memoryPeakBytes": .integer(memory),
            // Decoding, filters and the first encoding, as the app counts.
            "processingTimeMs": .decimal(Self.milliseconds(filteredAt - began)),
            "source": Self.photo(upload.sourceSize, jpeg),
            // With the resize and the second encoding.
            "totalTimeMs": .decimal(Self.milliseconds(endedAt - began)),
            "upload": Self.photo(upload.size, upload.jpeg), "wasRotated": .bool(upload.wasRotated),
        ])
        console.out(report.text(colon: " : "))
        return .success
    }

    private static func photo(_ size: PixelSize, _ jpeg: [UInt8]) -> JSONValue {
        .object([
            "bytes": .integer(jpeg.count), "height": .integer(size.height), "width": .integer(size.width),
        ])
    }

    private static func milliseconds(_ nanoseconds: Int64) -> Double {
        Double((nanoseconds + 5_000) / 10_000) / 100
    }
}

/// Writing pictures for commands.
enum PhotoOutput {
    /// Replaces pictures alone.
    static func write(_ bytes: [UInt8], to path: String) throws {
        guard !FileTree.isNamedPipe(path) else {
            throw CommandFailure(.cannotWrite, "cannot write \(path): it is a named pipe")
        }
        guard Self.isReplaced(path) else {
            throw CommandFailure(
                .cannotWrite, "cannot write \(path): it is a file, and no JPEG picture",
                hint: "name another file")
        }
        do throws(SystemError) {
            try File.write(bytes, to: path, .replace)
        } catch {
            throw CommandFailure(.cannotWrite, "cannot write \(path): \(error.reason)")
        }
    }

    private static func isReplaced(_ path: String) -> Bool {
        guard case .file(let size) = FileTree.kind(of: path), size > 0, let file = try? File(path, .read)
        else {
            return true
        }
        var bytes: [UInt8] = []
        _ = try? file.read(appendingTo: &bytes, limit: 2)
        return bytes == [0xFF, 0xD8]
    }

    static func makeFolder(_ path: String) throws {
        do throws(SystemError) {
            try FileTree.makeFolder(path)
        } catch {
            throw CommandFailure(.cannotWrite, "cannot create the folder \(path): \(error.reason)")
        }
    }
}
