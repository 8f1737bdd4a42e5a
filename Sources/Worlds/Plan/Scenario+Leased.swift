extension Scenario {
    /// The scenario with so many phones in each group, in the order of the groups, and each group's arrival rate in proportion:
    /// a phone has the load that it has in the scenario, however many there are.
    ///
    /// `devices`: one number above zero for each group.
    package func sized(devices: [Int]) -> Scenario {
        precondition(devices.count == self.groups.count, "a number for each group")
        var sized = self
        // With another number of phones it may never come to them.
        sized.coverageGoals = []
        for index in self.groups.indices {
            precondition(devices[index] > 0, "a group has phones")
            sized.groups[index].devices = devices[index]
            sized.groups[index].load = self.groups[index].load.scaled(
                by: Int64(devices[index]), over: Int64(self.groups[index].devices))
        }
        return sized
    }

    /// The scenario with phones that capture again and again until the run is ended from outside.
    package var endless: Scenario {
        var endless = self
        endless.duration = nil
        for index in self.groups.indices {
            endless.groups[index].scansPerDevice = ScenarioLimit.scansPerDeviceMax
        }
        return endless
    }
}
