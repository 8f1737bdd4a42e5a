package import Device
package import Faults
package import Metrics
package import SimBase

/// What a scenario file says, typed, with every default filled in (DESIGN.md section 5).
package struct Scenario: Hashable, Sendable {
    package var name: String
    package var description: String
    package var seed: UInt64
    /// In the order of the file, which is the order of the device numbers.
    package var groups: [FleetGroup]
    package var server: ServerSettings
    package var faults: [FaultSpec]
    package var slos: [SLO]
    /// How long unsettled scans may take once the arrivals are over.
    package var drain: Interval
    /// Nothing is captured from this moment on; nil is without limit.
    package var duration: Interval?

    package init(
        name: String, description: String, seed: UInt64, groups: [FleetGroup], server: ServerSettings,
        faults: [FaultSpec], slos: [SLO], drain: Interval, duration: Interval?
    ) {
        self.name = name
        self.description = description
        self.seed = seed
        self.groups = groups
        self.server = server
        self.faults = faults
        self.slos = slos
        self.drain = drain
        self.duration = duration
    }

    package static let drainDefault = Interval.seconds(30)

    /// All phones of all groups.
    package var devices: Int { self.groups.reduce(0) { $0 + $1.devices } }
}

/// What a scenario may ask for at most. More is a mistake or a machine that nobody has.
package enum ScenarioLimit {
    package static let groupsMax = 64
    package static let devicesMax = 1_000_000
    package static let scansPerDeviceMax = 1_000_000
    /// Scans of a whole run.
    package static let scansMax = 10_000_000
    package static let faultsMax = 256
    package static let slosMax = 256
    /// Arrivals of a group in a second.
    package static let arrivalsPerSecondMax: Int64 = 100_000
    /// Stages of a load.
    package static let stagesMax = 64
    /// No run lasts longer, and no time in a scenario but those of the server is longer.
    package static let timeMax = Interval.hours(24 * 7)
    package static let booksMax = 500
    package static let nameCharactersMax = 64
    package static let photosPaintedMax = 1_000
}

/// Phones that are alike.
package struct FleetGroup: Hashable, Sendable {
    package var name: String
    package var devices: Int
    /// What the phones do. Its `idleTimeout` counts only if `idleTimeout` of the group is `.fixed`.
    package var profile: ClientProfile
    package var idleTimeout: IdleTimeout
    package var network: Itinerary
    package var scansPerDevice: Int
    package var load: LoadModel
    package var photos: PhotoSource
    package var preprocess: Preprocessing

    package init(
        name: String, devices: Int, profile: ClientProfile, idleTimeout: IdleTimeout, network: Itinerary,
        scansPerDevice: Int, load: LoadModel, photos: PhotoSource, preprocess: Preprocessing
    ) {
        self.name = name
        self.devices = devices
        self.profile = profile
        self.idleTimeout = idleTimeout
        self.network = network
        self.scansPerDevice = scansPerDevice
        self.load = load
        self.photos = photos
        self.preprocess = preprocess
    }
}

/// How long a stream may be silent before the phone calls it lost.
package enum IdleTimeout: Hashable, Sendable {
    /// 2.5 pings of the embedded backend; what the profile says against another.
    case automatic
    /// As the profile says, which the scenario may have set.
    case fixed
}

/// How often photos are made ready for upload.
package enum Preprocessing: String, CaseIterable, Hashable, Sendable {
    /// For each capture, as the app does it: some 20 ms of a processor each.
    case each
    /// For the first capture of each photo; later uploads of it share the result.
    case once
}

/// Where the photos of a group come from.
package enum PhotoSource: Hashable, Sendable {
    /// A folder under `Images/`.
    case folder(String)
    /// So many synthetic shelves.
    case painted(Int)
}
