import Testing

/// The tree in Docs/style.md is the list of targets in Package.swift, in the same order.
@Suite struct SourceTreeTests {
    /// The targets of the tree, each with its layer, as `Layer/Target`.
    private static func targets(in document: SourceTree.File) -> [String] {
        let tree = document.lines.drop { $0 != "Sources/" }.prefix { $0 != "```" }
        var layer = ""
        var targets: [String] = []
        for line in tree {
            if let match = line.prefixMatch(of: #/    (\w+) /#) {
                targets.append("\(layer)/\(match.1)")
            } else if let match = line.prefixMatch(of: #/  (\w+)//#) {
                layer = String(match.1)
            }
        }
        return targets
    }

    @Test func `the documented tree names every target in its layer`() throws {
        let style = try #require(SourceTree.files(in: "Docs", ending: "style.md").first)
        let targets = Self.targets(in: style)
        #expect(targets == Manifest.rows.map { String($0.folder.dropFirst("Sources/".count)) })
        #expect(targets.count > 15, "the tree was not read")
    }

    @Test func `a tree is read by its indentation`() {
        let tree = """
            text
            Sources/
              Core/   values
                Wire   bytes
              program/  commands
            ```
                Not this
            """
        #expect(Self.targets(in: SourceTree.File(path: "", text: tree)) == ["Core/Wire"])
    }
}
