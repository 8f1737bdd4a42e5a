import Foundation
import Testing

@testable import Manual

/// The pages in the program are those in the documents.
@Suite struct ManualPageTests {
    private static let documents = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs")

    /// Pages next to the manual, under the name of their topic.
    private static let beside = ["fault-kinds": "faults.md", "real-app": "real-app.md"]

    @Test func `every page of the manual is a topic, and every topic a page`() throws {
        let files = try FileManager.default.contentsOfDirectory(
            atPath: Self.documents.appending(path: "manual").path)
        let pages = files.filter { $0.hasSuffix(".md") && $0 != "README.md" }.map { String($0.dropLast(3)) }
        #expect(Set(ManualPage.all.map(\.topic)) == Set(pages + Self.beside.keys))
        #expect(ManualPage.all.count == pages.count + Self.beside.count)
    }

    @Test(arguments: ManualPage.all.map(\.topic)) func `a topic is the file as it is`(topic: String) throws {
        let name = Self.beside[topic] ?? "manual/\(topic).md"
        let text = try String(contentsOf: Self.documents.appending(path: name), encoding: .utf8)
        let page = try #require(ManualPage.named(topic))
        #expect(page.text == text)
        #expect(page.title == page.document.title && page.document.title != nil)
    }

    @Test func `the index names every topic, in its order`() throws {
        let index = try String(
            contentsOf: Self.documents.appending(path: "manual/README.md"), encoding: .utf8)
        // A page that is not there is a dead link, which another test finds.
        let named = index.matches(of: /\[([a-z\-]+)\]\(([a-z\-.\/]+)\)/).filter {
            FileManager.default.fileExists(
                atPath: Self.documents.appending(path: "manual/\($0.2)").path)
        }.map { String($0.1) }
        #expect(named == ManualPage.all.map(\.topic))
    }
}
