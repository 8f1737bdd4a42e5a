import Observations
import SimBase
import Talaria
import Testing

@testable import Phone

/// The defects of the app at HEAD, one at a time (Docs/apps.md section 4.11).
struct QuirkTests {
    private func phone(_ quirks: [ProfileToggle], pathAvailable: Bool = true) -> TestPhone {
        TestPhone(
            profile: NamedProfile.contract.profile(
                with: quirks.map { ToggleSetting($0, isOn: true) }), pathAvailable: pathAvailable)
    }

    private func head(without quirk: ProfileToggle) -> TestPhone {
        TestPhone(
            profile: NamedProfile.swiftwingHead.profile(with: [ToggleSetting(quirk, isOn: false)]))
    }

    @Test func `Q1: no event is read`() {
        var phone = self.phone([.lineReader])
        phone.captureToStream()
        phone.stream(Wording.progress("1-progress") + Wording.completed(books: 1))
        #expect(phone.store.books.isEmpty && phone.request(.stream) != nil)
    }

    @Test func `Q2: the end of a stream without a terminal event ends the scan`() {
        var phone = self.phone([.endOfStream])
        phone.capture(1)
        phone.accept()
        phone.answer(.stream, 200, [], type: "text/event-stream")
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 interrupted"])
        #expect(phone.record?.job != nil)
    }

    @Test func `Q4: the last data line counts, and an event without a name does not`() {
        for quirks in [[], [ProfileToggle.dataLines]] {
            var phone = self.phone(quirks)
            phone.captureToStream()
            // One text of two lines, the second of which is a document by itself.
            phone.stream("data: {}\n\nevent: completed\ndata: {\"jobId\":\ndata: {}\n\n")
            let ignored = phone.payloads.count { if case .eventIgnored = $0 { true } else { false } }
            // The name `message` is one that the contract does not have.
            #expect(ignored == (quirks.isEmpty ? 1 : 0))
            let bad = phone.payloads.count { if case .badAnswer = $0 { true } else { false } }
            #expect(bad == (quirks.isEmpty ? 1 : 0))
        }
    }

    @Test func `Q5: an unknown event refuses the scan and deletes its job`() {
        var phone = self.phone([.unknownEvents])
        phone.captureToStream()
        phone.stream("id: 1-x\nevent: x\ndata: {}\n\n")
        #expect(phone.request(.cleanup) != nil)
        #expect(
            phone.payloads.contains {
                if case .refused(AppLimits.unreadableEventCode, _) = $0 { true } else { false }
            })
    }

    @Test func `Q5: the app at HEAD deletes the job and goes on reading`() {
        var phone = head(without: .relativeURL)
        phone.captureToStream()
        phone.stream("id: 1-x\nevent: x\ndata: {}\n\n")
        phone.pass(.milliseconds(5_200))
        #expect(phone.request(.cleanup) != nil && phone.request(.stream) != nil)
        #expect(phone.record?.job?.authToken == nil)
    }

    @Test func `Q7: a nested book refuses the scan, and one at the top level does not`() {
        for (data, isRefused) in [(Self.nested, true), (Self.book, false)] {
            var phone = self.phone([.nestedBooks])
            phone.captureToStream()
            phone.stream(Wording.event("result", id: "1-result", data))
            #expect((phone.request(.cleanup) != nil) == isRefused)
            phone.stream(isRefused ? "" : Wording.completed(books: 1))
            #expect(phone.store.books.count == (isRefused ? 0 : 1))
        }
    }

    @Test func `Q7: without it the app at HEAD reads both forms`() {
        var phone = TestPhone(
            profile: NamedProfile.swiftwingHead.profile(
                with: [ProfileToggle.nestedBooks, .relativeURL].map { ToggleSetting($0, isOn: false) }))
        phone.captureToStream()
        for data in [Self.nested, Self.book] { phone.stream(Wording.event("result", id: nil, data)) }
        #expect(phone.request(.cleanup) == nil)
        phone.stream(Wording.event("result", id: nil, #"{"type":"result"}"#))
        phone.pass(.seconds(6))
        #expect(phone.request(.cleanup) != nil)
    }

    private static let book = #"{"title":"Emma","author":"Jane Austen"}"#
    private static let nested = #"{"type":"result","book":\#(Self.book)}"#

    @Test func `Q9: a stream that was reset is not opened again`() {
        var phone = self.phone([.lostStream])
        phone.captureToStream()
        phone.fail(.stream, .reset)
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 transport"])
    }

    @Test func `Q9: the app at HEAD deletes the job and removes the scan`() {
        var phone = head(without: .relativeURL)
        phone.captureToStream()
        phone.fail(.stream, .reset)
        phone.pass(.milliseconds(5_200))
        #expect(phone.request(.cleanup) != nil)
        phone.answer(.cleanup, 204)
        #expect(phone.app.unsettledCount == 0 && phone.waiting == [])
        #expect(!phone.payloads.contains { if case .refused = $0 { true } else { false } })
    }

    @Test(arguments: [401, 404, 410, 503]) func `Q10: a stream is requested three times whatever the status`(
        status: Int
    ) {
        var phone = self.phone([.streamStatuses])
        phone.capture(1)
        phone.accept()
        for _ in 0..<3 {
            phone.answer(.stream, status)
            phone.pass(.seconds(10))
        }
        #expect(phone.open.isEmpty && phone.waiting == ["1 unexpected-status"])
    }

    @Test func `Q11: a relative address is never requested`() {
        var phone = self.phone([.relativeURL])
        phone.capture(1)
        phone.accept()
        phone.pass(.minutes(5))
        #expect(phone.open.isEmpty && phone.waiting == ["1 foreign-url"])
    }

    @Test func `Q16: what was taken offline is removed when its upload fails`() {
        for (quirks, isRemoved) in [([], false), ([ProfileToggle.offlineQueue], true)] {
            var phone = self.phone(quirks, pathAvailable: false)
            phone.capture(1)
            phone.handle(.pathReturned)
            phone.pass(.seconds(1))
            phone.answer(.upload, 503)
            #expect(phone.app.unsettledCount == (isRemoved ? 0 : 1))
            #expect(!phone.payloads.contains { if case .refused = $0 { true } else { false } })
        }
    }

    @Test func `Q16: what was taken offline is uploaded one after another`() {
        for (quirks, uploads) in [([], 3), ([ProfileToggle.offlineQueue], 1)] {
            var phone = self.phone(quirks, pathAvailable: false)
            for scan: UInt32 in 1...3 { phone.capture(scan) }
            phone.handle(.pathReturned)
            phone.pass(.seconds(1))
            #expect(phone.open.count { $0.operation == .upload } == uploads)
        }
    }

    @Test func `Q16: a path that returns during a drain uploads what is left twice`() {
        var phone = self.phone([.offlineQueue], pathAvailable: false)
        for scan: UInt32 in 1...2 { phone.capture(scan) }
        phone.handle(.pathReturned)
        phone.pass(.seconds(1))
        phone.accept(1)
        phone.openStream(1)
        phone.handle(.pathLost)
        phone.handle(.pathReturned)
        var accepted = 1
        for _ in 0..<20 where phone.app.unsettledCount > 0 {
            phone.pass(.seconds(1))
            for request in phone.open {
                let scan = request.scan.raw
                switch request.operation {
                case .upload:
                    accepted += 1
                    phone.accept(scan, job: "job-\(accepted)")
                case .stream:
                    phone.openStream(scan)
                    let job = request.target.split(separator: "/")[3]
                    phone.stream(Wording.completed(job: String(job), books: 2), scan)
                case .cleanup, .results, .status, .cancel, .refresh:
                    phone.answer(request.operation, 204, scan: scan)
                }
            }
        }
        #expect(accepted == 4 && phone.app.unsettledCount == 0)
        #expect(phone.payloads.count { if case .bookRepeated = $0 { true } else { false } } == 4)
        #expect(phone.payloads.count { if case .completed = $0 { true } else { false } } == 2)
    }

    @Test func `Q16: only what was taken offline is stored`() {
        for (quirks, stored) in [([], 2), ([ProfileToggle.offlineQueue], 1)] {
            var phone = self.phone(quirks)
            phone.capture(1)
            phone.answer(.upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: 60_000))
            phone.handle(.pathLost)
            phone.capture(2)
            #expect(phone.store.scans.count { !$0.isVolatile } == stored)
            // What a process finds that starts now.
            var storage = Storage()
            for (index, change) in phone.written.enumerated() {
                storage.write(change, WriteID(UInt64(index + 1)))
            }
            storage.flush { _, _ in }
            #expect(storage.scans.count == stored)
        }
    }

    @Test func `Q16: what is stored of a photo names no job`() {
        for (quirks, jobs) in [([], 1), ([ProfileToggle.offlineQueue], 0)] {
            var phone = self.phone(quirks)
            phone.captureToStream()
            #expect(phone.app.unsettledCount == 1)
            #expect(phone.store.scans.count { $0.job != nil } == jobs)
        }
    }

    @Test func `Q17: a stream stays open in the background, and nobody reads it`() {
        for (quirks, isOpen) in [([], false), ([ProfileToggle.background], true)] {
            var phone = self.phone(quirks)
            phone.captureToStream()
            phone.handle(.suspended)
            phone.answer(.cleanup, 204)
            phone.pass(.minutes(1))
            #expect((phone.request(.stream) != nil) == isOpen && phone.app.isQuiescent)
            if isOpen { phone.stream(Wording.completed(books: 1)) }
            #expect(phone.store.books.isEmpty && phone.waiting == ["1 suspended"])
            phone.pass(.minutes(6))
            #expect(phone.request(.stream) == nil)
        }
    }

    @Test func `Q17: the app at HEAD removes what is under way`() {
        var phone = head(without: .relativeURL)
        phone.captureToStream(1)
        phone.capture(2)
        phone.handle(.suspended)
        #expect(phone.open.map(\.operation) == [.stream, .cleanup])
        phone.answer(.cleanup, 204)
        #expect(phone.app.unsettledCount == 0 && phone.waiting == [])
    }

    @Test func `Q19: a backoff is its ceiling`() {
        var backoff = Backoff()
        var policy = ClientProfile.contract.backoff
        policy.hasJitter = false
        let waits = (0..<3).map { _ in backoff.failed(policy, draw: 7) }
        #expect(waits == [.milliseconds(500), .seconds(1), .seconds(2)])
    }

    @Test func `Q20: a scan that fails is removed, and its job deleted 5.2 s later`() {
        for (quirks, isRemoved) in [
            ([ProfileToggle.lostStream], false), ([.lostStream, .thrownErrors], true),
        ] {
            var phone = self.phone(quirks)
            phone.captureToStream()
            phone.fail(.stream, .reset)
            #expect(phone.request(.cleanup) == nil && phone.app.slotsTaken == 0)
            phone.pass(.milliseconds(5_199))
            #expect(phone.request(.cleanup) == nil)
            phone.pass(.milliseconds(1))
            #expect((phone.request(.cleanup) != nil) == isRemoved)
            if isRemoved { phone.answer(.cleanup, 204) }
            #expect(phone.app.unsettledCount == (isRemoved ? 0 : 1))
        }
    }

    @Test func `Q21: every refused upload has one text`() {
        for (quirks, code) in [([], "FILE_TOO_LARGE"), ([ProfileToggle.errorTexts], "NETWORK_ERROR")] {
            var phone = self.phone(quirks)
            phone.capture(1)
            phone.answer(.upload, 413, Wording.problem(.fileTooLarge))
            #expect(phone.payloads.contains { if case .refused(code, _) = $0 { true } else { false } })
        }
    }

    @Test(arguments: [401, 403, 500, 503]) func `Q23: a DELETE is sent once`(status: Int) {
        var phone = self.phone([.cleanupOnce])
        phone.captureToStream()
        phone.stream(Wording.completed(books: 1))
        phone.answer(.cleanup, status)
        phone.pass(.minutes(5))
        #expect(phone.request(.cleanup) == nil && phone.app.unsettledCount == 0)
        #expect(phone.payloads.contains { if case .jobAbandoned = $0 { true } else { false } })
    }

    @Test func `Q24: the header does not count where there is a problem document`() {
        for (quirks, wait) in [([], Interval.seconds(9)), ([ProfileToggle.retryAfter], .seconds(60))] {
            var phone = self.phone(quirks)
            phone.capture(1)
            phone.answer(
                .upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: nil), retryAfter: "9")
            #expect(phone.payloads.contains(.rateLimited(.upload, retryAfter: wait)))
        }
    }

    // MARK: Values without a toggle

    @Test func `a later 429 ends the wait of the app at HEAD earlier`() {
        for (profile, wait) in [(NamedProfile.contract, Interval.seconds(60)), (.swiftwingHead, .seconds(1))]
        {
            var phone = TestPhone(profile: profile.profile())
            for scan: UInt32 in 1...2 { phone.capture(scan) }
            for (scan, milliseconds) in [(UInt32(1), Int64(60_000)), (2, 1_000)] {
                phone.answer(
                    .upload, 429, Wording.problem(.rateLimitExceeded, retryAfterMs: milliseconds), scan: scan)
            }
            phone.pass(wait - .nanoseconds(1))
            #expect(!phone.open.contains { $0.operation == .upload })
            phone.pass(.nanoseconds(1))
            #expect(phone.open.contains { $0.operation == .upload })
        }
    }

    @Test func `the app at HEAD requests no results without their address`() {
        for (address, isRequested) in [(nil, false), ("/v3/jobs/scans/job-1/results", true)] {
            var phone = head(without: .relativeURL)
            phone.captureToStream()
            phone.stream(Wording.completed(rawBooks: nil, resultsUrl: address))
            #expect((phone.request(.results) != nil) == isRequested)
        }
    }

    @Test func `one unknown enrichmentStatus spoils the books of the app at HEAD`() {
        let books = #"[{"title":"a","author":"b"},{"title":"c","author":"d","enrichmentStatus":"new"}]"#
        for (profile, isRequested) in [(NamedProfile.contract, false), (.swiftwingHead, true)] {
            var phone = TestPhone(
                profile: profile.profile(with: [ToggleSetting(.relativeURL, isOn: false)]))
            phone.captureToStream()
            phone.stream(
                Wording.completed(rawBooks: books, resultsUrl: "/v3/jobs/scans/job-1/results"))
            #expect((phone.request(.results) != nil) == isRequested)
        }
    }
}
