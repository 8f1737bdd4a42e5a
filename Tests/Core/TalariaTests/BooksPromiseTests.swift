import Talaria
import Testing

/// What the summary at the end of a job promises, in the forms that backends have.
@Suite struct BooksPromiseTests {
    private func promise(_ summary: String?) -> BooksPromise? {
        let members = summary.map { #","summary":{\#($0)}"# } ?? ""
        var notes = ContractNotes()
        return CompletedReading.read(Array(#"{"jobId":"j"\#(members)}"#.utf8), into: &notes)?.promise
    }

    private func v2(_ summary: String) -> BooksPromise? {
        var notes = ContractNotes()
        let event = JobEvent(
            v2Name: "completed", bytes: Array(#"{"jobId":"j","summary":{\#(summary)}}"#.utf8), into: &notes)
        guard case .completed(let reading) = event else { return nil }
        return reading.promise
    }

    @Test(
        arguments: [
            (#""totalUnique":3"#, 3, nil), (#""total_unique":3,"total_detected":5"#, 3, 5),
            (#""totalDetected":5"#, nil, 5), (#""total_detected":0"#, nil, 0),
            (#""totalUnique":null,"totalDetected":5"#, nil, 5),
            (#""totalUnique":-1,"totalDetected":5"#, nil, 5),
        ] as [(String, Int?, Int?)])
    func `both cases are read`(summary: String, unique: Int?, detected: Int?) {
        #expect(self.promise(summary) == BooksPromise(unique: unique, detected: detected))
    }

    @Test func `v2 names the different books, and those on the photos promise nothing`() {
        #expect(self.v2(#""booksUnique":4,"booksDetected":7"#) == BooksPromise(unique: 4, detected: nil))
        #expect(self.v2(#""books_unique":4"#) == BooksPromise(unique: 4, detected: nil))
        #expect(self.v2(#""booksDetected":7"#) == nil)
        var notes = ContractNotes()
        let dotted = JobEvent(
            dottedName: "photoscan.completed", bytes: Array(#"{"summary":{"totalDetected":2}}"#.utf8),
            into: &notes)
        guard case .completed(let reading) = dotted else { return #expect(Bool(false)) }
        #expect(reading.promise == BooksPromise(unique: nil, detected: 2))
    }

    @Test func `a summary with neither promises nothing`() {
        #expect(self.promise(nil) == nil && self.promise("") == nil)
        #expect(self.promise(#""approved":3"#) == nil && self.promise(#""totalDetected":"3""#) == nil)
    }

    @Test func `copies of a list are no promise of their own`() {
        #expect(BooksPromise(unique: 2, detected: 9)?.different(duplicates: 3) == 2)
        #expect(BooksPromise(unique: nil, detected: 9)?.different(duplicates: 3) == 6)
        #expect(BooksPromise(unique: nil, detected: 1)?.different(duplicates: 3) == 0)
    }
}
