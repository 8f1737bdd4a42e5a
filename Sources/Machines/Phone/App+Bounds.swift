package import SimBase

extension App {
    /// What the phone holds, with the limits that it must keep to. Mutating, so that it is asked where it stands and not
    /// copied first.
    package mutating func eachBound(_ look: (Bound) -> Void) {
        look(Bound("AppLimits.unsettledMax", self.unsettledCount, max: AppLimits.unsettledMax))
        look(Bound("ClientProfile.streamsMax", self.slotsTaken, max: self.profile.streamsMax))
        var remembered = 0
        for index in self.journeys.indices {
            remembered = max(remembered, self.journeys[index].remembered.count)
        }
        look(Bound("AppLimits.rememberedEventsMax", remembered, max: AppLimits.rememberedEventsMax))
    }
}
