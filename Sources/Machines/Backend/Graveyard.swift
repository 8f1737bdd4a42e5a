internal import SimBase

/// The jobs that were, so that they can be told from those that never were. Bounded: the oldest is forgotten first.
struct Graveyard: Sendable {
    let gravesMax: Int
    private var graves: [JobKey] = []
    /// The oldest, once the yard is full.
    private var oldest = 0
    private var buried: Set<JobKey> = []

    init(gravesMax: Int) { self.gravesMax = gravesMax }

    var count: Int { self.graves.count }

    func holds(_ job: JobKey) -> Bool { self.buried.contains(job) }

    mutating func bury(_ job: JobKey) {
        guard self.gravesMax > 0, self.buried.insert(job).inserted else { return }
        guard self.graves.count == self.gravesMax else {
            self.graves.append(job)
            return
        }
        self.buried.remove(self.graves[self.oldest])
        self.graves[self.oldest] = job
        self.oldest = (self.oldest + 1) % self.gravesMax
    }
}
