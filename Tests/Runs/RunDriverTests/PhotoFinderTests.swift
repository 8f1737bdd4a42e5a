import Foundation
import RunJudge
import Testing

@testable import RunDriver

/// Where the photos of a scenario are looked for.
@Suite struct PhotoFinderTests {
    private static func places(
        _ name: String, scenario: String, current: String = "/here", folders: [String] = ["built-in:"]
    ) -> [String] {
        PhotoFinder(scenarioPath: scenario, current: current, folders: folders).places(of: name)
    }

    @Test func `a name is looked for beside the scenario, in Images, here and in the program`() {
        #expect(
            Self.places(
                "shelves", scenario: "/my/tests/a.scenario", folders: ["/package/Scenarios", "built-in:"])
                == [
                    "/my/tests/shelves", "/here/Images/shelves", "/my/Images/shelves",
                    "/package/Images/shelves", "/here/shelves", "built-in:/Images/shelves",
                ])
        #expect(
            Self.places("a/b.jpg", scenario: "a.scenario")
                == ["/here/a/b.jpg", "/here/Images/a/b.jpg", "/Images/a/b.jpg", "built-in:/Images/a/b.jpg"])
    }

    @Test func `a path is no name in Images`() {
        #expect(Self.places("/photos", scenario: "/my/a.scenario") == ["/photos"])
        #expect(Self.places("./x", scenario: "sub/a.scenario") == ["/here/sub/./x", "/here/./x"])
        #expect(Self.places("../x", scenario: "/my/a.scenario") == ["/my/../x", "/here/../x"])
        #expect(Self.places("built-in:/Images/x", scenario: "a.scenario") == ["built-in:/Images/x"])
    }

    @Test func `nothing is beside a scenario that is built in`() {
        #expect(
            Self.places("shelves", scenario: "built-in:/crowd.scenario")
                == ["/here/Images/shelves", "/here/shelves", "built-in:/Images/shelves"])
        #expect(Self.places("./x", scenario: "built-in:/crowd.scenario", current: "/") == ["/./x"])
    }

    /// A folder with these files, which are empty.
    private func withFiles(_ files: [String], _ body: (PhotoFinder, _ root: String) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "photos-\(UUID())")
        defer { try? FileManager.default.removeItem(at: root) }
        for file in files {
            let url = root.appending(path: file)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: url)
        }
        let finder = PhotoFinder(
            scenarioPath: "tests/a.scenario", current: root.path, folders: ["built-in:"])
        try body(finder, root.path)
    }

    @Test func `the first place with photos is taken, and a file before what is built in`() throws {
        try self.withFiles([
            "tests/mine/1.jpg", "Images/mine/2.jpg", "Images/others/3.JPEG", "shelves/lamp.txt", "one.jpg",
        ]) { (finder, _) throws -> Void in
            #expect(try finder.find("mine") == "tests/mine")
            #expect(try finder.find("mine/1.jpg") == "tests/mine/1.jpg")
            #expect(try finder.find("others") == "Images/others")
            #expect(try finder.find("one.jpg") == "one.jpg")
            #expect(try finder.find("shelves") == "built-in:/Images/shelves", "lamps are no photos")
            #expect(
                try finder.find("shelves/shelf-3-landscape-dark.jpg")
                    == "built-in:/Images/shelves/shelf-3-landscape-dark.jpg")
        }
        try self.withFiles(["shelves/1.jpg"]) { (finder, _) throws -> Void in
            #expect(try finder.find("shelves") == "shelves")
        }
    }

    @Test func `what has no photos is refused with the places that were looked at`() throws {
        try self.withFiles(["tests/mine/notes.txt", "notes.txt"]) { (finder, root) throws -> Void in
            func failure(_ name: String) -> CommandFailure? {
                do throws(CommandFailure) {
                    _ = try finder.find(name)
                    return nil
                } catch {
                    return error
                }
            }
            let missing = failure("nothing")
            #expect(missing?.code == .noInput && missing?.message == "no photos 'nothing'")
            #expect(
                missing?.hint
                    == "looked for tests/nothing, Images/nothing, nothing, built-in:/Images/nothing")
            let empty = failure("mine")
            #expect(empty?.code == .badData)
            #expect(empty?.message == "no photos (*.jpg or *.jpeg) in tests/mine")
            #expect(empty?.hint?.contains("Images/mine") == true)
            #expect(failure("./notes.txt")?.message == "no photos (*.jpg or *.jpeg) in ./notes.txt")
            #expect(failure("\(root)/gone")?.hint == "looked for gone")
            #expect(failure("~/Pictures")?.hint?.contains("write `${HOME}/Pictures`") == true)
        }
    }

    @Test func `built-in photos are those of the package`() throws {
        let folder = try PhotoFinder.load("built-in:/Images/shelves")
        #expect(folder.photos.count == 5 && folder.problems.isEmpty)
        let photo = try PhotoFinder.load("built-in:/Images/shelves/shelf-3-landscape-dark.jpg")
        #expect(photo.photos == [folder.photos[2]])
    }
}
