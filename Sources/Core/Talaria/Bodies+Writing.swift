package import JSON

extension Book: JSONWritable {
    package func write(to writer: inout JSONWriter) { self.write(nil, to: &writer) }

    /// Writes the members of the format `full`.
    package func writeFull(to writer: inout JSONWriter) { self.write(BookDetails(of: self), to: &writer) }

    private func write(_ details: BookDetails?, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("author", self.author)
            writer.member("confidence", self.confidence)
            writer.member("coverUrl", self.coverUrl)
            writer.member("enrichmentStatus", self.enrichmentStatus?.text)
            writer.member("format", details?.format)
            writer.member("isbn", self.isbn)
            writer.member("pageCount", details?.pageCount)
            writer.member("publishedDate", details?.publishedDate)
            writer.member("publisher", details?.publisher)
            writer.member("title", self.title)
        }
    }
}

extension CompletedSummary: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("approved", self.approved)
            writer.member("needsReview", self.needsReview)
            writer.member("totalDetected", self.totalDetected)
        }
    }
}

extension CompletedData: JSONWritable {
    package func write(to writer: inout JSONWriter) { self.write(to: &writer) { $0.write(to: &$1) } }

    package func write(to writer: inout JSONWriter, book: (Book, inout JSONWriter) -> Void) {
        writer.object { writer in
            if let books = self.books { writer.array("books", books) { book($1, &$0) } }
            writer.member("jobId", self.jobId)
            writer.member("resultsUrl", self.resultsUrl)
            if let summary = self.summary {
                writer.key("summary")
                summary.write(to: &writer)
            }
            writer.member("type", self.type)
        }
    }
}

extension ResultsBody: JSONWritable {
    package func write(to writer: inout JSONWriter) { self.write(to: &writer) { $0.write(to: &$1) } }

    package func write(to writer: inout JSONWriter, book: (Book, inout JSONWriter) -> Void) {
        writer.object { writer in
            writer.object("data") { writer in
                writer.member("jobId", self.data.jobId)
                writer.member("processingTimeMs", self.data.processingTimeMs)
                writer.array("results", self.data.results) { book($1, &$0) }
                writer.member("status", self.data.status)
            }
            writer.member("success", self.success)
        }
    }
}

extension UploadAccepted: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let links = self._links {
                writer.object("_links") { writer in
                    writer.member("cancel", links.cancel)
                    writer.member("self", links.`self`)
                    writer.member("stream", links.stream)
                }
            }
            writer.object("data") { writer in
                writer.member("authToken", self.data.authToken)
                writer.member("jobId", self.data.jobId)
                writer.member("sseUrl", self.data.sseUrl)
                writer.member("status", self.data.status?.rawValue)
                writer.member("statusUrl", self.data.statusUrl)
            }
            writer.member(self.metadata)
            writer.member("success", self.success)
        }
    }
}

extension StatusBody: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.object("data") { self.data.write(members: &$0) }
            writer.member("success", self.success)
        }
    }
}

extension StatusBody.Status {
    package func write(members writer: inout JSONWriter) {
        writer.member("jobId", self.jobId)
        writer.member("processedCount", self.processedCount)
        writer.member("progress", self.progress)
        writer.member("status", self.status.rawValue)
        writer.member("totalCount", self.totalCount)
    }
}

extension CancelBody: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.object("data") { writer in
                writer.member("jobId", self.data.jobId)
                writer.member("status", self.data.status.rawValue)
            }
            writer.member("success", self.success)
        }
    }
}

extension Problem: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("code", self.code)
            writer.member("detail", self.detail)
            writer.member("instance", self.instance)
            writer.member(self.metadata)
            writer.member("retryAfter", self.retryAfter)
            writer.member("retryAfterMs", self.retryAfterMs)
            writer.member("retryable", self.retryable)
            writer.member("status", self.status)
            writer.member("success", self.success)
            writer.member("title", self.title)
            writer.member("type", self.type)
        }
    }
}

extension ErrorData: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("code", self.code)
            writer.member("jobId", self.jobId)
            writer.member("message", self.message)
            writer.member("retryable", self.retryable)
            writer.member("type", self.type)
        }
    }
}

extension DegradedData: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("fallbackSource", self.fallbackSource)
            writer.member("isbn", self.isbn)
            writer.member("jobId", self.jobId)
            writer.member("reason", self.reason)
            writer.member("timestamp", self.timestamp)
            writer.member("title", self.title)
            writer.member("type", self.type)
        }
    }
}

extension JSONWriter {
    /// Nil is left out.
    package mutating func member(_ metadata: Metadata?) {
        guard let metadata else { return }
        self.object("metadata") { writer in
            writer.member("requestId", metadata.requestId)
            writer.member("timestamp", metadata.timestamp)
        }
    }

    fileprivate mutating func member(_ key: StaticString, _ link: UploadAccepted.Link) {
        self.object(key) { writer in
            writer.member("href", link.href)
            writer.member("method", link.method)
            writer.member("rel", link.rel)
        }
    }
}
