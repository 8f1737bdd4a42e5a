extension Scenario {
    /// The scenario with `devices` phones in all: every group and its arrival rate scaled by one factor.
    ///
    /// Phones are shared out by largest remainder, and no group goes without: at least as many phones as groups stay.
    package func scaled(devices wanted: Int) -> Scenario {
        precondition(wanted > 0, "a fleet has phones")
        let total = self.devices
        let wanted = max(wanted, self.groups.count)
        var shares = self.groups.map { $0.devices * wanted / total }
        let remainders = self.groups.map { $0.devices * wanted % total }
        let byRemainder = self.groups.indices.sorted {
            remainders[$0] != remainders[$1] ? remainders[$0] > remainders[$1] : $0 < $1
        }
        for index in byRemainder.prefix(wanted - shares.reduce(0, +)) { shares[index] += 1 }
        while let empty = shares.firstIndex(of: 0), let most = shares.max(),
            let richest = shares.firstIndex(of: most)
        {
            shares[richest] -= 1
            shares[empty] += 1
        }
        var scaled = self
        // With another number of phones it may never come to them.
        scaled.coverageGoals = []
        for index in self.groups.indices {
            scaled.groups[index].devices = shares[index]
            scaled.groups[index].load = self.groups[index].load.scaled(
                by: Int64(wanted), over: Int64(total))
        }
        return scaled
    }
}
