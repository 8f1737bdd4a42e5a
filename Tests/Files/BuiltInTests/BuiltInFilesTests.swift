import Foundation
import SimTestSupport
import Testing

@testable import BuiltIn

/// What the program contains is what is shipped.
@Suite struct BuiltInFilesTests {
    /// Each folder of the package, and where its files are in the program.
    private static let folders = [
        (source: "Scenarios", ending: ".scenario", folder: "built-in:"),
        (source: "Scenarios/gaps", ending: ".scenario", folder: "built-in:/gaps"),
        (source: "Scenarios/quirks", ending: ".scenario", folder: "built-in:/quirks"),
        (source: "Scenarios/captures", ending: ".sse", folder: "built-in:/captures"),
        (source: "Images/shelves", ending: ".jpg", folder: "built-in:/Images/shelves"),
    ]

    @Test(arguments: Self.folders)
    func `a folder is in the program, file by file`(source: String, ending: String, folder: String) throws {
        let root = Checkout.root.appending(path: source)
        let names = try FileManager.default.contentsOfDirectory(atPath: root.path)
            .filter { $0.hasSuffix(ending) }.sorted()
        #expect(!names.isEmpty)
        #expect(BuiltInFiles.names(inFolder: folder) == names, "list it in Sources/System/CBuiltIn/BuiltIn.c")
        for name in names {
            let bytes = [UInt8](try Data(contentsOf: root.appending(path: name)))
            #expect(BuiltInFiles.contents(of: "\(folder)/\(name)") == bytes, "\(name)")
        }
    }

    @Test func `there is nothing else in it`() {
        let known = Self.folders.flatMap { BuiltInFiles.names(inFolder: $0.folder) }
        #expect(BuiltInFiles.paths.count == known.count)
    }

    @Test func `a path is built in by its beginning, whether or not there is a file`() {
        #expect(BuiltInFiles.isPath("built-in:") && BuiltInFiles.isPath("built-in:/nothing"))
        #expect(!BuiltInFiles.isPath("built-in") && !BuiltInFiles.isPath("/built-in:/x"))
        #expect(!BuiltInFiles.contains("built-in:/nothing") && !BuiltInFiles.contains("built-in:"))
        #expect(BuiltInFiles.contents(of: "built-in:/nothing") == nil)
        #expect(BuiltInFiles.names(inFolder: "built-in:/nothing") == [])
    }
}
