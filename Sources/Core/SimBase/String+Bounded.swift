extension String {
    /// The first 80 bytes of UTF-8 and an ellipsis, or all of a shorter text: an excerpt of what a server wrote, for a
    /// report, which escapes it.
    package var bounded: String {
        self.utf8.count <= 80 ? self : String(decoding: self.utf8.prefix(80), as: UTF8.self) + "…"
    }
}
