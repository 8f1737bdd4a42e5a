package import Faults
package import SimBase

/// Which link a phone has, and which group it is of: what the server must know to let bytes travel as they would.
package struct FleetLinks: Sendable {
    package struct Group: Sendable {
        package var name: String
        package var devices: Range<UInt32>
        package var link: Itinerary

        package init(name: String, devices: Range<UInt32>, link: Itinerary) {
            self.name = name
            self.devices = devices
            self.link = link
        }
    }

    private let groups: [Group]
    /// The link of callers from outside the fleet, who have no group.
    package var otherCallers = Self.perfect

    package init(groups: [Group]) { self.groups = groups }

    /// The link of a phone when its run begins.
    package func link(of device: DeviceNumber) -> Itinerary {
        self.index(of: device).map { self.groups[$0].link } ?? self.otherCallers
    }

    /// The group of a phone; empty for a caller from outside the fleet.
    package func groupName(of device: DeviceNumber) -> String {
        self.index(of: device).map { self.groups[$0].name } ?? ""
    }

    /// By index: a loop over the groups would copy each.
    private func index(of device: DeviceNumber) -> Int? {
        self.groups.indices.first { self.groups[$0].devices.contains(device.raw) }
    }

    /// Every phone on the link that its way begins with, for ever.
    var healed: FleetLinks {
        var links = FleetLinks(
            groups: self.groups.map { group in
                var healed = group
                healed.link = group.link.first.map { .always($0) } ?? Self.perfect
                return healed
            })
        links.otherCallers = self.otherCallers
        return links
    }

    static let perfect = Itinerary.always(NamedLink(name: "perfect", profile: .perfect))
}
