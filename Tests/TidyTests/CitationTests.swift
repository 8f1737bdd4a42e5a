import Foundation
import Testing

/// Citations of documents, their sections and rules, and of decisions.
@Suite struct CitationTests {
    private enum Citation: Hashable {
        case document(String)
        case section(String, of: String)
        case rule(String, of: String)
        case decision(String)
    }

    // MARK: Citations

    private static let files: [SourceTree.File] =
        ["Sources", "Tests", "Docs"].flatMap { SourceTree.files(in: $0, ending: "") }
        + ["README.md", "Makefile"].compactMap(Self.file)

    private static func file(_ path: String) -> SourceTree.File? {
        let text = try? String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8)
        return text.map { SourceTree.File(path: path, text: $0) }
    }

    /// Whether the line is worth a closer look.
    private static func mayCite(_ text: String) -> Bool {
        text.contains("Docs/") || text.contains("ecision")
    }

    /// The citations that begin in a line; they may end in the next one.
    private static func citations(in line: String, followedBy next: String) -> [Citation] {
        let text = line + " " + String(next.drop { " \t/#*".contains($0) })
        let end = text.index(text.startIndex, offsetBy: line.count)
        var citations: [Citation] = []
        for match in text.matches(
            of:
                #/(Docs/(?:[\w\-]+/)*[\w.\-]+\.md)(?: (section|rule)(s?) (\d+(?:\.\d+)*(?:(?:,? and |, )\d+(?:\.\d+)*)*))?/#
        ) where match.range.lowerBound < end {
            let document = String(match.1)
            citations.append(.document(document))
            let numbers = (match.4 ?? "").matches(of: /\d+(?:\.\d+)*/).map { String($0.output) }
            let isPlural = match.3 == "s"
            for number in isPlural ? numbers[...] : numbers.prefix(1) {
                citations.append(
                    match.2 == "rule" ? .rule(number, of: document) : .section(number, of: document))
            }
        }
        for match in text.matches(of: /[Dd]ecisions? (0\d{3}(?:(?:,? and |, )0\d{3})*)/)
        where match.range.lowerBound < end {
            citations += match.1.matches(of: /\d{4}/).map { Citation.decision(String($0.output)) }
        }
        return citations
    }

    // MARK: What is cited

    private static let documents = SourceTree.files(in: "Docs", ending: ".md")
    private static let paths = Set(documents.map(\.path))

    /// The numbers of the sections of each document.
    private static let sections = [String: Set<String>](
        uniqueKeysWithValues: documents.map { ($0.path, Set($0.lines.compactMap(Self.section))) })

    /// The numbers of the rules of each document.
    private static let rules = [String: Set<String>](
        uniqueKeysWithValues: documents.map { ($0.path, Set($0.lines.compactMap(Self.rule))) })

    private static let decisions = Set(
        documents.compactMap { file -> String? in
            file.path.firstMatch(of: /^Docs\/decisions\/(\d{4})-/).map { String($0.1) }
        })

    /// The number with which a heading begins.
    private static func section(_ line: String) -> String? {
        guard line.hasPrefix("#") else { return nil }
        let title = String(line.drop { $0 == "#" }) + " "
        return title.prefixMatch(of: /\s+(\d+(?:\.\d+)*)\.?\s/).map { String($0.1) }
    }

    /// The number of a rule, which is an item of a list or a heading.
    private static func rule(_ line: String) -> String? {
        let text = String(line.drop { "# ".contains($0) }) + " "
        return text.prefixMatch(of: /(?:\*\*)?(?:Rule )?(\d+)[.:]?(?:\*\*)?\s/).map { String($0.1) }
    }

    /// What is wrong with a citation.
    private static func objection(to citation: Citation) -> String? {
        switch citation {
        case .document(let path):
            Self.paths.contains(path) ? nil : "there is no \(path)"
        case .section(let number, let path):
            Self.sections[path]?.contains(number) == true ? nil : "\(path) has no section \(number)"
        case .rule(let number, let path):
            Self.rules[path]?.contains(number) == true ? nil : "\(path) has no rule \(number)"
        case .decision(let number):
            Self.decisions.contains(number) ? nil : "there is no decision \(number)"
        }
    }

    // MARK: Tests

    @Test func `every citation resolves`() {
        var citations = 0
        for file in Self.files where Self.mayCite(file.text) {
            let lines = file.lines
            for (index, line) in lines.enumerated() where Self.mayCite(line) {
                let next = index + 1 < lines.count ? lines[index + 1] : ""
                for citation in Self.citations(in: line, followedBy: next) {
                    citations += 1
                    if let objection = Self.objection(to: citation) {
                        Issue.record("\(file.path):\(index + 1): \(objection)")
                    }
                }
            }
        }
        #expect(citations > 20, "no file has a citation: the check has read nothing")
    }

    /// Former names of documents, and of some that were never in the repository.
    @Test func `no file names a document that is not in the repository`() {
        let names = ["CONTRACT", "DESIGN", "STYLE", "SIMULATION", "HOUSE", "FIELD"].map { $0 + ".md" }
        for file in Self.files {
            for name in names where file.text.contains(name) {
                for (index, line) in file.lines.enumerated() where line.contains(name) {
                    Issue.record("\(file.path):\(index + 1): names \(name), which is not in the repository")
                }
            }
        }
    }

    @Test func `a citation is read with its numbers, also where it goes on in the next line`() {
        let document = "Docs/simulation.md"
        let cited = Self.citations(
            in: "/// (\(document) section 4.2, C13, and decision 0117; \(document) sections",
            followedBy: "/// 5 and 6.1; \(document)).")
        #expect(
            cited == [
                .document(document), .section("4.2", of: document),
                .document(document), .section("5", of: document), .section("6.1", of: document),
                .decision("0117"),
            ])
        #expect(Self.citations(in: "(\(document) rules 2, 3 and 27)", followedBy: "").count == 4)
        #expect(Self.citations(in: "a decision in 2026, in Docs", followedBy: "").isEmpty)
        #expect(Self.citations(in: "after Docs/\("gone").md", followedBy: "section 2").count == 2)
    }

    @Test func `a citation that leads nowhere is seen`() {
        #expect(Self.objection(to: .document("Docs/\("gone").md")) != nil)
        #expect(Self.objection(to: .section("4.1", of: "Docs/simulation.md")) == nil)
        #expect(Self.objection(to: .section("4.99", of: "Docs/simulation.md")) != nil)
        #expect(Self.objection(to: .decision("0001")) == nil)
        #expect(Self.objection(to: .decision("0002")) != nil)
    }

    @Test func `sections and rules are read by their numbers`() {
        #expect(Self.section("### 1.2 Title") == "1.2")
        #expect(Self.section("## 3. Title") == "3")
        #expect(Self.section("## Title 3") == nil)
        #expect(Self.section("1.2 text") == nil)
        #expect(Self.rule("27. A rule.") == "27")
        #expect(Self.rule("### Rule 27: a rule") == "27")
        #expect(Self.rule("**27.** A rule.") == "27")
        #expect(Self.rule("### 4.1 Tree") == nil)
    }
}
