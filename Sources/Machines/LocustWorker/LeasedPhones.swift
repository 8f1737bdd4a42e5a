import SimBase

/// The phones of a worker by group, and how many it is to have. Which phones it gets, the master decides: `ask` is sent as
/// `swiftwing.lease`, and `take` reads its answer, `swiftwing.leased` (`Test.lease` in Distributed/locustfile.py).
struct LeasedPhones: Hashable, Sendable {
    private struct Group: Hashable, Sendable {
        let name: String
        var wanted = 0
        /// Those that run, in the order in which they were opened.
        var open: [DeviceNumber] = []
        /// Phones that the master was asked for.
        var asked = 0
        /// Phones that it did not have, or that this worker cannot run.
        var denied = 0
    }

    private var groups: [Group]
    private let phonesMax: Int
    /// Phones that were ordered to stop and have not.
    private(set) var closing = 0
    private(set) var isAsking = false

    init(groups: [String], phonesMax: Int) {
        self.groups = groups.map { Group(name: $0) }
        self.phonesMax = phonesMax
    }

    var users: [SpawnOrder.Count] {
        self.groups.map { SpawnOrder.Count(group: $0.name, phones: $0.open.count) }
    }

    /// Whether every group has what it is to have, as far as it can.
    var isComplete: Bool {
        self.groups.allSatisfy { $0.open.count + $0.denied == $0.wanted } && !self.isAsking
    }

    /// Takes the numbers that are wanted from now on. A class that is not a group of the scenario has no
    /// phones.
    mutating func want(_ counts: [SpawnOrder.Count]) {
        for index in self.groups.indices {
            self.groups[index].wanted =
                counts.first { $0.group == self.groups[index].name }?.phones ?? 0
            self.groups[index].denied = 0
        }
    }

    /// Returns the phones that are too many, the newest first; they are to be closed.
    mutating func takeSurplus() -> [DeviceNumber] {
        var surplus: [DeviceNumber] = []
        for index in self.groups.indices {
            while self.groups[index].open.count > self.groups[index].wanted,
                let phone = self.groups[index].open.popLast()
            {
                surplus.append(phone)
            }
        }
        self.closing += surplus.count
        return surplus
    }

    /// Returns what is missing, to be asked of the master; empty while an answer is awaited. An order beyond
    /// this worker's capacity is denied: `full` then. A large order is asked for in parts.
    mutating func ask() -> (counts: [SpawnOrder.Count], isFull: Bool) {
        guard !self.isAsking else { return ([], false) }
        var answer = LeasedPhone.countMax
        var places = self.phonesMax - self.closing - self.groups.reduce(0) { $0 + $1.open.count }
        var counts: [SpawnOrder.Count] = []
        var isFull = false
        for index in self.groups.indices {
            let group = self.groups[index]
            let missing = max(0, group.wanted - group.open.count - group.denied)
            let possible = min(missing, max(0, places))
            if possible < missing {
                isFull = true
                self.groups[index].denied += missing - possible
            }
            let asked = min(possible, answer)
            guard asked > 0 else { continue }
            places -= asked
            answer -= asked
            self.groups[index].asked = asked
            counts.append(SpawnOrder.Count(group: group.name, phones: asked))
        }
        self.isAsking = !counts.isEmpty
        return (counts, isFull)
    }

    /// Takes of the answer what was asked for. Returns the phones to open, those that are not wanted, and the groups that got
    /// fewer than were asked for.
    mutating func take(
        _ phones: [LeasedPhone]
    ) -> (opened: [LeasedPhone], unwanted: [LeasedPhone], short: [String]) {
        self.isAsking = false
        var (opened, unwanted): ([LeasedPhone], [LeasedPhone]) = ([], [])
        for phone in phones {
            guard let index = self.groups.firstIndex(where: { $0.name == phone.group }),
                self.groups[index].asked > 0
            else {
                unwanted.append(phone)
                continue
            }
            self.groups[index].asked -= 1
            self.groups[index].open.append(phone.number)
            opened.append(phone)
        }
        var short: [String] = []
        for index in self.groups.indices where self.groups[index].asked > 0 {
            self.groups[index].denied += self.groups[index].asked
            self.groups[index].asked = 0
            short.append(self.groups[index].name)
        }
        return (opened, unwanted, short)
    }

    /// The answer will not come.
    mutating func giveUpAsking() {
        self.isAsking = false
        for index in self.groups.indices { self.groups[index].asked = 0 }
    }

    mutating func closed(_ count: Int) { self.closing = max(0, self.closing - count) }
}
