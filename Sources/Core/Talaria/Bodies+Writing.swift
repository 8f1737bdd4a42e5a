package import JSON

extension Book: FastJSONEncodable {
    package func write(to writer: inout FastJSONWriter) {
        writer.object { writer in
            writer.member("author", self.author)
            writer.member("confidence", self.confidence)
            writer.member("coverUrl", self.coverUrl)
            writer.member("enrichmentStatus", self.enrichmentStatus?.text)
            writer.member("isbn", self.isbn)
            writer.member("title", self.title)
        }
    }
}

extension CompletedSummary: FastJSONEncodable {
    package func write(to writer: inout FastJSONWriter) {
        writer.object { writer in
            writer.member("approved", self.approved)
            writer.member("needsReview", self.needsReview)
            writer.member("totalDetected", self.totalDetected)
        }
    }
}

extension CompletedData: FastJSONEncodable {
    package func write(to writer: inout FastJSONWriter) {
        writer.object { writer in
            if let books = self.books {
                writer.key("books")
                writer.array(books) { $1.write(to: &$0) }
            }
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

extension ResultsBody: FastJSONEncodable {
    package func write(to writer: inout FastJSONWriter) {
        writer.object { writer in
            writer.key("data")
            writer.object { writer in
                writer.member("jobId", self.data.jobId)
                writer.key("results")
                writer.array(self.data.results) { $1.write(to: &$0) }
                writer.member("status", self.data.status)
            }
            writer.member("success", self.success)
        }
    }
}

extension UploadAccepted: FastJSONEncodable {
    package func write(to writer: inout FastJSONWriter) {
        writer.object { writer in
            if let links = self._links {
                writer.key("_links")
                writer.object { writer in
                    writer.member("cancel", links.cancel)
                    writer.member("self", links.`self`)
                    writer.member("stream", links.stream)
                }
            }
            writer.key("data")
            writer.object { writer in
                writer.member("authToken", self.data.authToken)
                writer.member("jobId", self.data.jobId)
                writer.member("sseUrl", self.data.sseUrl)
                writer.member("statusUrl", self.data.statusUrl)
            }
            if let metadata = self.metadata {
                writer.key("metadata")
                writer.object { writer in
                    writer.member("requestId", metadata.requestId)
                    writer.member("timestamp", metadata.timestamp)
                }
            }
            writer.member("success", self.success)
        }
    }
}

extension FastJSONWriter {
    fileprivate mutating func member(_ key: StaticString, _ link: UploadAccepted.Link) {
        self.key(key)
        self.object { writer in
            writer.member("href", link.href)
            writer.member("method", link.method)
            writer.member("rel", link.rel)
        }
    }
}
