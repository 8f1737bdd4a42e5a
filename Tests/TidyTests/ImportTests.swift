import Testing

/// Who may import whom: the rows of `Package.swift`, and here the modules outside of the package, so that a new one is a
/// visible change.
@Suite struct ImportTests {
    private static let system: Set = ["Glibc", "Darwin"]

    private static let outside: [String: Set<String>] = [
        "SystemIO": system, "EventLoop": ["Synchronization"], "Imaging": system,
        "ScenarioFile": ["Foundation"], "RunArchive": ["Foundation"],
        "RunDriver": ["Foundation"], "LocustRuns": ["Foundation"],
        "swiftwing-sim": system.union(["Foundation"]),
    ]

    /// `private import struct Module.Name` and its like, down to `Module`.
    private static func imported(by line: String) -> String? {
        var words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        words.removeAll {
            ["package", "private", "internal", "public", "fileprivate"].contains($0) || $0.hasPrefix("@")
        }
        guard words.first == "import", let name = words.last else { return nil }
        return name.split(separator: ".").first.map(String.init)
    }

    @Test func `every target imports only what its row allows`() {
        let all = Set(Manifest.rows.map(\.name))
        let rows = Dictionary(uniqueKeysWithValues: Manifest.rows.map { ($0.name, Set($0.imports)) })
        var checked = 0
        for file in SourceTree.files(in: "Sources", ending: ".swift") {
            let target = file.target ?? ""
            let row = target == "swiftwing-sim" ? all : rows[target]
            #expect(row != nil, "\(file.path): Package.swift has no row for the target \(target)")
            for (number, text) in file.code {
                guard let module = Self.imported(by: text) else { continue }
                checked += 1
                #expect(
                    row?.contains(module) == true || Self.outside[target]?.contains(module) == true,
                    "\(file.path):\(number): \(target) may not import \(module)")
            }
        }
        #expect(checked > 50, "the check has read almost nothing")
    }

    @Test(arguments: Manifest.rows) func `every import of a row is used`(row: Manifest.Row) {
        let used = SourceTree.files(in: row.folder, ending: ".swift").flatMap { file in
            file.code.compactMap { Self.imported(by: $0.text) }
        }
        #expect(Set(row.imports).subtracting(used).isEmpty, "declared and unused")
        #expect((Self.outside[row.name] ?? []).subtracting(used).isEmpty, "allowed and unused")
    }

    @Test func `no machine imports another one, or the plan or the ledger`() {
        #expect(Manifest.rows.count > 15, "the manifest was not read")
        for row in Manifest.rows where row.layer == "core" {
            let inner = Manifest.rows.filter { $0.layer == "core" }.map(\.name)
            #expect(Set(row.imports).subtracting(inner).isEmpty, "\(row.name)")
        }
        for row in Manifest.rows where ["Phone", "Backend", "Gateway"].contains(row.name) {
            let core = Manifest.rows.filter { $0.layer == "core" }.map(\.name)
            #expect(Set(row.imports).subtracting(core).isEmpty, "\(row.name)")
        }
    }

    @Test func `an import line is read whatever stands around it`() {
        #expect(Self.imported(by: "package import SimBase") == "SimBase")
        #expect(Self.imported(by: "private import struct Foundation.URL") == "Foundation")
        #expect(Self.imported(by: "let important = 1") == nil)
    }
}
