/// The jobs whose results were served, in the order in which they were first. Some of them may be gone.
struct ServedJobs: Sendable {
    private var jobs: [JobKey] = []
    /// The index of the oldest job.
    private var oldest = 0

    mutating func append(_ job: JobKey) {
        if self.oldest > self.jobs.count / 2 {
            self.jobs.removeFirst(self.oldest)
            self.oldest = 0
        }
        self.jobs.append(job)
    }

    /// Removes jobs up to the oldest that passes a test, and returns that one.
    mutating func removeFirst(where isHere: (JobKey) -> Bool) -> JobKey? {
        while self.oldest < self.jobs.count {
            self.oldest += 1
            if isHere(self.jobs[self.oldest - 1]) { return self.jobs[self.oldest - 1] }
        }
        return nil
    }

    /// Removes all that do not pass a test, once there are more than so many.
    mutating func compact(above countMax: Int, where isHere: (JobKey) -> Bool) {
        guard self.jobs.count - self.oldest > countMax else { return }
        self.jobs = self.jobs[self.oldest...].filter(isHere)
        self.oldest = 0
    }
}
