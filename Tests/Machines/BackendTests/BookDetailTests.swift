import Backend
import JSON
import Observations
import SimBase
import Talaria
import Testing

/// The formats `lite` and `full` of books (Docs/contract.md section 1.3), and books that the backend could not look up.
struct BookDetailTests {
    private static let details = ["format", "pageCount", "publishedDate", "publisher"]

    /// The books in the results of a job of 10 books, each by its keys.
    private func results(
        _ query: String?, _ change: (inout BackendConfiguration) -> Void = { _ in }
    ) throws -> [JSONNode] {
        var bench = Bench(books: 10, change)
        let job = bench.job()
        bench.run(seconds: 11)
        let data = try #require(JSONNode(bench.results(job, query: query).reply?.body ?? [])?["data"])
        return try #require((data["results"] ?? data["books"])?.elements)
    }

    private func hasDetails(_ book: JSONNode) -> Bool { Self.details.allSatisfy { book[$0] != nil } }
    private func hasNoDetails(_ book: JSONNode) -> Bool { Self.details.allSatisfy { book[$0] == nil } }

    @Test(arguments: [nil, "format=lite"])
    func `results have no details unless the client asks for them`(query: String?) throws {
        #expect(try self.results(query).allSatisfy(self.hasNoDetails))
    }

    @Test func `full results have the details of each book that was found`() throws {
        let books = try self.results("format=full")
        #expect(books.count == 10 && books.contains { $0["coverUrl"] != nil })
        for book in books {
            #expect(book["coverUrl"] == nil ? self.hasNoDetails(book) : self.hasDetails(book))
        }
        let lite = try self.results("format=lite")
        #expect(books.map { $0["title"]?.text } == lite.map { $0["title"]?.text })
    }

    @Test func `the dialect of OAS has three members in lite, and all in full`() throws {
        let preset = try #require(BackendConfiguration.preset("legacy-openapi"))
        func change(_ configuration: inout BackendConfiguration) {
            configuration.dialect = preset.dialect
        }
        #expect(try self.results("format=lite", change).allSatisfy { $0["confidence"] == nil })
        #expect(try self.results(nil, change).allSatisfy { $0["confidence"] != nil && self.hasNoDetails($0) })
        #expect(try self.results("format=full", change).contains(where: self.hasDetails))
    }

    private func completed(
        books: Int, _ inline: BackendConfiguration.InlineBooks, _ dialect: String = "contract"
    ) throws -> (books: [JSONNode]?, bytes: Int) {
        let preset = try #require(BackendConfiguration.preset(dialect))
        var bench = Bench(books: books) {
            $0.dialect = preset.dialect
            $0.inlineBooks = inline
        }
        let body = bench.upload().bodyText.replacing("\"token\"", with: "\"authToken\"").replacing(
            "streamUrl", with: "sseUrl")
        let accepted = try #require(JSON.decode(UploadAccepted.self, from: Array(body.utf8))?.data)
        let (stream, _) = bench.stream(Bench.Job(id: accepted.jobId, token: accepted.authToken ?? ""))
        bench.run(seconds: 11)
        let event = try #require(bench.read(stream).last { $0.type == "completed" })
        return (JSONNode(Array(event.data.utf8))?["books"]?.elements, event.data.utf8.count)
    }

    @Test(arguments: ["contract", "bendv3"])
    func `inline books are lean or full`(dialect: String) throws {
        let (lite, full) = (
            try self.completed(books: 10, .lite, dialect), try self.completed(books: 10, .full, dialect)
        )
        #expect(lite.books?.allSatisfy(self.hasNoDetails) == true)
        #expect(full.books?.contains(where: self.hasDetails) == true && full.bytes > lite.bytes)
    }

    @Test func `five hundred books fit into an event when they are lean, and not when they are full`() throws
    {
        #expect(try self.completed(books: 500, .lite).books?.count == 500)
        let full = try self.completed(books: 500, .full)
        #expect(full.books == nil && full.bytes < 1_000)
    }

    @Test func `each book that an open circuit kept from its look-up is told once`() {
        var shelf = Shelf(seed: 7, booksMin: 20, booksMax: 20)
        shelf.statuses.circuitOpen = .percent(50)
        var bench = Bench(shelf: shelf)
        let (stream, _) = bench.stream(bench.job())
        bench.run(seconds: 11)
        let degraded = bench.shelf.books(device: DeviceNumber(4), scan: ScanNumber(1)).filter {
            $0.enrichmentStatus == .circuitOpen
        }
        let told = bench.read(stream).filter { $0.type == "enrichment_degraded" }.compactMap {
            JSONNode(Array($0.data.utf8))?["title"]?.text
        }
        #expect((5...15).contains(told.count) && told == degraded.map(\.title))
    }
}
