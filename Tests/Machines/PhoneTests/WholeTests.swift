import Phone
import SimBase
import Talaria
import Testing

/// What holds whatever happens.
struct WholeTests {
    @Test func `a phone is a value: a copy goes its own way`() {
        var phone = TestPhone()
        phone.captureToStream()
        var copy = phone
        copy.stream(Wording.completed(books: 1))
        #expect(copy.store.books.count == 1)
        phone.fail(.stream, .reset)
        #expect(phone.store.books.isEmpty)
    }

    /// Any order of good and bad answers, lost paths and time: custody is never lost, slots are never exceeded, requests
    /// are never numbered twice, and the end of the run leaves nothing running.
    @Test(arguments: 0..<60) func `custody, slots and numbers hold under any weather`(seed: UInt64) {
        let random = KeyedRandom(seed: seed)
        var phone = TestPhone(seed: seed)
        var captured: UInt32 = 0
        var sent: Set<String> = []
        for round: UInt64 in 0..<250 {
            let choice = random.below(100, .test, seed, round, 0)
            if choice < 12, captured < 12 {
                captured += 1
                phone.capture(captured)
            } else if choice < 15 {
                phone.handle(.pathLost)
            } else if choice < 25 {
                phone.handle(.pathReturned)
            } else if choice < 40 {
                phone.pass(.milliseconds(Int64(random.below(4_000, .test, seed, round, 1))))
            } else if !phone.open.isEmpty {
                let index = Int(random.below(UInt64(phone.open.count), .test, seed, round, 2))
                answer(&phone, phone.open[index], random.below(100, .test, seed, round, 3))
            }
            #expect(phone.app.slotsTaken <= 5)
            let store = phone.store
            #expect(store.scans.count + store.settled.count == Int(captured), "round \(round)")
            #expect(phone.app.unsettledCount == store.scans.count, "round \(round)")
            #expect(store.booksDoubled == 0)
            for case .send(let request) in phone.take() {
                let name = "\(request.scan.raw) \(request.operation.name) \(request.attempt)"
                #expect(sent.insert(name).inserted, "\(name) was sent twice")
            }
            #expect(phone.app.nextWake.map { $0 >= phone.now } ?? true, "round \(round)")
        }
        phone.handle(.suspended)
        for request in phone.open {
            phone.fail(request.operation, .reset, scan: request.scan.raw)
        }
        phone.pass(.minutes(10))
        #expect(phone.app.isQuiescent)
        let report = TestPhone(restored: phone.store.scans, pathAvailable: false).app.waiting
        let outcomes = phone.store.scans.filter { $0.completed || $0.refusal != nil }.count
        #expect(report.count + outcomes + phone.store.settled.count == Int(captured))
    }

    private func answer(_ phone: inout TestPhone, _ request: AppRequest, _ luck: UInt64) {
        let scan = request.scan.raw
        let isOpenStream = request.operation == .stream && phone.begun.contains(request.id)
        if luck < 8 {
            phone.fail(request.operation, .reset, scan: scan)
            return
        }
        if luck < 16, !isOpenStream {
            let status = [401, 404, 429, 500, 503, 200, 302, 410][Int(luck) % 8]
            phone.answer(request.operation, status, scan: scan)
            return
        }
        let job = "job-\(scan)"
        switch request.operation {
        case .upload: phone.accept(scan, job: job)
        case .stream where !isOpenStream: phone.openStream(scan)
        case .stream: phone.handle(.replyBytes(request.id, Array(event(luck, job: job).utf8)[...]))
        case .results: phone.answer(.results, 200, Wording.results(job: job, books: 2), scan: scan)
        case .cleanup: phone.answer(.cleanup, luck.isMultiple(of: 3) ? 404 : 204, scan: scan)
        case .status, .cancel, .refresh: break
        }
    }

    private func event(_ luck: UInt64, job: String) -> String {
        switch luck {
        case ..<50: Wording.progress("\(luck)", job: job)
        case ..<60: Wording.event("ping", id: nil, "{}")
        case ..<80: Wording.completed(job: job, books: 2)
        case ..<88: Wording.completed(rawBooks: nil, job: job)
        case ..<93: Wording.error(retryable: true)
        case ..<96: Wording.error(retryable: false)
        default: Wording.event("odd", id: "odd", "{}")
        }
    }
}
