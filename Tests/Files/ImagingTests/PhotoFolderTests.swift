import Foundation
import Testing

@testable import Imaging

@Suite struct PhotoFolderTests {
    /// Calls `body` with the path of a new folder of these files, and removes it.
    private func withFolder(_ files: [(String, [UInt8])], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("photos-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, bytes) in files {
            try Data(bytes).write(to: folder.appendingPathComponent(name))
        }
        try body(folder.path)
    }

    @Test func `photographs come in the order of their names`() throws {
        let files = ["b.jpg", "A.JPEG", "a10.jpg", "a2.jpg", "é.jpg"].map { ($0, Fixtures.onePixel) }
        try self.withFolder(files) { path in
            let folder = try PhotoFolder.load(path: path)
            #expect(folder.photos.map(\.name) == ["A.JPEG", "a10.jpg", "a2.jpg", "b.jpg", "é.jpg"])
            #expect(folder.photos[0].jpeg == Fixtures.onePixel)
            #expect(folder.photos[0].size == PixelSize(width: 1, height: 1))
            #expect(folder.problems == [])
        }
    }

    @Test func `a broken photograph is named and the others are taken`() throws {
        let files: [(String, [UInt8])] = [
            ("1-empty.jpg", []), ("2-good.jpg", Fixtures.progressive),
            ("3-png.jpg", [0x89, 0x50, 0x4E, 0x47]),
            ("4-cut.jpg", Array(Fixtures.progressive.dropLast(60))),
        ]
        try self.withFolder(files) { path in
            let folder = try PhotoFolder.load(path: path)
            #expect(folder.photos.map(\.name) == ["2-good.jpg"])
            #expect(
                folder.problems == [
                    PhotoProblem(name: "1-empty.jpg", error: .empty),
                    PhotoProblem(name: "3-png.jpg", error: .notAJPEG(found: [0x89, 0x50, 0x4E, 0x47])),
                    PhotoProblem(name: "4-cut.jpg", error: .truncated),
                ])
            #expect(folder.problems[0].description == "1-empty.jpg: the file is empty")
        }
    }

    @Test func `other files and hidden files are not photographs`() throws {
        let files = ["README.md", ".hidden.jpg", "x.png"].map { ($0, Fixtures.onePixel) }
        try self.withFolder(files) { path in
            #expect(throws: ImagingError.noPhotographs(folder: path)) { try PhotoFolder.load(path: path) }
        }
    }

    @Test func `a folder of broken photographs alone is an error`() throws {
        try self.withFolder([("a.jpg", []), ("b.jpg", [])]) { path in
            #expect(throws: ImagingError.noPhotographs(folder: path)) { try PhotoFolder.load(path: path) }
        }
    }

    @Test func `a folder named like a photograph is a problem, not a crash`() throws {
        try self.withFolder([("a.jpg", Fixtures.onePixel)]) { path in
            try FileManager.default.createDirectory(
                atPath: path + "/b.jpg", withIntermediateDirectories: false)
            let folder = try PhotoFolder.load(path: path)
            #expect(
                folder.problems.map(\.description) == [
                    "b.jpg: \(path)/b.jpg cannot be read: it is not a file"
                ])
        }
    }

    @Test func `a file that is too long is not read`() throws {
        try self.withFolder([("a.jpg", Fixtures.onePixel), ("b.jpg", Fixtures.onePixel)]) { path in
            let handle = try #require(FileHandle(forWritingAtPath: path + "/b.jpg"))
            try handle.truncate(atOffset: 50_000_001)  // Sparse: nothing is written.
            try handle.close()
            let folder = try PhotoFolder.load(path: path)
            #expect(folder.photos.map(\.name) == ["a.jpg"])
            #expect(
                folder.problems.map(\.error) == [
                    .fileTooLarge(path: path + "/b.jpg", bytes: 50_000_001, bytesMax: 50_000_000)
                ])
        }
    }

    @Test func `a folder that is not there is an error with the system's words`() {
        #expect(throws: ImagingError.unreadable(path: "/nowhere/at/all", reason: "No such file or directory"))
        {
            try PhotoFolder.load(path: "/nowhere/at/all")
        }
    }
}
