import Dispatch
import EventLoop
import Imaging
import LivePhones
import Plan
import SimBase
import Testing

@Suite struct PreprocessingQueueTests {
    private func corpus() throws -> [SourcePhoto] {
        let bitmap = Bitmap(width: 64, height: 48, pixels: [UInt8](repeating: 90, count: 64 * 48 * 3))
        var encoder = JPEGEncoder()
        let jpeg = try encoder.encode(bitmap, quality: 85)
        let size = PixelSize(width: 64, height: 48)
        return [
            SourcePhoto(name: "good", jpeg: jpeg, size: size),
            SourcePhoto(name: "bad", jpeg: [1, 2, 3], size: size),
        ]
    }

    /// Collects from the queue's thread until all is done.
    private func run(_ jobs: [PreprocessingQueue.Job]) throws -> [PreprocessingQueue.Done] {
        let done = Guarded<[PreprocessingQueue.Done]>([])
        let delivered = DispatchSemaphore(value: 0)
        let queue = try PreprocessingQueue(photos: try self.corpus(), clock: .startingNow()) { result in
            done.withLock { $0.append(result) }
            delivered.signal()
        }
        for job in jobs { #expect(queue.intake.work(on: job)) }
        for _ in jobs {
            guard delivered.wait(timeout: .now() + .seconds(20)) == .success else { break }
        }
        queue.stop()
        return done.withLock { $0 }
    }

    private func job(_ scan: UInt32, photo: Int, _ preprocess: Preprocessing = .each)
        -> PreprocessingQueue.Job
    {
        PreprocessingQueue.Job(
            device: DeviceNumber(1), scan: ScanNumber(scan), photo: photo, preprocess: preprocess)
    }

    @Test func `every capture is worked on, and uploads of a photo share one copy`() throws {
        let done = try self.run([self.job(1, photo: 0), self.job(2, photo: 0)])
        #expect(done.map(\.job.scan) == [ScanNumber(1), ScanNumber(2)])
        #expect(done.allSatisfy { $0.took.map { $0 > .zero } == true })
        // Both were requested at zero, and the second waited for the first.
        #expect(done[1].waited >= done[0].waited + (done[0].took ?? .zero))
        guard case .prepared(let first) = done[0].outcome, case .prepared(let second) = done[1].outcome else {
            Issue.record("a good photo was rejected")
            return
        }
        #expect(first === second)
        #expect(first.jpeg.starts(with: [0xFF, 0xD8]))
    }

    @Test func `a photo that is to be prepared once is, whoever else wants it`() throws {
        let done = try self.run([
            self.job(1, photo: 0, .once), self.job(2, photo: 0, .once), self.job(3, photo: 0, .each),
        ])
        #expect(done.map { $0.took != nil } == [true, false, true])
        let photos = done.compactMap { result in
            if case .prepared(let photo) = result.outcome { ObjectIdentifier(photo) } else { nil }
        }
        #expect(photos.count == 3)
        #expect(Set(photos).count == 1)
    }

    @Test func `a photo that cannot be decoded is rejected by name, and the next one is worked on`() throws {
        let done = try self.run([self.job(1, photo: 1), self.job(2, photo: 9), self.job(3, photo: 0)])
        let reasons = done.map { result -> String? in
            if case .rejected(let reason) = result.outcome { reason } else { nil }
        }
        #expect(reasons[0]?.hasPrefix("bad: ") == true)
        #expect(reasons[1]?.contains("no photo 9") == true)
        #expect(reasons[2] == nil)
    }

    @Test func `a queue that is stopped finishes the photo at hand and leaves those that wait`() throws {
        let done = Guarded<[ScanNumber]>([])
        let (begun, never) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let queue = try PreprocessingQueue(photos: try self.corpus(), clock: .startingNow()) { result in
            done.withLock { $0.append(result.job.scan) }
            begun.signal()
            // Each takes so long that the last is far away when the queue is ordered to stop.
            _ = never.wait(timeout: .now() + .milliseconds(200))
        }
        for scan in 1...20 as ClosedRange<UInt32> { #expect(queue.intake.work(on: self.job(scan, photo: 0))) }
        #expect(begun.wait(timeout: .now() + .seconds(20)) == .success)
        queue.stop()
        let scans = done.withLock { $0 }
        #expect(scans.first == ScanNumber(1))
        #expect(scans.count < 20)
    }
}
