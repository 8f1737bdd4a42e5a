import Foundation
import Testing

/// Documents that name what is in the tree.
@Suite struct DriftTests {
    private static let documents = SourceTree.files(in: "Docs", ending: ".md").filter { file in
        file.path.hasPrefix("Docs/decisions/")
            || ["design", "simulation", "handbook", "style"].contains { file.path == "Docs/\($0).md" }
    }

    /// Of other projects, and patterns of names.
    private static let outside: Set = [
        "Scenarios/regressions/NAME.plan.json", "docs/how-to/liveness-checking.md", "docs/internals/vopr.md",
        "flow/include/flow/Buggify.h", "internal/conjecture/shrinker.py", "Phone+Stream.swift",
    ]

    private static let paths: [String] = {
        let walk = FileManager.default.enumerator(atPath: SourceTree.root.path) ?? NSEnumerator()
        return walk.compactMap { $0 as? String }.filter { !$0.hasPrefix(".build") && !$0.hasPrefix(".git/") }
    }()

    /// The words of the code.
    private static let words: Set<Substring> = {
        var words: Set<Substring> = []
        for ending in [".swift", ".py", ".h", "Makefile", ".ci/packages"] {
            for file in SourceTree.files(in: "", ending: ending) {
                words.formUnion(
                    file.text.split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "_") })
            }
        }
        return words
    }()

    private static func spans(of file: SourceTree.File) -> [String] {
        file.text.matches(of: /`([^`\n]+)`/).map { String($0.1) }
    }

    private static func isPath(_ span: String) -> Bool {
        span.wholeMatch(of: /[\w.+\-]+(\/[\w.+\-]+)*\.(swift|md|py|scenario|c|h|yaml|json)/) != nil
            && (span.contains("/") || span.hasSuffix(".swift"))
    }

    private static func isType(_ span: String) -> Bool {
        span.wholeMatch(of: /[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*/) != nil
    }

    @Test func `every file that a document names exists`() {
        let named = Self.documents.flatMap { file in
            Self.spans(of: file).filter(Self.isPath).map { (file.path, $0) }
        }
        #expect(named.count > 50, "the check has read almost nothing")
        for (document, name) in named where !Self.outside.contains(name) {
            #expect(
                Self.paths.contains { $0 == name || $0.hasSuffix("/" + name) },
                "\(document): there is no file \(name)")
        }
    }

    @Test func `every type that a document names exists`() {
        let named = Self.documents.flatMap { file in
            Self.spans(of: file).filter(Self.isType).map { (file.path, $0) }
        }
        #expect(named.count > 100, "the check has read almost nothing")
        for (document, name) in named where !Self.outside.contains(name) {
            let exists = Self.words.contains(name[...])
            #expect(exists, "\(document): the code has no \(name)")
        }
    }

    // MARK: Modules

    private static func document(_ name: String) -> String {
        Self.documents.first { $0.path == "Docs/\(name).md" }?.text ?? ""
    }

    private static let layers = ["Core", "Machines", "Judging", "Worlds", "Files", "Reports", "Runs"]

    private static func modules(of layer: String) -> Set<String> {
        Set(Manifest.rows.filter { $0.layer == layer.lowercased() }.map(\.name))
    }

    @Test(arguments: layers) func `design lists the modules of a layer`(layer: String) {
        let row = Self.document("design").split(separator: "\n").first {
            $0.hasPrefix("| `Sources/\(layer)` |")
        }
        let names = row?.split(separator: "|").dropFirst().first?.matches(of: /`(\w+)`/).map { String($0.1) }
        #expect(Set(names ?? []) == Self.modules(of: layer))
    }

    @Test(arguments: layers) func `style lists the modules of a layer`(layer: String) {
        let lines = Self.document("style").split(separator: "\n")
        let below = lines.drop { !$0.hasPrefix("  \(layer)/") }.dropFirst()
        let rows = below.prefix { $0.hasPrefix("    ") }
        let names = rows.compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(Set(names) == Self.modules(of: layer))
    }
}
