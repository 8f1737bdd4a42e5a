package import EventLoop
package import Imaging
package import Plan
package import SimBase
package import SystemIO

/// Preprocesses photos on a thread of its own, so that streams never wait for pixels: neither in the loops' queues nor,
/// since the thread has a low priority, for a processor.
///
/// For groups that want it, every capture is really worked on, as the app does it; for the others the first of each
/// photo. What the uploads share is one copy of each photo's result.
package final class PreprocessingQueue {
    /// One capture's photo to be worked on.
    package struct Job: Sendable {
        package var device: DeviceNumber
        package var scan: ScanNumber
        /// Its index in the corpus.
        package var photo: Int
        package var preprocess: Preprocessing
        /// The process of the phone that requested it. It is returned as it is.
        package var process: UInt32
        /// The time of the request.
        package var asked: Instant

        package init(
            device: DeviceNumber, scan: ScanNumber, photo: Int, preprocess: Preprocessing,
            process: UInt32 = 0, asked: Instant = .zero
        ) {
            self.device = device
            self.scan = scan
            self.photo = photo
            self.preprocess = preprocess
            self.process = process
            self.asked = asked
        }
    }

    package enum Outcome: Sendable {
        case prepared(PreparedPhoto)
        case rejected(reason: String)
    }

    /// The result of a job. `took` is the time from the photo's bytes to the JPEG without waiting for the
    /// thread; nil if there was nothing left to do. `waited` is the time from the request to the thread, which no real phone
    /// spends.
    package struct Done: Sendable {
        package var job: Job
        package var waited = Interval.zero
        package var took: Interval?
        package var outcome: Outcome
    }

    fileprivate enum Order: Sendable {
        case work(Job)
        case stop

        var isStop: Bool {
            switch self {
            case .work: false
            case .stop: true
            }
        }
    }

    /// Jobs that may wait.
    package static let jobsMax = 100_000

    package let intake: Intake
    private let isStopping = Guarded(false)
    private let thread: LoopThread<Bool>

    /// `deliver` is called on the queue's thread, in the order of the jobs.
    package init(
        photos: [SourcePhoto], clock: LoopClock, deliver: @escaping @Sendable (Done) -> Void
    ) throws(SystemError) {
        let orders = try Mailbox<Order>(messagesMax: Self.jobsMax)
        self.intake = Intake(orders: orders)
        let isStopping = self.isStopping
        self.thread = try LoopThread.start(name: "photos") {
            guard let loop = try? Loop(clock: clock) else { return false }
            CurrentThread.lowerPriority()
            let worker = PhotoWorker(photos: photos, clock: clock)
            let reader = orders.read(on: loop) { batch in
                for case .work(let job) in batch where !isStopping.withLock({ $0 }) {
                    let waited = clock.now() - job.asked
                    var done = worker.work(on: job)
                    done.waited = waited
                    deliver(done)
                }
                if batch.contains(where: \.isStop) { loop.stop() }
            }
            withExtendedLifetime(reader) { loop.run() }
            return true
        }
    }

    /// The entry of jobs, from any thread.
    package struct Intake: Sendable {
        fileprivate let orders: Mailbox<Order>

        /// False when there is no room for it, or no thread to do it.
        package func work(on job: Job) -> Bool { self.orders.post(.work(job)) }
    }

    /// Ends the thread after the job at hand; those that wait are left.
    package func stop() {
        self.isStopping.withLock { $0 = true }
        self.intake.orders.post(.stop)
        _ = self.thread.join()
    }
}

/// The work itself, confined to the queue's thread.
private final class PhotoWorker {
    private let photos: [SourcePhoto]
    private let clock: LoopClock
    private var preprocessor = Preprocessor()
    private var prepared: [PreparedPhoto?]

    init(photos: [SourcePhoto], clock: LoopClock) {
        self.photos = photos
        self.clock = clock
        self.prepared = Array(repeating: nil, count: photos.count)
    }

    func work(on job: PreprocessingQueue.Job) -> PreprocessingQueue.Done {
        guard self.photos.indices.contains(job.photo) else {
            return .init(
                job: job, took: .zero, outcome: .rejected(reason: "the corpus has no photo \(job.photo)"))
        }
        if job.preprocess == .once, let photo = self.prepared[job.photo] {
            return .init(job: job, took: nil, outcome: .prepared(photo))
        }
        let source = self.photos[job.photo]
        let began = self.clock.now()
        do throws(ImagingError) {
            let result = try self.preprocessor.run(source.jpeg)
            let took = self.clock.now() - began
            let photo = self.prepared[job.photo] ?? PreparedPhoto(name: source.name, result)
            self.prepared[job.photo] = photo
            return .init(job: job, took: took, outcome: .prepared(photo))
        } catch {
            return .init(
                job: job, took: self.clock.now() - began,
                outcome: .rejected(reason: "\(source.name): \(error)"))
        }
    }
}
