package import SimBase

/// One capture that the load model wants.
package struct Arrival: Hashable, Sendable {
    package var scheduled: Instant
    package var device: DeviceNumber
    /// Which capture of this phone in this run, from 1.
    package var ordinal: Int
    /// 64 uniform bits to choose the photo by.
    package var photoDraw: UInt64

    package init(scheduled: Instant, device: DeviceNumber, ordinal: Int, photoDraw: UInt64) {
        self.scheduled = scheduled
        self.device = device
        self.ordinal = ordinal
        self.photoDraw = photoDraw
    }

    /// Which of `count` photos it is.
    package func photo(of count: Int) -> Int {
        Int(self.photoDraw.multipliedFullWidth(by: UInt64(count)).high)
    }

    /// The one that is photo `photo` of `count`.
    package init(scheduled: Instant, device: DeviceNumber, ordinal: Int, photo: Int, of count: Int) {
        precondition(0 <= photo && photo < count, "a photo that the group does not have")
        // The least draw that is this photo: the bits above it, rounded up.
        let (whole, rest) = UInt64(count).dividingFullWidth((high: UInt64(photo), low: 0))
        self.init(
            scheduled: scheduled, device: device, ordinal: ordinal, photoDraw: rest == 0 ? whole : whole + 1)
    }
}
