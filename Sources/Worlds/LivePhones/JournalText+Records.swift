import Phone
import SimBase
import Talaria

// Records and books by hand too: a scan writes its record half a dozen times. `StateFolder` reads them with a decoder, and
// a test holds the two together, whatever members are added.
extension JournalText {
    mutating func member(_ key: StaticString, _ record: DurableScan) {
        self.open(key)
        self.first("scan", Int64(record.scan))
        self.member("photo", Int64(record.photo))
        self.member("capturedUnixMs", record.capturedUnixMs)
        if let scheduled = record.scheduledUnixNs { self.member("scheduledUnixNs", scheduled) }
        if let due = record.uploadDueUnixNs { self.member("uploadDueUnixNs", due) }
        if let job = record.job {
            self.open("job")
            self.first("jobId", job.jobId)
            if let token = job.authToken { self.member("authToken", token) }
            self.member("sseUrl", job.sseUrl)
            self.member("lastEventID", job.lastEventID)
            self.close()
        }
        self.member("booksApplied", numbers: record.booksApplied)
        self.member("cause", record.cause)
        self.open("attempts")
        self.first("upload", Int64(record.attempts.upload))
        self.member("stream", Int64(record.attempts.stream))
        self.member("results", Int64(record.attempts.results))
        self.member("cleanup", Int64(record.attempts.cleanup))
        self.close()
        self.member("tokenExpiries", Int64(record.tokenExpiries))
        self.member("retryableErrors", Int64(record.retryableErrors))
        self.member("completed", record.completed)
        if let refusal = record.refusal { self.member("refusal", refusal) }
        self.close()
    }

    mutating func member(_ key: StaticString, _ book: Book) {
        self.open(key)
        self.first("title", book.title)
        self.member("author", book.author)
        if let isbn = book.isbn { self.member("isbn", isbn) }
        // JSON has no other numbers; a book that came as JSON has none either.
        if let confidence = book.confidence, confidence.isFinite {
            self.member("confidence", json: Array("\(confidence)".utf8))
        }
        if let status = book.enrichmentStatus { self.member("enrichmentStatus", status.text) }
        if let url = book.coverUrl { self.member("coverUrl", url) }
        self.close()
    }
}
