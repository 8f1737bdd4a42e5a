import Foundation
import Testing

/// Documents that lead somewhere.
@Suite struct DocumentTests {
    @Test func `every relative link in the documents resolves`() {
        var links = 0
        for file in SourceTree.files(in: "", ending: ".md") {
            let folder = SourceTree.root.appending(path: file.path).deletingLastPathComponent()
            for match in file.text.matches(of: /\]\(([^)\s#]+)[^)]*\)/) {
                let target = String(match.1)
                guard !target.contains("://"), !target.hasPrefix("mailto:") else { continue }
                links += 1
                #expect(
                    FileManager.default.fileExists(atPath: folder.appending(path: target).path),
                    "\(file.path): dead link: \(target)")
            }
        }
        #expect(links > 0, "no document has a link: the check has read nothing")
    }

    /// A shell that is asked in person, as zsh is on every Mac, takes `#` for a word like any other.
    @Test func `every command in the documents pastes into a shell`() {
        var commands = 0
        for file in SourceTree.files(in: "", ending: ".md") where !file.path.hasPrefix("Docs/decisions") {
            for (number, line) in file.lines.enumerated() where line.hasPrefix("    ") {
                let text = line.drop { $0 == " " }
                guard ["swiftwing-sim ", "make ", "curl ", "#"].contains(where: text.hasPrefix) else {
                    continue
                }
                commands += 1
                #expect(
                    text.firstMatch(of: /(?:^|\s)#/) == nil,
                    "\(file.path):\(number + 1): a comment in a command")
            }
        }
        #expect(commands > 10, "no document has a command: the check has read nothing")
    }

    @Test func `no file names a path of one machine`() {
        for folder in ["Sources", "Tests", "Scenarios", "Docs", "Images"] {
            for ending in [".swift", ".md", ".scenario", ".h"] {
                for file in SourceTree.files(in: folder, ending: ending)
                // A search for words is much quicker than one for a pattern, and most files have none of them.
                where !file.path.hasPrefix("Tests/TidyTests")
                    && ["/root/", "/work/", "/home/"].contains(where: { file.text.contains($0) })
                {
                    for (number, text) in file.lines.enumerated() {
                        #expect(
                            text.firstMatch(of: /\/(?:root|work|home\/\w+)\//) == nil,
                            "\(file.path):\(number + 1): a path of one machine")
                    }
                }
            }
        }
    }
}
