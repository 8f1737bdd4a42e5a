import EventLoop
import Imaging
import LiveDevices
import SimBase
import Testing

@Suite struct PhotoDeskTests {
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

    /// Collects from the desk's thread.
    private func run(_ jobs: [PhotoDesk.Job]) throws -> [PhotoDesk.Done] {
        let done = Guarded<[PhotoDesk.Done]>([])
        let desk = try PhotoDesk(photos: try self.corpus(), clock: .startingNow()) { result in
            done.withLock { $0.append(result) }
        }
        for job in jobs { #expect(desk.work(on: job)) }
        desk.stop()
        return done.withLock { $0 }
    }

    private func job(_ scan: UInt32, photo: Int) -> PhotoDesk.Job {
        PhotoDesk.Job(device: DeviceNumber(1), scan: ScanNumber(scan), photo: photo)
    }

    @Test func `every capture is worked on, and uploads of a photo share one copy`() throws {
        let done = try self.run([self.job(1, photo: 0), self.job(2, photo: 0)])
        #expect(done.map(\.job.scan) == [ScanNumber(1), ScanNumber(2)])
        #expect(done.allSatisfy { $0.took > .zero })
        guard case .prepared(let first) = done[0].outcome, case .prepared(let second) = done[1].outcome else {
            Issue.record("a good photo was rejected")
            return
        }
        #expect(first === second)
        #expect(first.jpeg.starts(with: [0xFF, 0xD8]))
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
}
