import Foundation

/// The checkout that these tests were compiled from, as text.
enum SourceTree {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct File {
        /// Relative to the root of the repository.
        var path: String
        var text: String

        /// Below the folder of its layer: `Wire/SSEReader.swift`. Nil outside of `Sources`.
        var inTarget: String? {
            let parts = self.path.split(separator: "/")
            guard parts.first == "Sources",
                let executable = parts.firstIndex(of: "swiftwing-sim") ?? (parts.count > 3 ? 2 : nil)
            else { return nil }
            return parts[executable...].joined(separator: "/")
        }

        /// The target that it belongs to.
        var target: String? { self.inTarget?.split(separator: "/").first.map(String.init) }

        var lines: [String] {
            self.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }

        /// Lines with their numbers and without comments, for rules about code.
        var code: [(number: Int, text: String)] {
            self.lines.enumerated().map { index, line in
                (index + 1, line.range(of: "//").map { String(line[..<$0.lowerBound]) } ?? line)
            }
        }
    }

    /// Every file and folder relative to the root, without hidden ones and what is in them, in the order of their names.
    static let paths: [String] = {
        guard let walk = FileManager.default.enumerator(atPath: Self.root.path) else { return [] }
        var paths: [String] = []
        while let path = walk.nextObject() as? String {
            if path.split(separator: "/").last?.hasPrefix(".") == true {
                walk.skipDescendants()
            } else {
                paths.append(path)
            }
        }
        return paths.sorted()
    }()

    /// Every file below a folder whose name ends so, in the order of their paths.
    static func files(in folder: String, ending: String) -> [File] {
        Self.paths.filter { $0.hasSuffix(ending) && (folder.isEmpty || $0.hasPrefix(folder + "/")) }
            .compactMap { path in
                let text = try? String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
                return text.map { File(path: path, text: $0) }
            }
    }
}
