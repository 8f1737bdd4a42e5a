import Faults
import Observations
import Phone
import SimBase
import Talaria
import Testing

/// An app whose books wait for their person.
struct ReviewTests {
    fileprivate static func profile(
        _ storage: ReviewStorage = .durable, approve: UInt32 = 100, edit: UInt32 = 0, reject: UInt32 = 0,
        approveAll: UInt32 = 0
    ) -> ClientProfile {
        var profile = ClientProfile.contract
        profile.review.storage = storage
        profile.reviewer.isMade = true
        profile.reviewer.approve = .percent(approve)
        profile.reviewer.edit = .percent(edit)
        profile.reviewer.reject = .percent(reject)
        profile.reviewer.approveAll = .percent(approveAll)
        profile.reviewer.after = .seconds(4)...(.seconds(4))
        return profile
    }

    /// Up to the end of a job with so many books.
    private func completed(_ profile: ClientProfile, books: Int = 2) -> TestPhone {
        var phone = TestPhone(profile: profile)
        phone.captureToStream()
        phone.stream(Wording.completed(books: books))
        phone.answerEnd(.stream)
        return phone
    }

    private func ofReview(_ payloads: [PhoneObservation]) -> [PhoneObservation] {
        payloads.filter {
            switch $0 {
            case .bookPending, .bookEdited, .bookApproved, .bookRejected, .bookMerged, .bookKept, .bookAdded:
                true
            default: false
            }
        }
    }

    @Test(arguments: ReviewStorage.allCases)
    func `a book waits, and enters the library when its person approves it`(storage: ReviewStorage) {
        var phone = completed(Self.profile(storage))
        let book = Wording.book(0)
        #expect(
            ofReview(phone.takeSightings()) == [
                .bookPending(ordinal: 0, entry: 0, book: book),
                .bookPending(ordinal: 1, entry: 1, book: Wording.book(1)),
            ])
        phone.answer(.cleanup, 204)
        #expect(phone.store.books.values.isEmpty && !phone.app.isQuiescent)
        #expect(phone.store.review.entries.count == (storage == .durable ? 2 : 0))
        phone.pass(.milliseconds(3_999))
        #expect(ofReview(phone.takeSightings()) == [])
        phone.pass(.milliseconds(1))
        #expect(
            ofReview(phone.takeSightings()) == [
                .bookApproved(entry: 0, book: book), .bookApproved(entry: 1, book: Wording.book(1)),
            ])
        #expect(phone.store.books.values == [book, Wording.book(1)] && phone.app.isQuiescent)
        #expect(phone.store.review.entries.isEmpty && phone.app.nextWake == nil)
    }

    @Test func `without a person a book enters the library as it comes`() {
        var phone = completed(.contract, books: 1)
        #expect(ofReview(phone.takeSightings()) == [.bookAdded(ordinal: 0, book: Wording.book(0))])
        #expect(!phone.payloads.contains(.reviewRestored(entries: 0)))
    }

    @Test func `an edit comes before the approval, and is stored`() {
        var phone = completed(Self.profile(approve: 0, edit: 100), books: 1)
        _ = phone.takeSightings()
        phone.pass(.seconds(2))
        let edits = ofReview(phone.takeSightings())
        guard case .bookEdited(entry: 0, let title, let author)? = edits.first, edits.count == 1 else {
            Issue.record("\(edits)")
            return
        }
        var due = Wording.book(0)
        due.title = title ?? due.title
        due.author = author ?? due.author
        #expect(due != Wording.book(0) && phone.store.review.entries.map(\.resolved) == [due])
        phone.pass(.seconds(2))
        #expect(ofReview(phone.takeSightings()) == [.bookApproved(entry: 0, book: due)])
    }

    @Test func `nothing is decided while the app is away`() {
        var phone = completed(Self.profile(approve: 0, reject: 100), books: 1)
        _ = phone.takeSightings()
        phone.handle(.suspended)
        phone.pass(.minutes(1))
        #expect(ofReview(phone.takeSightings()) == [])
        phone.handle(.resumed)
        #expect(ofReview(phone.takeSightings()) == [.bookRejected(entry: 0)])
        #expect(phone.store.books.values.isEmpty && phone.store.review.entries.isEmpty)
    }

    @Test func `a decision counts once it is durable`() {
        var phone = completed(Self.profile(), books: 1)
        _ = phone.takeSightings()
        phone.storesByItself = false
        phone.pass(.seconds(4))
        #expect(ofReview(phone.payloads) == [] && !phone.app.isQuiescent)
        phone.handle(.stored(phone.lastWriteID))
        #expect(ofReview(phone.payloads) == [.bookApproved(entry: 0, book: Wording.book(0))])
    }

    @Test func `in a session that ends with the approval of everything, one decision is that on all`() {
        var profile = Self.profile(approveAll: 100)
        profile.reviewer.after = .seconds(1)...(.seconds(60))
        var phone = completed(profile, books: 5)
        _ = phone.takeSightings()
        phone.answer(.cleanup, 204)
        guard let first = phone.app.nextWake else { return }
        phone.pass(first - phone.now)
        #expect(ofReview(phone.takeSightings()).count == 5 && phone.app.nextWake == nil)
    }

    @Test func `a new process goes on with what is stored`() {
        let phone = completed(Self.profile(), books: 3)
        var next = TestPhone(asleep: TestPhone.app(profile: Self.profile()))
        next.handle(.launched(restored: phone.store.scans, review: phone.store.review, pathAvailable: true))
        #expect(next.payloads.contains(.reviewRestored(entries: 3)))
        _ = next.takeSightings()
        next.pass(.seconds(4))
        #expect(ofReview(next.payloads).count == 3)
    }

    // MARK: Kills

    /// A phone with a review of four books, killed behind so many records and opened again; nil for no kill.
    private struct Killed {
        var bench: Bench
        private(set) var seen: [PhoneObservation] = []
        private(set) var records = 0
        private var streams = 0

        init(_ storage: ReviewStorage, behind records: Int?) {
            self.bench = Bench(profile: {
                $0 = ReviewTests.profile(storage, approve: 40, edit: 40, reject: 20)
            })
            if let records {
                self.bench.act(
                    .begins(self.bench.window(.kill, from: 0, to: 600, after: .afterRecords(records))))
            }
            self.bench.capture()
            self.flush()
            self.bench.accept()
            self.flush()
        }

        /// What was written becomes durable, and a killed process is followed by another one.
        mutating func flush() {
            self.bench.flush()
            for effect in self.bench.effects {
                switch effect {
                case .app(.store): self.records += 1
                case .observe(let observation), .app(.observe(let observation)):
                    if case .phone(let payload) = observation.what { self.seen.append(payload) }
                case .schedule(let disturbance, let moment):
                    _ = self.bench.take()
                    self.bench.now = moment
                    self.bench.act(disturbance)
                    return self.flush()
                default: break
                }
            }
            _ = self.bench.take()
        }

        /// The stream brings the end of the job to each process that asks for it, and the person decides.
        mutating func review() {
            for _ in 0..<80 {
                let streams = self.bench.sent.count { $0.operation == .stream }
                if streams > self.streams {
                    self.streams = streams
                    self.bench.complete(books: 4)
                }
                self.flush()
                guard let wake = self.bench.phone.nextWake else { return }
                self.bench.now = max(self.bench.now, wake)
                self.bench.handle(app: .woke)
            }
        }

        func count(_ isCounted: (PhoneObservation) -> Bool) -> Int { self.seen.count(where: isCounted) }

        /// The books that were decided on.
        var decided: Int {
            self.count {
                switch $0 {
                case .bookApproved, .bookRejected: true
                default: false
                }
            }
        }

        var kept: Int { self.count { if case .bookKept = $0 { true } else { false } } }
        var pending: Int { self.count { if case .bookPending = $0 { true } else { false } } }
        var restored: Int? {
            self.seen.lazy.compactMap { if case .reviewRestored(let count) = $0 { count } else { nil } }.last
        }
    }

    @Test func `a kill behind each record of a review loses nothing of what is stored`() {
        var whole = Killed(.durable, behind: nil)
        let before = whole.records
        whole.review()
        #expect(whole.decided == 4 && whole.pending == 4 && whole.records > before + 10)
        for records in (before + 1)...(before + 14) {
            var phone = Killed(.durable, behind: records)
            phone.review()
            #expect(phone.count { $0 == .killed } == 1, "\(records)")
            #expect(phone.decided == 4 && phone.pending == 4, "\(records)")
            #expect(phone.restored == phone.kept, "\(records)")
        }
    }

    @Test func `a kill takes what waits in memory`() {
        var whole = Killed(.memory, behind: nil)
        let before = whole.records
        whole.review()
        #expect(whole.decided == 4)
        var lost = 0
        for records in (before + 1)...(whole.records) {
            var phone = Killed(.memory, behind: records)
            phone.review()
            #expect(phone.kept == 0 && phone.restored == 0, "\(records)")
            lost += phone.pending - phone.decided
        }
        #expect(lost > 0)
    }
}
