import Foundation
import LivePhones
import Phone
import SimBase
import SimTestSupport
import Talaria
import Testing

/// Damaged journals. The folder opens or says why not, and a phone can go on from whatever it gives out.
@Suite struct StateFolderFuzzTests {
    private static let names = ["devices.journal", "library.journal", "scans.journal"]
    private static let device = DeviceNumber(3)

    /// The journals of a phone with scans in every condition.
    private static func written() throws -> [[UInt8]] {
        let folder = TemporaryFolder()
        var journals = try StateFolder(path: folder.path)
        let state = try StateJournal(try #require(try journals.journals(threads: 1).first))
        state.keep(identity: "5F0C1A52-9C1B-4C3E-8B9A-0123456789AB", of: Self.device)
        for scan in 1...6 as ClosedRange<UInt32> {
            state.use(ScanNumber(scan), of: Self.device)
            var attempts = DurableAttempts()
            attempts.upload = 4_294_967
            let job = DurableJob(
                jobId: "job-\(scan)", authToken: "0f0f", sseUrl: "/v3/jobs/scans/job-\(scan)/stream",
                lastEventID: "1-progress")
            state.store(
                .put(
                    DurableScan(
                        scan: scan, photo: 2, capturedUnixMs: 1_000, job: scan > 1 ? job : nil,
                        booksApplied: [], cause: "captured", attempts: attempts,
                        tokenExpiries: 1, retryableErrors: 0, completed: scan == 4,
                        refusal: scan == 5 ? "NO" : nil)),
                of: Self.device)
            state.store(.lastEventID(ScanNumber(scan), "2-progress"), of: Self.device)
            state.store(
                .book(
                    ResultKey(scan: ScanNumber(scan), ordinal: 2),
                    Book(
                        title: "T", author: "A", isbn: nil, confidence: 0.5, enrichmentStatus: nil,
                        coverUrl: nil)),
                of: Self.device)
        }
        state.store(.settled(ScanNumber(6), .refused(code: "NO")), of: Self.device)
        try state.flush()
        return try Self.names.map { [UInt8](try Data(contentsOf: URL(filePath: folder.path + "/" + $0))) }
    }

    @Test func `a phone goes on from any journal that can be opened`() throws {
        let good = try Self.written()
        let mutators = good.map {
            Mutator(
                corpus: [$0],
                dictionary: ["\n", "}\n{", "{\"d\":3}\n", "\"scan\":", "\"put\":", "\"job\":null", "-7"])
        }
        var opened = 0
        var cases = 0
        Fuzz.run("journals", quick: 300, report: { Issue.record("\($0)") }) { fuzz in
            cases += 1
            let folder = TemporaryFolder()
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
            // One is damaged, sometimes all.
            let damaged = fuzz.below(4, 2_000, 0)
            for (index, name) in Self.names.enumerated() {
                let bytes = damaged == index || damaged == 3 ? mutators[index].input(fuzz) : good[index]
                try Data(bytes).write(to: URL(filePath: folder.path + "/" + name))
            }
            guard let state = try? StateFolder(path: folder.path) else { return }
            opened += 1
            let again = try StateFolder(path: folder.path)
            try #require(again.unsettled().map(\.scan) == state.unsettled().map(\.scan))
            for device in Set(state.unsettled().map(\.device)) {
                try Self.play(state.restored(device), of: device)
            }
        }
        #expect(opened > cases / 2, "a folder that does not open tests nothing")
    }

    /// A launch, a capture, failures of everything, and the end: whatever a phone wants to write can be written.
    private static func play(_ restored: StateFolder.Restored, of number: DeviceNumber) throws {
        let random = KeyedRandom(seed: 1)
        var app = App(
            number: number,
            identity: restored.identity.flatMap { DeviceIdentity(text: $0) } ?? .draw(random, number),
            profile: .contract, random: random, run: 1, clockZero: 0, wallClockAtZero: 1_700_000_000_000)
        var now = Instant.zero
        var waiting: [AppEvent] = [
            .launched(restored: restored.scans, pathAvailable: true),
            .captured(scan: ScanNumber(restored.lastScan.raw + 1), photo: PhotoReference(0), scheduled: now),
        ]
        for turn in 0..<60 {
            if waiting.isEmpty {
                if turn > 40 { waiting.append(.suspended) }
                now = max(now, app.nextWake ?? now)
                waiting.append(.woke)
            }
            var effects: [PhoneEffect] = []
            app.handle(waiting.removeFirst(), at: now, into: &effects)
            for case .app(let effect) in effects {
                switch effect {
                case .preparePhoto(let scan, let photo):
                    waiting.append(
                        photo.raw > 3
                            ? .photoRejected(scan: scan, reason: "")
                            : .photoPrepared(scan: scan, bytes: 1_000, took: .zero))
                case .send(let request): waiting.append(.replyFailed(request.id, .reset))
                case .store(_, let writeID): waiting.append(.stored(writeID))
                case .transmit, .abort, .readSpine, .releasePhoto, .observe: break
                }
            }
            try #require(app.nextWake.map { $0 >= now } ?? true)
        }
        try #require(app.unsettledCount <= restored.scans.count + 1)
    }
}
