import Phone
import Talaria

/// A book that the phone has read by itself, and what the backend knows of it.
enum TextSample {
    static let reading = BookReading(
        title: "Moby-Dick, or the Whale", author: "Herman Melville", isbn: nil, text: "Moby-Dick",
        confidence: 0.8)
    static let found: Enrichment = {
        var found = Enrichment(
            verifiedTitle: "Moby-Dick; or the Whale", verifiedAuthor: "H. Melville", confidence: 0.95)
        found.coverUrl = "https://covers.example/1.jpg"
        return found
    }()

    /// Answers the look-up by text.
    static func answer(_ phone: inout TestPhone, _ form: Enrichment.Form = .nested) {
        phone.answer(.upload, 200, self.found.body(form, jobId: "req-1"), type: "application/json")
    }
}
