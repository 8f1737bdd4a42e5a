internal import SimBase

/// The jobs that were removed and are remembered, so that a request for one gets 410. The oldest is forgotten first.
struct Tombstones: Sendable {
    let jobsMax: Int
    private var jobs: [JobKey] = []
    /// The index of the oldest job once there are `jobsMax`.
    private var oldest = 0
    private var remembered: Set<JobKey> = []
    /// Those whose time was over.
    private var expired: Set<JobKey> = []

    init(jobsMax: Int) { self.jobsMax = jobsMax }

    var count: Int { self.jobs.count }

    func contains(_ job: JobKey) -> Bool { self.remembered.contains(job) }

    /// Whether the time of the job was over. Otherwise somebody has removed it.
    func hasExpired(_ job: JobKey) -> Bool { self.expired.contains(job) }

    mutating func addExpired(_ job: JobKey) {
        self.add(job)
        if self.contains(job) { self.expired.insert(job) }
    }

    mutating func add(_ job: JobKey) {
        guard self.jobsMax > 0, self.remembered.insert(job).inserted else { return }
        guard self.jobs.count == self.jobsMax else {
            self.jobs.append(job)
            return
        }
        self.remembered.remove(self.jobs[self.oldest])
        self.expired.remove(self.jobs[self.oldest])
        self.jobs[self.oldest] = job
        self.oldest = (self.oldest + 1) % self.jobsMax
    }
}
