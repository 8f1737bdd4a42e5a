import JSON
import SimTestSupport
import Talaria
import Testing

/// The answer to a look-up by text, in both forms (Docs/contract.md section 1.5).
@Suite struct EnrichmentTests {
    private static let members =
        #""coverUrl":"https://covers.openlibrary.org/1.jpg","genre":"Dystopian Fiction","pageCount":328,"#
        + #""publicationYear":1949,"publisher":"Penguin Books","verifiedAuthor":"George Orwell","#
        + #""verifiedTitle":"Nineteen Eighty-Four""#
    private static let nested =
        #"{"confidence":0.95,"enrichment":{\#(members)},"jobId":"uuid","source":"talaria"}"#
    private static let flat = #"{"confidence":0.95,\#(members)}"#

    private static let whole: Enrichment = {
        var found = Enrichment(
            verifiedTitle: "Nineteen Eighty-Four", verifiedAuthor: "George Orwell", confidence: 0.95)
        found.coverUrl = "https://covers.openlibrary.org/1.jpg"
        found.publisher = "Penguin Books"
        found.publicationYear = 1949
        found.genre = "Dystopian Fiction"
        found.pageCount = 328
        return found
    }()

    private func read(_ text: String, _ form: Enrichment.Form) -> (Enrichment?, [ContractNotes.Note]) {
        var notes = ContractNotes()
        let found = Enrichment.read(Array(text.utf8), form, into: &notes)
        return (found, notes.notes)
    }

    @Test func `each form is written and read`() {
        for (form, text) in [(Enrichment.Form.nested, Self.nested), (.flat, Self.flat)] {
            #expect(String(decoding: Self.whole.body(form, jobId: "uuid"), as: UTF8.self) == text)
            let (found, notes) = self.read(text, form)
            #expect(found == Self.whole && notes.isEmpty)
        }
        // What is not known is left out, or null.
        let bare = Enrichment(verifiedTitle: "Emma", verifiedAuthor: "Jane Austen", confidence: 1)
        for form in Enrichment.Form.allCases {
            let text = String(decoding: bare.body(form, jobId: "j"), as: UTF8.self)
            for text in [text, text.replacing(#""verifiedAuthor""#, with: #""genre":null,"verifiedAuthor""#)]
            {
                let (found, notes) = self.read(text, form)
                #expect(found == bare && notes.isEmpty)
            }
        }
    }

    @Test func `another form is unreadable, and the notes say what is missing`() {
        let (nested, nestedNotes) = self.read(Self.nested, .flat)
        #expect(nested == nil && nestedNotes.map(\.path) == ["verifiedTitle", "verifiedAuthor"])
        #expect(nestedNotes.allSatisfy { $0.isDecisive && $0.seen == "missing" && $0.count == 1 })
        let (flat, flatNotes) = self.read(Self.flat, .nested)
        #expect(flat == nil)
        #expect(flatNotes.filter(\.isDecisive).map(\.path) == ["enrichment"])
    }

    @Test(arguments: [
        ("0.95", "1.5", "confidence", "another number"), ("0.95", "95", "confidence", "another number"),
        ("0.95", "-0.1", "confidence", "another number"), ("0.95", #""0.95""#, "confidence", "a string"),
        ("0.95", "null", "confidence", "null"),
        (#""Nineteen Eighty-Four""#, "null", "enrichment.verifiedTitle", "null"),
        (#""Nineteen Eighty-Four""#, "1984", "enrichment.verifiedTitle", "a number"),
        (#""George Orwell""#, "[]", "enrichment.verifiedAuthor", "an array"),
        (#""verifiedAuthor":"George Orwell","#, "", "enrichment.verifiedAuthor", "missing"),
        (#"{"confidence""#, #"["confidence""#, "body", "not JSON"),
    ])
    func `an answer without what a client needs is unreadable`(
        from: String, to: String, path: String, seen: String
    ) {
        for (form, text) in [(Enrichment.Form.nested, Self.nested), (.flat, Self.flat)] {
            let broken = text.replacing(from, with: to)
            #expect(broken != text)
            let (found, notes) = self.read(broken, form)
            let path = form == .nested ? path : path.replacing("enrichment.", with: "")
            #expect(found == nil && notes.filter(\.isDecisive).map(\.path) == [path])
            #expect(notes.filter { $0.path == path }.map(\.seen) == [seen])
            #expect(notes.allSatisfy { $0.count == 1 })
        }
    }

    @Test(arguments: [
        ("1949", "19490", "enrichment.publicationYear", "another number"),
        ("1949", #""1949""#, "enrichment.publicationYear", "a string"),
        ("328", "-1", "enrichment.pageCount", "another number"),
        (#""Penguin Books""#, "7", "enrichment.publisher", "a number"),
        (#""Dystopian Fiction""#, "[]", "enrichment.genre", "an array"),
        (#""https://covers.openlibrary.org/1.jpg""#, "true", "enrichment.coverUrl", "true or false"),
        (#""genre""#, #""genres""#, "enrichment.genres", "an unknown field"),
        (#""jobId":"uuid","#, "", "jobId", "missing"),
        (#""source":"talaria""#, #""source":"google""#, "source", "another one"),
    ])
    func `what else is odd is noted, and the answer is used`(
        from: String, to: String, path: String, seen: String
    ) {
        let (found, notes) = self.read(Self.nested.replacing(from, with: to), .nested)
        #expect(found?.verifiedTitle == "Nineteen Eighty-Four")
        #expect(notes.map(\.path) == [path] && notes.map(\.seen) == [seen])
        #expect(notes.allSatisfy { !$0.isDecisive && $0.count == 1 })
    }

    @Test func `answers of any bytes are read or refused`() throws {
        let bodies = Mutator(
            corpus: [Array(Self.nested.utf8), Array(Self.flat.utf8)],
            dictionary: [
                "\"enrichment\":", "null", "{}", "1e309", "0.9", "\\uD83D", "\"verifiedTitle\":\"\"",
            ])
        Fuzz.run("enrichments", quick: 1_000, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = bodies.input(fuzz)
            for form in Enrichment.Form.allCases {
                var notes = ContractNotes()
                guard let found = Enrichment.read(bytes, form, into: &notes) else {
                    try #require(notes.notes.contains { $0.isDecisive })
                    continue
                }
                let written = found.body(form, jobId: "j")
                try #require(Enrichment.read(written, form, into: &notes) == found)
            }
        }
    }
}
