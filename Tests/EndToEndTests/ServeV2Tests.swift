import CSV
import Foundation
import SimBase
import Testing

extension SideBySide {
    /// The imports and enrichments of v2 at `serve`, as `curl` sees them.
    @Suite struct ServeV2Tests {
        private struct Envelope<Data: Decodable>: Decodable {
            let success: Bool
            let data: Data
        }

        private struct Started: Decodable {
            let jobId: String
            let authToken: String
            let sseUrl: String
            let statusUrl: String
        }

        private struct Results: Decodable {
            struct Flaw: Decodable { let row: Int }

            let booksCreated: Int
            let booksUpdated: Int
            let duplicatesSkipped: Int
            let enrichmentFailed: Int
            let errors: [Flaw]
            let totalCount: Int
        }

        private func start(_ phone: Curl, _ file: [UInt8], in folder: Scratch) async throws -> Started {
            let path = folder.folder.appending(path: "library.csv")
            try Data(file).write(to: path)
            let reply = try await phone.get(
                "/api/v2/imports", ["-F", "file=@\(path.path);type=text/csv", "-X", "POST"])
            try #require(reply.status == 202, "\(reply.body)")
            return try reply.decoded(Envelope<Started>.self).data
        }

        /// Files of the tool in each separator: what the server makes of a file is what the file says of its rows.
        @Test(arguments: CSVFormat.Separator.allCases)
        func `a file becomes books, and each row has its outcome`(separator: CSVFormat.Separator) async throws
        {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            var spec = LibrarySpec()
            spec.rows = 300
            spec.format.separator = separator
            let file = LibraryFile(spec, KeyedRandom(seed: 11), device: DeviceNumber(1), number: 1)
            try await ServeProcess.during([]) { serve in
                let phone = Curl(base: serve.base)
                let job = try await self.start(phone, file.bytes, in: scratch)
                let stream = try await phone.get(job.sseUrl, ["-N"])
                #expect(stream.status == 200)
                #expect(stream.body.hasPrefix(": connection established\nretry: 5000\n\n"))
                #expect(stream.body.contains("event: completed\n"))

                let reply = try await phone.get("\(job.statusUrl)/results")
                #expect(reply.status == 200)
                let results = try reply.decoded(Envelope<Results>.self).data
                let bad = file.rows.indices.filter { file.rows[$0].kind == .badISBN }.map { $0 + 1 }
                let repeated = file.rows.count {
                    if case .duplicate = $0.kind { true } else { false }
                }
                #expect(results.errors.map(\.row) == bad)
                #expect(results.enrichmentFailed == bad.count)
                #expect(results.duplicatesSkipped == repeated)
                #expect(results.booksUpdated == 0)
                #expect(results.booksCreated == 300 - bad.count - repeated)
                #expect(results.totalCount == 300)
            }
        }

        @Test func `a cancel in the middle ends the stream, and leaves no results`() async throws {
            let scratch = try Scratch()
            defer { withExtendedLifetime(scratch) {} }
            var spec = LibrarySpec()
            spec.rows = 5_000
            let file = LibraryFile(spec, KeyedRandom(seed: 11), device: DeviceNumber(1), number: 1)
            try await ServeProcess.during([]) { serve in
                let phone = Curl(base: serve.base)
                let job = try await self.start(phone, file.bytes, in: scratch)
                async let stream = phone.get(job.sseUrl, ["-N"])
                try await Task.sleep(for: .seconds(1))
                var owner = phone
                owner.token = job.authToken
                #expect(try await owner.delete("/v1/jobs/\(job.jobId)").status == 200)
                #expect(try await stream.body.contains(#""code":"CANCELED""#))
                #expect(try await phone.get("\(job.statusUrl)/results").status == 410)
            }
        }

        @Test func `a barcode becomes a book, and its key is billed once`() async throws {
            struct Book: Decodable, Equatable {
                let isbn: String
                let title: String
            }
            try await ServeProcess.during([]) { serve in
                let phone = Curl(base: serve.base)
                let options = [
                    "-H", "Content-Type: application/json", "-d",
                    #"{"barcode":"9780141439587","vectorize":true,"idempotencyKey":"scan_9780141439587"}"#,
                ]
                let first = try await phone.get("/api/v2/books/enrich", options)
                let again = try await phone.get("/api/v2/books/enrich", options)
                try #require(first.status == 200 && again.status == 200, "\(first)")
                #expect(first.body.contains(#""cached":false"#) && again.body.contains(#""cached":true"#))
                let books = try [first, again].map { try $0.decoded(Envelope<Book>.self).data }
                #expect(books[0] == books[1] && books[0].isbn == "9780141439587")
            }
        }

        @Test func `what is no file of an import is refused in the form of v2`() async throws {
            try await ServeProcess.during([]) { serve in
                let phone = Curl(base: serve.base)
                let large = FileManager.default.temporaryDirectory.appending(path: "large-\(UUID()).csv")
                try Data(count: (8 << 20) + 1).write(to: large)
                defer { try? FileManager.default.removeItem(at: large) }
                let cases = [
                    (["-F", "file=@\(large.path)", "-X", "POST"], 413, "FILE_TOO_LARGE"),
                    (["-F", "other=1", "-X", "POST"], 400, "INVALID_REQUEST"),
                    (["-d", "{}", "-X", "POST"], 400, "INVALID_REQUEST"),
                    ([], 405, "METHOD_NOT_ALLOWED"),
                ]
                for (options, status, code) in cases {
                    let reply = try await phone.get("/api/v2/imports", options)
                    #expect(reply.status == status, "\(reply)")
                    #expect(reply.body.contains(#""code":"\#(code)""#), "\(reply)")
                }
                #expect(try await phone.get("/api/v2/imports/import_x").status == 404)
            }
        }
    }
}
