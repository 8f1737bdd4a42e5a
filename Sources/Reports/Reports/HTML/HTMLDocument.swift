import RunArchive
import SimBase

/// One self-contained page: it loads nothing, and the policy in its head forbids it.
package struct HTMLDocument {
    package struct Section {
        package var id: String
        package var title: String
        package var lead: HTML
        package var body: HTML
        /// Whether only its title is shown until a reader opens it, or follows a link into it.
        package var isFolded = false

        package init(id: String, title: String, lead: HTML = "", body: HTML) {
            self.id = id
            self.title = title
            self.lead = lead
            self.body = body
        }

        package var inner: HTML { "\(self.heading)\n\(self.content)" }

        private var heading: HTML { "<h2 id=\"\(self.id)-title\">\(self.title)</h2>" }

        private var content: HTML {
            """
            \(self.lead.isEmpty ? "" : "<p class=\"lead\">\(self.lead)</p>")
            \(self.body)
            """
        }

        fileprivate var html: HTML {
            let fold: (HTML, HTML) =
                self.isFolded
                ? ("<details class=\"fold long\"><summary>\(self.heading)</summary>\n", "</details>\n")
                : ("", "")
            return """
                \(fold.0)<section id="\(self.id)" aria-labelledby="\(self.id)-title">
                \(self.isFolded ? self.content : self.inner)</section>
                \(fold.1)
                """
        }
    }

    package var title: HTML
    package var header: HTML
    package var sections: [Section]

    package init(title: HTML, header: HTML, sections: [Section]) {
        self.title = title
        self.header = header
        self.sections = sections
    }

    package var html: HTML {
        let nav: [HTML] = self.sections.map { "<a href=\"#\($0.id)\">\($0.title)</a>" }
        return Self.page(
            title: self.title,
            policy: """
                <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
                style-src 'sha256-\(Self.hash(HTMLStyle.text))'; \
                script-src 'sha256-\(Self.hash(HTMLScript.text))'; \
                img-src data:; base-uri 'none'; form-action 'none'">
                """, style: HTMLStyle.text,
            body: """
                <main>
                \(self.header)
                <nav aria-label="sections">
                \(nav.joined(separator: "\n"))
                </nav>
                \(self.sections.map(\.html).joined())
                </main>
                """, script: HTMLScript.text)
    }

    /// `policy`: a line of the head; nil where the header of HTTP has it.
    package static func page(title: HTML, policy: HTML?, style: HTML, body: HTML, script: HTML) -> HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">\(policy.map { "\n\($0)" } ?? "")
        <meta name="viewport" content="width=device-width,initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <title>\(title)</title>
        <link rel="icon" href="data:,">
        <style>\(style)</style>
        </head>
        <body>
        \(body)
        <script>\(script)</script>
        </body>
        </html>

        """
    }

    package static func hash(_ html: HTML) -> String {
        Base64.text(SHA256.digest(of: Array(html.text.utf8)))
    }

    /// The large sign of a verdict.
    package static func badge(_ tone: Tone) -> HTML {
        let circle: HTML = "<circle cx=\"26\" cy=\"26\" r=\"24\"/>"
        let shape: HTML =
            switch tone {
            case .good: circle + "<path d=\"M15 27l8 8 15-17\"/>"
            case .warn: "<path d=\"M26 4L50 47H2z\"/><path d=\"M26 19v14M26 38v2\"/>"
            case .bad: circle + "<path d=\"M17 17l18 18M35 17L17 35\"/>"
            case .running: circle + "<path d=\"M21 16l16 10-16 10z\"/>"
            case .plain, .unknown: circle
            }
        return """
            <svg width="52" height="52" viewBox="0 0 52 52" aria-hidden="true" fill="none" \
            stroke="currentColor" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round">\(shape)</svg>
            """
    }
}
