internal import Backend
package import Faults
package import Metrics
package import Phone
package import RunControl
package import SimBase
package import Talaria

/// The content of a scenario file, typed (Docs/design.md section 5). The readers in `ScenarioFile` fill in every default: `ScenarioReader`
/// that of a key of the file, `FleetReader` of a group, `ServerReader` of `server`.
package struct Scenario: Hashable, Sendable {
    package var name: String
    package var description: String
    package var seed: UInt64
    /// The groups in the order of the file, which is the order of the device numbers.
    package var groups: [FleetGroup]
    package var server: ServerSettings
    package var faults: [FaultSpec]
    package var slos: [SLO]
    /// The time that unsettled scans have after the last arrival.
    package var drain: Interval
    /// The end of all captures; nil for no limit.
    package var duration: Interval?
    /// The failures that must occur, and no others: for a scenario that tests a broken client.
    package var expectBroken: [ExpectedBreak]
    /// Ids of the coverage goals that a run must reach, or it has tried nothing (`sometimes`).
    package var coverageGoals: [String]
    package var trial = TrialSettings()
    /// What the backend charges for a book; nil in a scenario without `cost`.
    package var prices: BookPrices?
    /// Two transports: the scenario runs once for each, and the second is compared with the first. Empty for one run.
    package var transports: [StreamTransport] = []
    /// A migration of all phones from one transport to another; nil in a scenario without `rollout`.
    package var rollout: RolloutPlan?

    package init(
        name: String, description: String, seed: UInt64, groups: [FleetGroup], server: ServerSettings,
        faults: [FaultSpec], slos: [SLO], drain: Interval, duration: Interval?,
        expectBroken: [ExpectedBreak] = [], coverageGoals: [String] = []
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
        self.expectBroken = expectBroken
        self.coverageGoals = coverageGoals
    }

    package static let drainDefault = Interval.seconds(30)

    /// All phones of all groups.
    package var devices: Int { self.groups.reduce(0) { $0 + $1.devices } }

    /// The groups that an entry of `expect-broken` without a group is about: those of other clients than the contract's. Nil for
    /// all, where every group is such a client or none is: then it is the server, or all phones, that are expected to break it.
    package var groupsExpectedToBreak: [String]? {
        let others = self.groups.filter(\.deviates)
        return others.isEmpty || others.count == self.groups.count ? nil : others.map(\.name)
    }

    /// Whether the server's streams carry a `retry:` above the base of its phones.
    package var raisesBase: Bool {
        self.groups.contains { group in
            self.retryField(of: group.profile.journey).map { group.profile.backoff.base < $0 } ?? false
        }
    }

    /// The `retry:` of the streams of a journey; nil without one.
    package func retryField(of journey: Journey) -> Interval? {
        self.server.backend.retryField ?? journey.version.retryField
    }
}

/// The limits of a scenario. A larger value is a mistake, or needs a machine that does not exist.
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
    /// The maximum length of a run and of all times in a scenario except those of the server.
    package static let timeMax = Interval.hours(24 * 7)
    package static let timeMaxText = "a week"
    package static let booksMax = 500
    package static let nameCharactersMax = 64
    package static let photosPaintedMax = 1_000
    /// A side of a painted photo: smaller ones hardly show a book.
    package static let photoSideMin = 64
    package static let photoPixelsMax = 16_000_000
    /// Folders and photos that a group may name.
    package static let photoPlacesMax = 500
}

/// Phones that are alike.
package struct FleetGroup: Hashable, Sendable {
    package var name: String
    package var devices: Int
    /// The behavior of the phones: the named profile with `toggles` and the values that the scenario sets. Its
    /// `stream.idleTimeout` counts only if `idleTimeout` of the group is `.fixed`.
    package var profile: ClientProfile
    /// The toggles that the scenario sets.
    package var toggles: [ToggleSetting]
    package var idleTimeout: IdleTimeout
    package var network: Itinerary
    package var scansPerDevice: Int
    package var load: LoadModel
    package var photos: PhotoSource
    package var preprocess: Preprocessing
    /// What the phones import; nil for a group that imports nothing.
    package var library: LibraryFiles?
    /// How the phones name the books of a batch; nil for a group that sends no batches.
    package var batchForm: BatchForm?
    /// The share of look-ups of single books whose barcode the phone has looked up before.
    package var repeats = Odds.never
    /// How the phones read the spines of books.
    package var reader = SpineReader()
    /// The share of scans of what the phone has scanned before.
    var repeatsOfShelf: Odds { self.profile.journey.hasPhotos ? self.profile.reviewer.again : self.repeats }

    package init(
        name: String, devices: Int, profile: ClientProfile, toggles: [ToggleSetting] = [],
        idleTimeout: IdleTimeout, network: Itinerary, scansPerDevice: Int, load: LoadModel,
        photos: PhotoSource, preprocess: Preprocessing, library: LibraryFiles? = nil,
        batchForm: BatchForm? = nil
    ) {
        self.name = name
        self.devices = devices
        self.profile = profile
        self.toggles = toggles
        self.idleTimeout = idleTimeout
        self.network = network
        self.scansPerDevice = scansPerDevice
        self.load = load
        self.photos = photos
        self.preprocess = preprocess
        self.library = library
        self.batchForm = batchForm
    }
}

/// How a batch names its books (Docs/contract.md section 3.2).
package enum BatchForm: String, CaseIterable, Hashable, Sendable {
    /// By title, author and ISBN; some have none.
    case books
    /// By ISBN.
    case barcodes
}

extension FleetGroup {
    /// Whether its phones are other clients than the contract's.
    package var deviates: Bool {
        self.profile.name != ClientProfile.contract.name || self.toggles.contains(where: \.isOn)
            || !self.profile.journey.version.leavesStreamTokenOpen && self.profile.token.stream == .query
            || self.profile.upload.enrichment != .nested
    }

    /// Whether some of its scans become jobs: of books that the phones read by themselves, those whose photo goes up.
    package var hasJobs: Bool { self.profile.journey.hasJobs || self.profile.upload.photoBelow > 0 }

    /// Whether its phones exchange the tokens of their jobs, if these last so long.
    package var exchangesTokens: Bool {
        self.profile.journey.canBeFollowedByWebSocket && self.profile.stream.transport == .websocket
            && self.profile.token.refreshAfter != nil
    }

    /// Whether its phones make the requests that a fault acts on, for scans without failures.
    package func makes(_ target: FaultTarget) -> Bool {
        switch target {
        case .stream: self.hasJobs && self.profile.status.polling != .always
        case .status: self.hasJobs && self.profile.status.polling != .off
        case .cleanup: self.hasJobs && self.profile.deletesCompletedJobs
        case .refresh: self.exchangesTokens
        case .results, .token: self.hasJobs
        case .upload, .link, .app: true
        }
    }

    /// What the scans of its phones have.
    var stock: Shelf.Stock {
        switch self.profile.journey {
        case .scan, .bookshelfScan: .books
        case .batchEnrichment: self.batchForm == .barcodes ? .barcodes : .books
        case .csvImport: .none
        case .bookEnrichment: .oneBarcode
        case .textEnrichment: .oneSpine
        }
    }

    /// Whether a fault chooses any of its phones.
    func isIn(_ scope: FaultScope) -> Bool {
        if case .group(let name) = scope { name == self.name } else { true }
    }
}

/// The maximum silence of a stream before the phone considers it lost.
package enum IdleTimeout: Hashable, Sendable {
    /// 2.5 pings of the embedded backend; what the profile says against another.
    case automatic
    /// The profile's value, which the scenario may have set.
    case fixed
}

/// The preprocessing of photos.
package enum Preprocessing: String, CaseIterable, Hashable, Sendable {
    /// For each capture, as in the app: a tenth of a second of CPU time for 12 megapixels.
    case each
    /// For the first capture of each photo; later uploads share the result.
    case once

    /// That of a group that says nothing of it.
    package static let standard = Preprocessing.once
}

/// The source of a group's photos.
package enum PhotoSource: Hashable, Sendable {
    /// A folder of photos or a photo: its path, or its name in `Images/`.
    case folder(String)
    /// Folders and photos, in this order.
    case list([String])
    /// A number of synthetic shelves. The default is half the sides of a phone's photo.
    case painted(Int, size: PhotoSize?)

    /// The photos of a group that names none.
    package static let standard = PhotoSource.folder("shelves")
}

/// Width and height of a photo in pixels.
package struct PhotoSize: Hashable, Sendable, CustomStringConvertible {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Reads `4032x3024`.
    package init?(_ text: String) {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, sides.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let width = Int(sides[0]), let height = Int(sides[1])
        else { return nil }
        self.init(width: width, height: height)
    }

    package var description: String { "\(self.width)x\(self.height)" }

    /// Why nothing of this size is painted; nil when it can be.
    package var complaint: String? {
        if min(self.width, self.height) < ScenarioLimit.photoSideMin {
            return "a side of a synthetic photo must have at least \(ScenarioLimit.photoSideMin) pixels"
        }
        // Neither side alone may be so large that the product overflows.
        let most = ScenarioLimit.photoPixelsMax
        guard max(self.width, self.height) <= most, self.width * self.height <= most else {
            return "a synthetic photo can have at most \(most) pixels"
        }
        return nil
    }
}
