import Testing

/// The import table: who may use whom. The manifest says it too; here it is data, so that a wider manifest is a
/// visible change of the rule, and so that outside modules are held to it as well.
@Suite struct ImportTests {
    private static let pure: Set = [
        "SimBase", "Metrics", "Wire", "Talaria", "Faults", "Device", "Backend", "Serving", "Plan", "Handset",
        "Ledger",
    ]

    private static let cLibrary: Set = ["Glibc", "Darwin", "CSystem"]

    private static let allowed: [String: Set<String>] = [
        "SimBase": [],
        "Metrics": ["SimBase"],
        "Wire": ["SimBase"],
        "Talaria": ["SimBase", "Wire", "FoundationEssentials"],
        "Faults": ["SimBase", "Talaria"],
        "Device": ["SimBase", "Talaria", "Wire"],
        "Backend": ["SimBase", "Talaria", "Wire", "Faults"],
        "Serving": ["SimBase", "Talaria", "Wire", "Faults", "Backend"],
        "Plan": ["SimBase", "Talaria", "Device", "Backend", "Faults", "Metrics"],
        "Handset": ["SimBase", "Talaria", "Device", "Faults", "Plan"],
        "Ledger": ["SimBase", "Talaria", "Metrics"],
        "VirtualWorld": pure,
        "Pure": [],
        "EventLoop": cLibrary.union(["SimBase", "CEvent", "CSystem", "Synchronization"]),
        "CurlLoop": cLibrary.union(["SimBase", "EventLoop", "CSystem", "CCurl"]),
        "LiveDevices": pure.subtracting(["Backend", "Serving"]).union(cLibrary).union([
            "EventLoop", "CurlLoop", "Imaging",
        ]),
        "LiveBackend": pure.subtracting(["Device", "Handset"]).union(cLibrary).union([
            "EventLoop", "CurlLoop",
        ]),
        "Imaging": cLibrary.union(["SimBase", "CTurboJPEG"]),
        "ScenarioFile": pure.subtracting(["Wire", "Serving", "Handset"]).union([
            "CYAML", "Foundation", "FoundationEssentials",
        ]),
        "Reporting": ["SimBase", "Metrics", "Talaria", "Faults", "Plan", "Ledger", "CZlib", "Foundation"],
        "Dashboard": ["SimBase", "Metrics", "Wire", "Ledger", "Reporting", "EventLoop"],
        "swiftwing-sim": pure.union(cLibrary).union([
            "VirtualWorld",
            "EventLoop", "CurlLoop", "Imaging", "LiveDevices", "LiveBackend", "ScenarioFile", "Reporting",
            "Dashboard", "Foundation",
        ]),
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
        var checked = 0
        for file in SourceTree.files(in: "Sources", ending: ".swift") {
            let target = String(file.path.split(separator: "/")[1])
            let row = Self.allowed[target]
            #expect(row != nil, "\(file.path): no row in the import table for the target \(target): add one")
            for (number, text) in file.code {
                guard let module = Self.imported(by: text) else { continue }
                checked += 1
                #expect(
                    row?.contains(module) == true,
                    "\(file.path):\(number): import table: \(target) may not import \(module)")
            }
        }
        #expect(checked > 50, "the check has read almost nothing")
    }

    @Test func `an import line is read whatever stands around it`() {
        #expect(Self.imported(by: "package import SimBase") == "SimBase")
        #expect(Self.imported(by: "private import struct Foundation.URL") == "Foundation")
        #expect(Self.imported(by: "let important = 1") == nil)
    }
}
