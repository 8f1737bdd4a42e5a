internal import CSV
internal import OriginServer
internal import SimBase
internal import Talaria

/// The imports of v2: a library file becomes a job that takes its rows one by one, sends its progress as events, and keeps its
/// results for a while (Docs/contract.md sections 3.2 and 3.3).
///
/// It observes nothing: the ledger knows scans only. Its times are those of the events that it is handed.
struct ImportService: Sendable {
    enum Deadline: Hashable, Sendable {
        /// The next progress of a job, its end, or the end of its results.
        case job(JobKey)
        case heartbeat(ExchangeID)
        /// The end of the longest time of a stream.
        case timeout(ExchangeID)
    }

    struct PendingFile: Sendable {
        let caller: Caller
    }

    struct OpenStream: Sendable {
        let job: JobKey
        var heartbeat: Instant
        let endsAt: Instant
    }

    let rules: ImportRules
    private(set) var random: KeyedRandom
    private let wallClockAtZero: Int64
    var now = Instant.zero
    var jobs = SlotMap<JobKey, ImportJob>()
    var files = SlotMap<ExchangeID, PendingFile>()
    var streams = SlotMap<ExchangeID, OpenStream>()
    /// The books that earlier imports have brought, by device.
    var libraries = SlotMap<DeviceNumber, Set<LibraryKey>>()
    var books = 0
    private var uploads = SlotMap<DeviceNumber, RequestWindow>()
    private var deadlines = EventHeap<Deadline>()
    private var made: UInt64 = 0

    init(rules: ImportRules, random: KeyedRandom, wallClockAtZero: Int64) {
        self.rules = rules
        self.random = random
        self.wallClockAtZero = wallClockAtZero
    }

    mutating func redraw(_ random: KeyedRandom) { self.random = random }

    var nextWake: Instant? { self.deadlines.nextAt }

    func wall(at moment: Instant) -> Int64 {
        self.wallClockAtZero + (moment - Instant.zero).wholeMilliseconds
    }

    func eachBound(_ look: (Bound) -> Void) {
        look(Bound("ImportRules.jobsMax", self.jobs.count + self.files.count, max: self.rules.jobsMax))
        look(Bound("ImportRules.filesMax", self.files.count, max: self.rules.filesMax))
        look(Bound("ImportRules.devicesMax", self.uploads.count, max: self.rules.devicesMax))
        look(Bound("ImportRules.booksMax", self.books, max: self.rules.booksMax))
    }

    // MARK: Time

    /// Does whatever is due by a moment.
    mutating func pass(to moment: Instant, into effects: inout [OriginEffect]) {
        self.now = max(self.now, moment)
        while let (at, deadline) = self.deadlines.popDue(at: self.now) {
            switch deadline {
            case .job(let key):
                // Another step may have been planned since.
                guard self.jobs.update(key, { $0.due }) == at else { continue }
                self.step(key, into: &effects)
            case .heartbeat(let exchange):
                guard self.streams.update(exchange, { $0.heartbeat }) == at else { continue }
                self.heartbeat(exchange, into: &effects)
            case .timeout(let exchange):
                guard self.streams.update(exchange, { $0.endsAt }) == at else { continue }
                self.timeOut(exchange, into: &effects)
            }
        }
    }

    mutating func schedule(_ deadline: Deadline, at due: Instant) { self.deadlines.insert(deadline, at: due) }

    mutating func plan(_ key: JobKey, at due: Instant) {
        self.jobs.update(key) { $0.due = due }
        self.schedule(.job(key), at: due)
    }

    // MARK: Files

    /// Takes a file whose upload was admitted.
    ///
    /// - Returns: The job that imports it. A file that cannot be read is a job, too: it fails at once.
    mutating func accept(_ file: [UInt8], _ caller: Caller) -> (key: JobKey, job: ImportJob) {
        let (key, secret) = self.newIdentity(caller.device)
        var job: ImportJob
        do throws(CSVError) {
            let table = try LibraryTable(file, limits: .imports)
            let milliseconds = Int64(table.entries.count) * 1_000 / Int64(max(1, self.rules.rowsPerSecond))
            job = self.job(
                key, caller, secret, ImportAccount(table.entries),
                time: max(self.rules.timeMin, .milliseconds(milliseconds)))
        } catch {
            job = self.job(key, caller, secret, ImportAccount([]), time: self.rules.timeMin)
            job.phase = .failed(error, at: self.now)
        }
        self.jobs[key] = job
        self.plan(
            key, at: job.isOver ? self.now + self.rules.resultsLifetime : self.now + self.nextStep(of: job))
        return (key, job)
    }

    private func job(
        _ key: JobKey, _ caller: Caller, _ secret: TokenSecret, _ account: ImportAccount, time: Interval
    ) -> ImportJob {
        ImportJob(
            id: ImportEndpoint.idPrefix + key.text, device: caller.device,
            token: Token(secret: secret, expires: self.now + self.rules.tokenLifetime), accepted: self.now,
            time: time, account: account, due: self.now)
    }

    private func nextStep(of job: ImportJob) -> Interval {
        min(self.rules.progressEvery, max(.zero, job.accepted + job.time - self.now))
    }

    private mutating func newIdentity(_ device: DeviceNumber) -> (JobKey, TokenSecret) {
        let entity = UInt64(device.raw)
        while true {
            self.made += 1
            let detail = self.made << 3
            let key = JobKey(
                UUIDBits(
                    randomHigh: self.random.draw(.importIdentity, entity, detail),
                    randomLow: self.random.draw(.importIdentity, entity, detail + 1)))
            guard self.jobs[key] == nil else { continue }  // Ends: what is taken is bounded.
            return (
                key, TokenSecret { [random] in random.draw(.importIdentity, entity, detail + 2 + $0) }
            )
        }
    }

    /// Nil if the upload is admitted, else the time until the next one is.
    mutating func wait(of device: DeviceNumber) -> Interval? {
        if self.uploads.count >= self.rules.devicesMax {
            for (device, window) in self.uploads.entries where window.isIdle(self.rules.uploads, at: self.now)
            {
                self.uploads[device] = nil
            }
        }
        var window = self.uploads[device] ?? RequestWindow()
        let wait = window.wait(self.rules.uploads, at: self.now)
        if self.uploads[device] != nil || self.uploads.count < self.rules.devicesMax {
            self.uploads[device] = window
        }
        return wait
    }

    // MARK: Rows

    private mutating func step(_ key: JobKey, into effects: inout [OriginEffect]) {
        guard let job = self.jobs[key] else { return }
        guard !job.isOver else {
            self.jobs[key] = nil  // Its results are gone.
            return
        }
        self.process(key)
        guard let job = self.jobs[key] else { return }
        if job.account.pending == 0, job.accepted + job.time <= self.now {
            self.end(key, as: .completed(at: self.now), into: &effects)
        } else {
            self.plan(key, at: self.now + self.nextStep(of: job))
            self.broadcast(key, into: &effects)
        }
    }

    /// Gives the rows their outcomes that are to have one by now.
    mutating func process(_ key: JobKey) {
        guard let device = self.jobs.update(key, { $0.isOver ? nil : $0.device }) ?? nil else { return }
        var library = self.libraries[device] ?? []
        self.libraries[device] = nil  // So that it is changed where it stands.
        let (before, now, room) = (library.count, self.now, self.rules.booksMax - self.books)
        self.jobs.update(key) { $0.account.process(upTo: $0.rowsDue(at: now), library: &library, room: room) }
        self.books += library.count - before
        if !library.isEmpty { self.libraries[device] = library }
    }

    /// Ends a job, and its streams with their last event.
    mutating func end(_ key: JobKey, as phase: ImportJob.Phase, into effects: inout [OriginEffect]) {
        self.jobs.update(key) { $0.phase = phase }
        self.plan(key, at: self.now + self.rules.resultsLifetime)
        self.broadcast(key, into: &effects)
    }

    /// The job of an id; nil for one that does not exist, or not any more.
    func key(_ id: String) -> JobKey? {
        guard id.hasPrefix(ImportEndpoint.idPrefix) else { return nil }
        let key = JobKey(jobID: String(id.dropFirst(ImportEndpoint.idPrefix.count)))
        return key.flatMap { self.jobs[$0] == nil ? nil : $0 }
    }
}
