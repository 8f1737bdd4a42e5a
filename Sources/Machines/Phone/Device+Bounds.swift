package import SimBase

extension Device {
    /// What the phone holds, with the limits that it must keep to. Mutating, so that it is asked where it stands and not
    /// copied first.
    package mutating func eachBound(_ look: (Bound) -> Void) {
        look(Bound("DeviceLimit.unsettledMax", self.unsettledCount, max: DeviceLimit.unsettledMax))
        look(Bound("ClientProfile.streamsMax", self.slotsTaken, max: self.profile.streamsMax))
        var remembered = 0
        for index in self.journeys.indices {
            remembered = max(remembered, self.journeys[index].remembered.count)
        }
        look(Bound("DeviceLimit.rememberedEventsMax", remembered, max: DeviceLimit.rememberedEventsMax))
    }
}
