import RunArchive

/// One self-contained page: it loads nothing, and the policy in its head forbids it.
package struct HTMLDocument {
    package struct Section {
        package var id: String
        package var title: String
        package var lead: String
        package var body: String

        package init(id: String, title: String, lead: String = "", body: String) {
            self.id = id
            self.title = title
            self.lead = lead
            self.body = body
        }

        package var inner: String {
            """
            <h2 id="\(self.id)-title">\(self.title)</h2>
            \(self.lead.isEmpty ? "" : "<p class=\"lead\">\(self.lead)</p>")
            \(self.body)
            """
        }
    }

    /// Escaped already, as all of its parts.
    package var title: String
    package var header: String
    package var sections: [Section]

    package init(title: String, header: String, sections: [Section]) {
        self.title = title
        self.header = header
        self.sections = sections
    }

    package var text: String {
        let nav = self.sections.map { "<a href=\"#\($0.id)\">\($0.title)</a>" }.joined(separator: "\n")
        let body = self.sections.map { section in
            """
            <section id="\(section.id)" aria-labelledby="\(section.id)-title">
            \(section.inner)</section>

            """
        }.joined()
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
            style-src 'sha256-\(Self.hash(HTMLStyle.text))'; script-src 'sha256-\(Self.hash(HTMLScript.text))'; \
            img-src data:; base-uri 'none'; form-action 'none'">
            <meta name="viewport" content="width=device-width,initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <title>\(self.title)</title>
            <link rel="icon" href="data:,">
            <style>\(HTMLStyle.text)</style>
            </head>
            <body>
            <main>
            \(self.header)
            <nav aria-label="sections">
            \(nav)
            </nav>
            \(body)
            </main>
            <script>\(HTMLScript.text)</script>
            </body>
            </html>

            """
    }

    package static func hash(_ text: String) -> String { Base64.text(SHA256.digest(of: Array(text.utf8))) }

    /// The large sign of a verdict.
    package static func badge(_ tone: Tone) -> String {
        let circle = "<circle cx=\"26\" cy=\"26\" r=\"24\"/>"
        let shape =
            switch tone {
            case .good: circle + "<path d=\"M15 27l8 8 15-17\"/>"
            case .warn: "<path d=\"M26 4L50 47H2z\"/><path d=\"M26 19v14M26 38v2\"/>"
            case .bad: circle + "<path d=\"M17 17l18 18M35 17L17 35\"/>"
            case .running: circle + "<path d=\"M21 16l16 10-16 10z\"/>"
            case .plain, .unknown: circle
            }
        return "<svg width=\"52\" height=\"52\" viewBox=\"0 0 52 52\" aria-hidden=\"true\" fill=\"none\" "
            + "stroke=\"currentColor\" stroke-width=\"3.5\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\(shape)</svg>"
    }
}
