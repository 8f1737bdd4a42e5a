import Testing

@testable import Talaria

/// What a client reads of answers and events of v2.
@Suite struct V2ReadingTests {
    private func read<Reading>(
        _ text: String, _ read: ([UInt8], inout ContractNotes) -> Reading
    ) -> Reading {
        var notes = ContractNotes()
        return read(Array(text.utf8), &notes)
    }

    @Test func `authToken comes before token`() {
        func token(_ members: String) -> String? {
            let text = #"{"success": true, "data": {"jobId": "a", "sseUrl": "/s"\#(members)}}"#
            return self.read(text) { UploadAccepted.readV2($0, into: &$1) }?.data.authToken
        }
        #expect(token(#", "token": "old", "authToken": "new""#) == "new")
        #expect(token(#", "token": "old""#) == "old")
        #expect(token("") == nil)
        #expect(self.read("{}") { UploadAccepted.readV2($0, into: &$1) } == nil)
        let failed = #"{"success": false, "data": {"jobId": "a", "sseUrl": "/s"}}"#
        #expect(self.read(failed) { UploadAccepted.readV2($0, into: &$1) }?.success == false)
    }

    @Test(arguments: ["authToken", "token"])
    func `no note shows what stands in place of a token`(key: String) {
        var notes = ContractNotes()
        let text = #"{"success": true, "data": {"jobId": "a", "sseUrl": "/s", "\#(key)": ["s3cret"]}}"#
        #expect(UploadAccepted.readV2(Array(text.utf8), into: &notes)?.data.authToken == nil)
        #expect(notes.notes.map(\.path).contains("data.\(key)"))
        #expect(notes.notes.allSatisfy { $0.excerpt == nil })
    }

    @Test func `a wait is in the details, or in seconds beside the error`() {
        func problem(_ text: String) -> ProblemReading {
            self.read(text) { ProblemReading.readV2($0, into: &$1) }
        }
        let open = problem(
            #"{"error": {"code": "CIRCUIT_OPEN", "retryable": true, "details": {"retryAfterMs": 45000}}}"#)
        #expect(open.code == "CIRCUIT_OPEN" && open.retryable == true && open.retryAfterMs == 45_000)
        let limited = problem(
            #"{"error": {"code": "RATE_LIMIT_EXCEEDED", "retryable": true}, "retryAfter": 60}"#)
        #expect(limited.retryAfterMs == 60_000)
        #expect(problem(#"{"error": {}, "retryAfter": 9223372036854775807}"#).retryAfterMs == nil)
        #expect(problem("<html>") == ProblemReading())
    }

    @Test func `each event has its meaning`() {
        func event(_ name: String, _ text: String) -> JobEvent {
            self.read(text) { JobEvent(v2Name: name, bytes: $0, into: &$1) }
        }
        #expect(event("initialized", "{}") == .progress && event("processing", "{}") == .progress)
        #expect(event("processing", "[") == .malformed(.progress))
        #expect(event("completed", "1") == .malformed(.completed))
        #expect(event("timeout", "{}") == .unknown(name: "timeout"))
        #expect(event("ping", "{}") == .unknown(name: "ping"))
        guard case .completed(let completed) = event("completed", #"{"jobId": "a", "books": []}"#) else {
            Issue.record("no end")
            return
        }
        #expect(completed.jobId == "a" && completed.inline == .absent)
        let nested = #"{"jobId": "a", "error": {"code": "E_CSV_PARSE_FAILED", "retryable": false}}"#
        for (name, text, retryable) in [
            ("failed", nested, false), ("error", #"{"code": "X", "retryable": true}"#, true),
            ("failed", #"{"error": {"code": "X", "retryable": "no"}}"#, true),
        ] as [(String, String, Bool?)] {
            guard case .error(let error) = event(name, text) else {
                Issue.record("no error in \(text)")
                continue
            }
            #expect(error.retryable == retryable)
        }
        #expect(event("failed", "x") == .malformed(.error))
    }

    @Test func `a path belongs to one journey`() {
        for journey in Journey.allCases {
            let id = journey.jobPrefix + "a1"
            for endpoint in [
                Endpoint.upload, .job(jobId: id), .stream(jobId: id), .results(jobId: id),
                .cleanup(jobId: id),
            ] where endpoint == .upload || journey.hasJobs {
                let path = journey.path(endpoint)
                #expect(JourneyPath(path: path) == JourneyPath(journey, endpoint), "\(path)")
            }
        }
        for path in [
            "/api/v2/scans", "/api/v2/scans/", "/api/v2/scans/a1", "/api/v2/scans/scan_/../x",
            "/api/v2/scans/scan_a/other", "/v1/jobs/other_a", "/api/v2/enrichments/scan_a/stream",
            "/v1/csv/cancel/scan_a", "/api/v2/jobs/enrichment_a/cancel", "/api/v2/imports/import_a/cancel",
        ] {
            #expect(JourneyPath(path: path) == nil, "\(path)")
        }
    }

    @Test(arguments: [
        (#""author": "Jane Austen""#, "Jane Austen"),
        (#""authors": ["Jane Austen", "N. N."]"#, "Jane Austen, N. N."),
        (#""authors": [{"name": "Jane Austen", "key": "/a/1"}]"#, "Jane Austen"),
        (#""author": "Jane Austen", "authors": ["Another"]"#, "Jane Austen"),
        (#""authors": []"#, nil), (#""authors": [""]"#, nil), (#""authors": [7]"#, nil),
        (#""authors": "Jane Austen""#, nil),
        (#""author": null, "authors": ["Jane Austen"]"#, "Jane Austen"),
    ])
    func `a book of v2 has an author, or a list of them`(members: String, author: String?) {
        for key in ["books", "enrichedBooks"] {
            let body =
                #"{"success": true, "data": {"jobId": "scan_a", "\#(key)": [{"title": "Emma", \#(members)}]}}"#
            var notes = ContractNotes()
            let reading = ResultsReading.readV2(Array(body.utf8), into: &notes)
            #expect(reading?.books.first?.author == author, "\(key): \(members)")
            if author == nil { #expect(notes.notes.contains { $0.isDecisive }) }
        }
    }

    @Test func `an import is canceled in three ways`() throws {
        for (path, isByPost) in [
            ("/v1/jobs/import_a", false), ("/api/v2/jobs/import_a/cancel", false),
            ("/v1/csv/cancel/import_a", true),
        ] {
            let known = try #require(JourneyPath(path: path))
            #expect(known.journey == .csvImport && known.endpoint == .cleanup(jobId: "import_a"))
            #expect(known.isCancelByPost == isByPost, "\(path)")
        }
    }

    @Test func `the rows of an import are read, and what is no number of rows is none`() throws {
        func read(_ data: String) -> (rows: RowCounts?, notes: ContractNotes) {
            var notes = ContractNotes()
            let reading = ResultsReading.readRows(
                Array(#"{"success":true,"data":\#(data)}"#.utf8), into: &notes)
            return (reading?.rows, notes)
        }
        let whole =
            #"{"booksCreated":7,"booksUpdated":2,"duplicatesSkipped":1,"enrichmentFailed":3,"errors":[]}"#
        let rows = try #require(read(whole).rows)
        #expect(rows.total == 13 && rows.created == 7 && rows.failed == 3 && rows.pending == 0)
        for wrong in [
            "{}", whole.replacing(":7", with: ":-1"), whole.replacing(":7", with: #":"7""#),
            whole.replacing(":7", with: ":9007199254740993"),
            whole.replacing("booksCreated", with: "created"),
        ] {
            let (rows, notes) = read(wrong)
            #expect(rows == nil && !notes.isEmpty, "\(wrong)")
        }
    }

    @Test func `the books of an import are counted, and as many as its rows`() {
        func read(_ books: String) -> (listed: Int?, paths: [String]) {
            var notes = ContractNotes()
            let data =
                #"{"booksCreated":1,"booksUpdated":1,"duplicatesSkipped":1,"enrichmentFailed":0,"enrichmentSucceeded":2,"#
                + #""errors":[],"totalCount":3\#(books)}"#
            let reading = ResultsReading.readRows(
                Array(
                    #"{"success":true,"data":\#(data),"metadata":{"timestamp":"2026-01-01T00:00:00.000Z"}}"#
                        .utf8),
                into: &notes)
            return (reading?.listed, notes.notes.map(\.path))
        }
        let book = #"{"title":"Emma","author":"Jane Austen"}"#
        #expect(read("") == (nil, []))
        #expect(read(#","books":[\#(book),\#(book)]"#) == (2, []))
        #expect(read(#","books":[\#(book)]"#) == (1, ["data.books"]))
        #expect(read(#","books":7"#) == (nil, ["data.books"]))
    }

    @Test func `a journey without jobs has one path`() {
        let path = JourneyPath(path: EnrichmentRequest.path)
        #expect(path?.journey == .bookEnrichment && path?.endpoint == .upload)
        for other in [
            "\(EnrichmentRequest.path)/stream", "/api/v2/books/x", "/api/v2/books/enrich/", "/v1/jobs/x",
        ] {
            #expect(JourneyPath(path: other) == nil, "\(other)")
        }
        #expect(APIVersion(jobID: "3d1a29a0-7f6e-4f5c-9e0b-6a1b") == .v3)
    }

    @Test func `a look-up is written as it is read`() throws {
        let request = EnrichmentRequest(barcode: "9780141439587", key: "scan_9780141439587")
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == #"{"barcode":"9780141439587","idempotencyKey":"scan_9780141439587","preferProvider":"auto","vectorize":false}"#
        )
        #expect(try EnrichmentRequest(request.body) == request)
    }

    @Test func `the book of a look-up is read, whatever else there is`() {
        func read(_ text: String) -> (reading: LookupReading?, notes: ContractNotes) {
            var notes = ContractNotes()
            return (LookupReading.read(Array(text.utf8), barcode: "9780141439587", into: &notes), notes)
        }
        let data = #""data":{"title":"Emma","author":"Jane Austen","isbn":"9780141439587","more":1}"#
        let first = read(#"{"success":true,\#(data),"metadata":{"cached":false}}"#)
        #expect(first.reading?.book.title == "Emma" && first.reading?.isRepeated == false)
        #expect(first.notes.isEmpty)
        #expect(read(#"{"success":true,\#(data),"metadata":{"cached":true}}"#).reading?.isRepeated == true)
        #expect(read(#"{"success":true,\#(data)}"#).reading?.isRepeated == false)
        #expect(read(#"{"success":false,\#(data)}"#).reading?.success == false)
        #expect(read(#"{\#(data)}"#).reading?.success == true, "from before the contract was fixed")
        for bad in [
            "", "{}", #"{"success":true}"#,
            #"{"success":true,"data":{"title":"Emma","isbn":"9780141439587"}}"#,
            #"{"success":true,"data":{"title":"","author":""}}"#,
        ] {
            #expect(read(bad).reading == nil, "\(bad)")
        }
        let other = read(#"{"success":true,"data":{"title":"E","author":"A","isbn":"0141439580"}}"#)
        #expect(other.reading != nil && !other.notes.isEmpty)
    }
}
