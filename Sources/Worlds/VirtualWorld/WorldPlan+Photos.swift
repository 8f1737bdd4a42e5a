import Phone
import Plan
import SimBase
import Talaria

extension WorldPlan {
    /// The phones that prepare the photos of groups with `preprocess: once`, by photo: those that are the first to take them by
    /// the schedule of the whole fleet, as if no scan of a closed group took any time. Which phone that is does not depend on
    /// what happens in the run: shards of it agree.
    var photoPreparers: [DeviceNumber?] {
        var first: [Arrival?] = Array(repeating: nil, count: self.photoBytes.count)
        var wanted = 0
        for (index, group) in self.run.groups.enumerated() where group.preparesOnce {
            wanted += self.photos[index].count
        }
        guard wanted > 0 else { return first.map { $0?.device } }
        var found = 0
        func note(_ arrival: Arrival, group: Int) {
            let photos = self.photos[group]
            let photo = photos.lowerBound + arrival.photo(of: photos.count)
            if first[photo] == nil { found += 1 }
            if first[photo].map({ arrival.scheduled < $0.scheduled }) ?? true { first[photo] = arrival }
        }
        let scheduled = self.run.groups.indices.reduce(0) {
            let group = self.run.groups[$1]
            return $0 + (group.preparesOnce && !group.isClosed ? self.photos[$1].count : 0)
        }
        // The schedule is in order: a photo that is found was not taken before.
        let arrivals =
            self.captures.map { AnyIterator($0.makeIterator()) } ?? AnyIterator(self.run.fleetArrivals)
        while found < scheduled, let arrival = arrivals.next() {
            guard let group = self.run.groups.lastIndex(where: { $0.first <= arrival.device }),
                self.run.groups[group].preparesOnce, !self.run.groups[group].isClosed
            else { continue }
            note(arrival, group: group)
        }
        for (index, group) in self.run.groups.enumerated() where group.preparesOnce {
            guard let times = self.run.thinkTimes(of: group) else { continue }
            for number in group.devices {
                var (ordinal, settled) = (1, Instant.zero)
                while let arrival = times.arrival(ordinal, of: DeviceNumber(number), settled: settled) {
                    let isLate = self.photos[index].allSatisfy {
                        first[$0].map { $0.scheduled <= arrival.scheduled } ?? false
                    }
                    if isLate { break }
                    note(arrival, group: index)
                    (ordinal, settled) = (ordinal + 1, arrival.scheduled)
                }
            }
        }
        return first.map { $0?.device }
    }
}

extension PlannedGroup {
    fileprivate var preparesOnce: Bool {
        self.spec.preprocess == .once && self.profile.journey.takesPhotos
    }

    fileprivate var isClosed: Bool { if case .closed = self.spec.load { true } else { false } }
}
