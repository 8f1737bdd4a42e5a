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

    /// Every file below a folder whose name ends so, in the order of their paths.
    static func files(in folder: String, ending: String) -> [File] {
        let base = Self.root.appending(path: folder)
        let walk = FileManager.default.enumerator(atPath: base.path) ?? NSEnumerator()
        return walk.compactMap { $0 as? String }
            .filter { $0.hasSuffix(ending) && !$0.split(separator: "/").contains { $0.hasPrefix(".") } }
            .sorted()
            .compactMap { name in
                let text = try? String(contentsOf: base.appending(path: name), encoding: .utf8)
                return text.map { File(path: folder.isEmpty ? name : "\(folder)/\(name)", text: $0) }
            }
    }
}
