import Observations
import Phone
import SimBase
import Talaria
import Testing

/// A book that the phone has read by itself waits for its person from then on, and is looked up meanwhile (seed 002, US-A2).
@Suite struct TextReviewTests {
    private static let merged = Reconciliation(
        reading: TextSample.reading, enrichment: TextSample.found
    ).book

    private static func app(edit: UInt32 = 0, storage: ReviewStorage = .durable, seed: UInt64 = 1) -> App {
        var profile = ClientProfile.contract
        profile.journey = .textEnrichment
        profile.review.storage = storage
        profile.reviewer.isMade = true
        profile.reviewer.approve = .percent(100 - edit)
        profile.reviewer.edit = .percent(edit)
        profile.reviewer.after = .seconds(4)...(.seconds(4))
        return TestPhone.app(profile: profile, seed: seed)
    }

    /// With a look-up on its way, and a book that waits.
    private static func asked(_ app: App) -> TestPhone {
        var phone = TestPhone(asleep: app)
        phone.preparesByItself = false
        phone.handle(.launched(restored: [], pathAvailable: true))
        phone.capture(1)
        phone.handle(.photoPrepared(scan: ScanNumber(1), bytes: 60, took: nil, reading: TextSample.reading))
        return phone
    }

    private func approved(_ phone: TestPhone) -> [Book] {
        phone.payloads.compactMap { if case .bookApproved(_, let book) = $0 { book } else { nil } }
    }

    private func pending(_ phone: TestPhone) -> [Book] {
        phone.payloads.compactMap { if case .bookPending(_, _, let book) = $0 { book } else { nil } }
    }

    @Test(arguments: ReviewStorage.allCases)
    func `a book waits as it was read, and takes over what is found`(storage: ReviewStorage) {
        var phone = Self.asked(Self.app(storage: storage))
        #expect(self.pending(phone) == [TextSample.reading.book])
        #expect(
            phone.store.review.entries.map(\.book) == (storage == .durable ? [TextSample.reading.book] : []))
        TextSample.answer(&phone)
        #expect(phone.payloads.contains(.bookRepeated(ordinal: 0, book: Self.merged)))
        phone.pass(.seconds(4))
        #expect(self.approved(phone) == [Self.merged] && self.pending(phone).count == 1)
        #expect(phone.store.books.values == [Self.merged] && phone.store.scans.isEmpty)
    }

    @Test func `what is found after the approval changes nothing`() {
        var phone = Self.asked(Self.app())
        phone.pass(.seconds(4))
        #expect(self.approved(phone) == [TextSample.reading.book])
        TextSample.answer(&phone)
        #expect(phone.store.books.values == [TextSample.reading.book] && phone.store.scans.isEmpty)
        #expect(self.pending(phone).count == 1 && self.approved(phone).count == 1)
    }

    @Test func `a killed process leaves the book waiting, and the next one looks it up`() {
        let first = Self.asked(Self.app())
        var next = TestPhone(asleep: Self.app())
        next.preparesByItself = false
        next.handle(
            .launched(restored: first.store.scans, review: first.store.review, pathAvailable: true))
        next.handle(.photoPrepared(scan: ScanNumber(1), bytes: 60, took: nil, reading: TextSample.reading))
        #expect(self.pending(next).isEmpty, "it waits already")
        TextSample.answer(&next)
        next.pass(.seconds(4))
        #expect(self.approved(next) == [Self.merged])
    }

    @Test func `the book of the photo that is uploaded instead is the one that waits`() {
        var phone = Self.asked(Self.app())
        phone.answer(.upload, 404, Wording.problem(.notFound))
        phone.handle(.photoPrepared(scan: ScanNumber(1), bytes: 9_000, took: nil))
        phone.accept()
        phone.openStream()
        phone.stream(Wording.completed(books: 1))
        phone.pass(.seconds(4))
        #expect(self.pending(phone) == [TextSample.reading.book])
        #expect(self.approved(phone).map(\.title) == [Wording.book(0).title])
    }

    /// The edit comes after 2 s, the approval after 4 s, the answer at any time.
    @Test func `what is found never wins over an edit, whenever it comes`() {
        var orders = Set<Int>()
        for seed: UInt64 in 0..<10_000 {
            var phone = Self.asked(Self.app(edit: 100, seed: seed))
            let answerAt = Interval.milliseconds(Int64(KeyedRandom(seed: seed).below(6_000, .review, 0)))
            phone.pass(answerAt)
            TextSample.answer(&phone)
            phone.pass(.seconds(6))
            let edits = phone.payloads.compactMap { payload -> (String?, String?)? in
                if case .bookEdited(_, let title, let author) = payload { (title, author) } else { nil }
            }
            guard let edit = edits.first, edits.count == 1, let book = self.approved(phone).first else {
                Issue.record("seed \(seed): \(edits)")
                return
            }
            let came = answerAt < .seconds(4) ? Self.merged : TextSample.reading.book
            #expect(
                book.title == edit.0 ?? came.title && book.author == edit.1 ?? came.author, "seed \(seed)")
            #expect(book.coverUrl == came.coverUrl, "seed \(seed)")
            orders.insert(answerAt < .seconds(2) ? 0 : answerAt < .seconds(4) ? 1 : 2)
        }
        #expect(orders.count == 3, "before the edit, between both, and after the approval")
    }
}
