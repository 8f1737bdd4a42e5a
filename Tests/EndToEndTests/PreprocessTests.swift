import Foundation
import Testing

extension SideBySide {
    /// `preprocess` and `images make`.
    @Suite struct PreprocessTests {
        private struct Report: Decodable, Equatable {
            struct Photo: Decodable, Equatable {
                var bytes: Int
                var height: Int
                var width: Int
            }

            var brightnessAdjustment: Double
            var denoised: Bool
            var filtered: Photo
            var memoryPeakBytes: Int
            var processingTimeMs: Double
            var source: Photo
            var totalTimeMs: Double
            var upload: Photo
            var wasRotated: Bool
        }

        private static let dark = "Images/shelves/shelf-3-landscape-dark.jpg"
        private static let tall = "Images/shelves/shelf-5-tall-hazy.jpg"

        private func preprocess(_ source: String, _ options: String..., to target: URL) async throws -> Report
        {
            let outcome = try await Binary.run(["preprocess", source, target.path] + options)
            try #require(outcome.code == 0 && outcome.complaint.isEmpty, "\(outcome)")
            return try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
        }

        // MARK: preprocess

        @Test func `a dark photo becomes a brighter upload, and the report says by how much`() async throws {
            let scratch = try Scratch()
            let target = scratch.folder.appending(path: "upload.jpg")
            let report = try await self.preprocess(Self.dark, to: target)
            #expect(report.brightnessAdjustment == 0.2)
            #expect(report.denoised && !report.wasRotated)
            #expect((report.source.width, report.source.height) == (1280, 960))
            #expect((report.upload.width, report.upload.height) == (1280, 960))
            #expect(report.processingTimeMs > 0 && report.totalTimeMs >= report.processingTimeMs)
            let upload = try Data(contentsOf: target)
            #expect(upload.count == report.upload.bytes)
            #expect(upload.starts(with: [0xFF, 0xD8, 0xFF]))
        }

        @Test func `a tall photo is turned and made to fit`() async throws {
            let scratch = try Scratch()
            let report = try await self.preprocess(
                Self.tall, to: scratch.folder.appending(path: "upload.jpg"))
            #expect(report.wasRotated)
            #expect((report.filtered.width, report.filtered.height) == (2000, 900))
            #expect((report.upload.width, report.upload.height) == (1920, 864))
        }

        @Test func `each stage is a picture, and without noise reduction there is one fewer`() async throws {
            let scratch = try Scratch()
            let target = scratch.folder.appending(path: "upload.jpg")
            let (all, fewer) = (
                scratch.folder.appending(path: "all"), scratch.folder.appending(path: "deep/fewer")
            )
            _ = try await self.preprocess(Self.dark, "--stages", all.path, to: target)
            let upload = try Data(contentsOf: target)
            let report = try await self.preprocess(
                Self.dark, "--no-denoise", "--stages", fewer.path, to: target)
            #expect(!report.denoised)
            let names = [
                "1-rotated.jpg", "2-contrast.jpg", "3-brightness.jpg", "4-noise.jpg", "5-filtered.jpg",
                "6-upload.jpg",
            ]
            #expect(try FileManager.default.contentsOfDirectory(atPath: all.path).sorted() == names)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: fewer.path).sorted()
                    == names.filter { $0 != "4-noise.jpg" })
            #expect(try Data(contentsOf: all.appending(path: "6-upload.jpg")) == upload)
            #expect(try Data(contentsOf: target) != upload)
        }

        @Test func `what is no photo, not there or not to be written ends with its own code`() async throws {
            let scratch = try Scratch()
            let target = scratch.folder.appending(path: "upload.jpg").path
            let photo = try Data(contentsOf: Package.root.appending(path: Self.dark))
            var bomb = [UInt8](photo)
            let frame = try #require(
                bomb.indices.dropLast().first { bomb[$0] == 0xFF && bomb[$0 + 1] == 0xC0 })
            bomb.replaceSubrange((frame + 5)..<(frame + 9), with: [0xFF, 0xDC, 0xFF, 0xDC])
            for (name, bytes, words) in [
                ("empty.jpg", Data(), "the file is empty"),
                ("page.jpg", Data("<html>".utf8), "not a JPEG: it begins with 3C 68 74 6D"),
                ("cut.jpg", photo.prefix(photo.count / 2), "the JPEG is truncated"),
                ("bomb.jpg", Data(bomb), "the picture has 65500 x 65500 pixels"),
            ] {
                let file = try scratch.file(name, bytes)
                let outcome = try await Binary.run(["preprocess", file.path, target])
                #expect(outcome.code == 65 && outcome.output.isEmpty)
                #expect(outcome.complaint.contains(words), "\(name)")
            }
            let missing = try await Binary.run(["preprocess", scratch.folder.path + "/none.jpg", target])
            #expect(missing.code == 66 && missing.complaint.contains("No such file"))
            #expect(!FileManager.default.fileExists(atPath: target))
            let nowhere = try await Binary.run(["preprocess", Self.dark, scratch.folder.path + "/no/up.jpg"])
            #expect(nowhere.code == 74 && nowhere.complaint.contains("cannot write"))
            let stages = try await Binary.run(
                ["preprocess", Self.dark, target, "--stages", Package.root.path + "/README.md/x"])
            #expect(stages.code == 74 && stages.complaint.contains("cannot create the folder"))
            #expect(try await Binary.run(["preprocess", Self.dark]).code == 64)
        }

        // MARK: Against floats

        private struct Comparison: Decodable {
            var name: String
            var rotated: Bool
            var rotationIsEqual: Bool
            var brightnessAdjustment: Double
            var brightnessDifference: Double
            var sizeIsEqual: Bool
            /// Of 255.
            var meanDifference: Double
            var meanLevel: Double
        }

        private func reference(_ arguments: String...) async throws -> Outcome {
            try await Subprocess.run(
                Package.root.appending(path: ".build/venv/bin/python"),
                [Package.tests.appending(path: "Tools/photo_reference.py").path] + arguments, seconds: 50)
        }

        /// Preprocesses every photo of a folder without noise reduction, and has the results compared.
        private func compared(_ sources: URL, in scratch: Scratch) async throws -> [Comparison] {
            let made = scratch.folder.appending(path: "made")
            try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
            let names = try FileManager.default.contentsOfDirectory(atPath: sources.path)
            for name in names.filter({ $0.hasSuffix(".jpg") }) {
                let outcome = try await Binary.run([
                    "preprocess", "--no-denoise", sources.appending(path: name).path,
                    made.appending(path: name).path,
                ])
                try #require(outcome.code == 0, "\(name): \(outcome.complaint)")
                try Data(outcome.output.utf8)
                    .write(to: made.appending(path: name.replacing(".jpg", with: ".json")))
            }
            let outcome = try await self.reference("compare", sources.path, made.path)
            try #require(outcome.code == 0, "\(outcome.complaint)")
            let lines = outcome.output.split(separator: "\n")
            #expect(lines.count == names.filter { $0.hasSuffix(".jpg") }.count)
            return try lines.map { try JSONDecoder().decode(Comparison.self, from: Data($0.utf8)) }
        }

        private func expectEqual(_ comparison: Comparison) {
            #expect(comparison.rotationIsEqual && comparison.sizeIsEqual, "\(comparison)")
            #expect(comparison.brightnessDifference <= 0.005, "\(comparison)")
            #expect(comparison.meanDifference <= 1.5, "\(comparison)")
        }

        @Test func `photographs come out as an implementation in floats makes them`() async throws {
            let scratch = try Scratch()
            let sources = scratch.folder.appending(path: "sources")
            try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
            #expect(try await self.reference("sources", sources.path).code == 0)
            let comparisons = try await self.compared(sources, in: scratch)
            #expect(comparisons.count >= 20)
            for comparison in comparisons { self.expectEqual(comparison) }
            // Where nothing is resized, hardly a byte is another.
            let kept = comparisons.filter { !["china-large.jpg"].contains($0.name) }
            #expect(kept.allSatisfy { $0.meanDifference < 0.05 })
            #expect(comparisons.filter(\.rotated).map(\.name) == ["china-tall.jpg"])
            #expect(comparisons.contains { $0.brightnessAdjustment > 0.1 && $0.brightnessAdjustment < 0.2 })
            #expect(comparisons.contains { $0.brightnessAdjustment < -0.1 })
            let levels = Dictionary(uniqueKeysWithValues: comparisons.map { ($0.name, $0.meanLevel) })
            #expect(levels["black.jpg"] == 0)
            #expect(levels["white.jpg"] == 255)
        }

        @Test func `painted shelves come out as an implementation in floats makes them`() async throws {
            let scratch = try Scratch()
            for comparison in try await self.compared(
                Package.root.appending(path: "Images/shelves"), in: scratch)
            {
                self.expectEqual(comparison)
            }
        }

        @Test func `a photo of twelve megapixels does too, and takes the memory that is said`() async throws {
            let scratch = try Scratch()
            let painted = scratch.folder.appending(path: "painted")
            let outcome = try await Subprocess.run(
                Binary.path, ["images", "make", painted.path, "--count", "1"], seconds: 45)
            #expect(outcome.code == 0 && outcome.output == "1 photo in \(painted.path)\n")
            for comparison in try await self.compared(painted, in: scratch) { self.expectEqual(comparison) }

            let dot = scratch.folder.appending(path: "dot.jpg")
            let least = try await self.preprocess(Self.dark, to: dot)
            let most = try await self.preprocess(
                painted.appending(path: "shelf-001-landscape-normal.jpg").path,
                to: scratch.folder.appending(path: "upload.jpg"))
            #expect((most.source.width, most.source.height) == (4032, 3024))
            #expect((700_000..<1_200_000).contains(most.source.bytes))
            // 4.5 bytes a pixel, file and JPEG in between twice (written, and copied), 4 MB for libraries at work. What
            // the program itself takes is at most what the small photo took.
            let bound = 4032 * 3024 * 9 / 2 + 2 * (most.source.bytes + most.filtered.bytes) + 4_000_000
            #expect(most.memoryPeakBytes - least.memoryPeakBytes <= bound)
        }

        // MARK: images make

        @Test func `a corpus is the same for the same seed, and has every kind`() async throws {
            let scratch = try Scratch()
            func make(_ name: String, _ options: String...) async throws -> [String: Data] {
                let folder = scratch.folder.appending(path: name)
                let outcome = try await Binary.run(["images", "make", folder.path] + options)
                #expect(outcome.code == 0)
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                return try Dictionary(
                    uniqueKeysWithValues: names.map {
                        ($0, try Data(contentsOf: folder.appending(path: $0)))
                    })
            }
            let first = try await make("first", "--count", "5", "--size", "160x120")
            #expect(
                first.keys.sorted() == [
                    "shelf-001-landscape-normal.jpg", "shelf-002-landscape-dark.jpg",
                    "shelf-003-landscape-bright.jpg", "shelf-004-landscape-normal.jpg",
                    "shelf-005-landscape-normal-hazy.jpg",
                ])
            #expect(Set(first.values).count == 5)
            #expect(try await make("again", "--count", "5", "--size", "160x120", "--seed", "1") == first)
            let other = try await make("other", "--count", "5", "--size", "160x120", "--seed", "2")
            #expect(other.keys.sorted() == first.keys.sorted())
            #expect(Set(other.values).isDisjoint(with: first.values))
        }

        @Test func `a corpus that cannot be is refused`() async throws {
            let scratch = try Scratch()
            let folder = scratch.folder.appending(path: "x").path
            for (options, words) in [
                (["--size", "4032"], "--size expects width and height in pixels, not '4032'"),
                (["--size", "10x2000"], "at least 64 pixels"),
                (["--size", "99999x99999"], "at most 16000000 pixels"),
                (["--count", "0"], "--count expects a whole number"),
            ] {
                let outcome = try await Binary.run(["images", "make", folder] + options)
                #expect(outcome.code == 64 && outcome.complaint.contains(words))
            }
            let blocked = try await Binary.run(["images", "make", Package.root.path + "/README.md/x"])
            #expect(blocked.code == 74)
            let half = try await Binary.run(["images", "paint"])
            #expect(half.code == 64 && half.complaint.contains("did you mean 'images make'?"))
        }
    }
}
