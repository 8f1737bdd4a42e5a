import Foundation

/// A folder of its own for each test, gone afterwards.
package final class Scratch {
    package let path: String

    package init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "reporting-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.path = folder.path
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    package func at(_ name: String) -> String { self.path + "/" + name }

    package func text(_ name: String) -> String? {
        try? String(contentsOfFile: self.at(name), encoding: .utf8)
    }

    package func names(_ name: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: self.at(name))) ?? []).sorted()
    }
}
