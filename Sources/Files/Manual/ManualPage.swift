internal import CManual

/// A page of the manual (Docs/manual), which is a part of the program.
package struct ManualPage: Sendable {
    /// The word that `help` takes.
    package let topic: String
    /// Markdown.
    let text: String

    /// In the order of the index of the manual.
    package static let all: [ManualPage] = (0..<shim_manual_count()).map { index in
        let page = unsafe shim_manual_page(index)
        return unsafe ManualPage(topic: String(cString: page.topic), text: String(cString: page.text))
    }

    /// What a topic answers, as the index of the manual has it: `| [topic](file.md) | what it answers |`.
    private static let summaries: [String: String] = {
        let index = unsafe MarkdownDocument(String(cString: shim_manual_index()))
        var summaries: [String: String] = [:]
        for case .table(let rows) in index.blocks {
            for row in rows where row.count == 2 {
                summaries[MarkdownDocument.plain(row[0])] = MarkdownDocument.plain(row[1])
            }
        }
        return summaries
    }()

    package static func named(_ topic: String) -> ManualPage? { self.all.first { $0.topic == topic } }

    /// The heading of the page, which is its first line.
    package var title: String {
        String(self.text.prefix { $0 != "\n" }.drop { $0 == "#" || $0 == " " })
    }

    /// What the page answers, in a few words.
    package var summary: String { Self.summaries[self.topic] ?? self.title }

    package var document: MarkdownDocument { MarkdownDocument(self.text) }
}
