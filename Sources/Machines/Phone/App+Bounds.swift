package import SimBase

extension App {
    /// Calls `look` with each of the app's collections and its limit.
    package func eachBound(_ look: (Bound) -> Void) {
        look(Bound("AppLimits.unsettledMax", self.unsettledCount, max: AppLimits.unsettledMax))
        look(Bound("ClientProfile.stream.slots", self.slotsTaken, max: self.profile.stream.slots))
        var remembered = 0
        for index in self.active.indices {
            remembered = max(remembered, self.active[index].stage.rememberedCount)
        }
        look(Bound("AppLimits.rememberedEventsMax", remembered, max: AppLimits.rememberedEventsMax))
    }
}
