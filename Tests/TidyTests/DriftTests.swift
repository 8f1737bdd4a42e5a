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

    /// The words of the code.
    private static let words: Set<Substring> = {
        var words: Set<Substring> = []
        for ending in [".swift", ".py", ".h", "Makefile"] {
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
                SourceTree.paths.contains { $0 == name || $0.hasSuffix("/" + name) },
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

    // MARK: Filters

    /// `swift test` succeeds where a filter matches nothing.
    @Test func `every test target and suite that a filter of the Makefile names exists`() {
        let makefile = SourceTree.files(in: "", ending: "Makefile").map(\.text).joined()
        let filters =
            makefile.matches(of: /\n(?:TIMED|SIDE_BY_SIDE|WAITING|SEARCHES) := (.+)/).map(\.1)
            + makefile.matches(of: /--filter '([^'$]+)'/).map(\.1)
        let names = Set(filters.flatMap { $0.matches(of: /\w+/).map { String($0.0) } }).subtracting(["Tests"])
        #expect(filters.count > 4 && names.count > 10, "the check has read almost nothing")
        let sources = SourceTree.files(in: "Tests/EndToEndTests", ending: ".swift")
        for name in names {
            let isFile = SourceTree.paths.contains {
                $0.hasSuffix("/\(name)") || $0.hasSuffix("/\(name)Tests") || $0.hasSuffix("\(name).swift")
            }
            #expect(
                isFile || sources.contains { $0.text.contains(" enum \(name) {") },
                "the Makefile: there are no tests \(name)")
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
