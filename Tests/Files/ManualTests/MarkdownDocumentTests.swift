import Testing

@testable import Manual

@Suite struct MarkdownDocumentTests {
    @Test func `a page is read block by block`() {
        let document = MarkdownDocument(
            """
            # Title

            A paragraph
            of two lines.

            <!-- a word to the tests
            on two lines -->

                one command
                  another

                after a gap

            - an item
              goes on
            - the next
              - within it
            1. counted:

                   code of an item

            | a | b |
            |---|---|
            | `x\\|y` | |

            ```
            fenced
            ```
            """)
        #expect(
            document.blocks == [
                .heading(level: 1, text: "Title"), .paragraph("A paragraph of two lines."),
                .code(depth: 0, lines: ["one command", "  another", "", "after a gap"]),
                .item(marker: "-", depth: 0, text: "an item goes on"),
                .item(marker: "-", depth: 0, text: "the next"),
                .item(marker: "-", depth: 1, text: "within it"),
                .item(marker: "1.", depth: 0, text: "counted:"),
                .code(depth: 1, lines: ["code of an item"]),
                .table([["a", "b"], ["`x|y`", ""]]), .code(depth: 0, lines: ["fenced"]),
            ])
        #expect(document.title == "Title")
    }

    @Test(arguments: [
        ("see [metrics](metrics.md), **now**", "see metrics, now"), ("`a * b` and *c*", "`a * b` and c"),
        ("[a](b) [c](d)", "a c"), ("![picture](x.png)", "picture"), ("[no link] (here)", "[no link] (here)"),
        ("`open", "`open"), ("", ""),
    ])
    func `marks are taken from the text`(text: String, plain: String) {
        #expect(MarkdownDocument.plain(text) == plain)
    }
}
