import Faults
import Phone
import Plan
import SimBase
import Talaria

/// Reads `fleet`.
struct FleetReader {
    static let keys = Self.valueKeys + ProfileToggle.all.map(\.key)
    static let valueKeys = [
        "devices", "profile", "journey", "library", "batch-form", "repeats", "network", "scans", "arrivals",
        "spacing",
        "think",
        "start",
        "photos",
        "photos-per-scan", "regions",
        "preprocess", "resume",
        "cleanup", "cancel", "inline-books", "streams-max", "idle-timeout", "request-timeout",
        "status-polling", "status-interval", "status-requests-max", "stream-token", "retries",
    ]
    static let planned = ["after", "itinerary"]
    private static let streamsMax = 100
    static let statusRequestsMax = 100_000

    let findings: Findings

    func names(_ node: Node?) -> [String] {
        guard case .map(let entries)? = node?.content else { return [] }
        return entries.map(\.key)
    }

    func groups(_ node: Node?, of scenario: MapReader) -> [FleetGroup] {
        guard let node else {
            self.findings.add(
                scenario.location, "a scenario needs `fleet`",
                help: "`swiftwing-sim new NAME` creates a starter file")
            return []
        }
        guard let map = MapReader(node, what: "a fleet", findings: self.findings) else { return [] }
        if map.entries.isEmpty { self.findings.add(node.location, "a fleet needs at least one group") }
        if map.entries.count > ScenarioLimit.groupsMax {
            self.findings.add(node.location, "more than \(ScenarioLimit.groupsMax) groups")
            return []
        }
        return map.entries.compactMap(self.group)
    }

    private func group(_ entry: Node.Entry) -> FleetGroup? {
        do throws(ValueError) {
            _ = try Values.name(entry.key, what: "the name of a group")
            if entry.key == "all" {
                throw ValueError("a group cannot have the name `all`, which means every group")
            }
        } catch {
            self.findings.add(entry.keyLocation, error.message)
        }
        guard
            let map = MapReader(
                entry.value, what: "a group", keys: Self.valueKeys + self.toggleKeys(of: entry.value),
                planned: Self.planned, findings: self.findings)
        else { return nil }
        let devices = map.required("devices", example: "40") { text throws(ValueError) in
            try Values.integer(text, 1...ScenarioLimit.devicesMax, what: "the number of devices")
        }
        let load = LoadReader(findings: self.findings).load(of: map)
        let toggles = self.toggles(map)
        let (profile, idle) = self.profile(map, toggles)
        let network = NetworkReader(findings: self.findings).itinerary(map.entry("network")?.value)
        let scans = map.value("scans", default: Self.scansDefault(load)) { text throws(ValueError) in
            try Values.integer(text, 1...ScenarioLimit.scansPerDeviceMax, what: "the number of scans")
        }
        let photos = self.photos(map)
        let preprocess = map.value("preprocess", default: Preprocessing.standard) { text throws(ValueError) in
            let words = Preprocessing.allCases.map(\.rawValue)
            let word = try Values.choice(text, of: words, what: "how often photos are preprocessed")
            return Preprocessing(rawValue: word) ?? .standard
        }
        let library = self.library(map, profile.journey)
        let batchForm = self.batchForm(map, profile.journey)
        let repeats = self.repeats(map, profile.journey)
        guard let devices, let load else { return nil }
        var group = FleetGroup(
            name: entry.key, devices: devices, profile: profile, toggles: toggles, idleTimeout: idle,
            network: network, scansPerDevice: scans, load: load, photos: photos, preprocess: preprocess,
            library: library, batchForm: batchForm)
        group.repeats = repeats
        return group
    }

    /// One scan; as many as it takes for a load in steps.
    private static func scansDefault(_ load: LoadModel?) -> Int {
        if case .open(.stepped, _)? = load { ScenarioLimit.scansPerDeviceMax } else { 1 }
    }

    private func library(_ map: MapReader, _ journey: Journey) -> LibraryFiles? {
        let entry = map.entry("library")
        guard journey == .csvImport else {
            if let entry {
                self.findings.add(
                    entry.keyLocation, "the journey `\(journey.rawValue)` imports no files",
                    help: "leave `library` out, or write `journey: \(Journey.csvImport.rawValue)`")
            }
            return nil
        }
        return LibraryReader(findings: self.findings).files(entry?.value)
    }

    private func batchForm(_ map: MapReader, _ journey: Journey) -> BatchForm? {
        guard journey == .batchEnrichment else {
            if let entry = map.entry("batch-form") {
                self.findings.add(
                    entry.keyLocation, "the journey `\(journey.rawValue)` sends no batches",
                    help: "leave `batch-form` out, or write `journey: \(Journey.batchEnrichment.rawValue)`")
            }
            return nil
        }
        return map.value("batch-form", default: .books) { text throws(ValueError) in
            let words = BatchForm.allCases.map(\.rawValue)
            let word = try Values.choice(text, of: words, what: "how a batch names its books")
            return BatchForm(rawValue: word) ?? .books
        }
    }

    private func repeats(_ map: MapReader, _ journey: Journey) -> Odds {
        guard journey == .bookEnrichment else {
            if let entry = map.entry("repeats") {
                self.findings.add(
                    entry.keyLocation, "the journey `\(journey.rawValue)` looks up no single books",
                    help: "leave `repeats` out, or write `journey: \(Journey.bookEnrichment.rawValue)`")
            }
            return .never
        }
        return map.value("repeats", default: .never) { text throws(ValueError) in try Values.share(text) }
    }

    // MARK: Profile

    /// Every key of a group that is a toggle or looks like one. The latter are reported here, with the list of the toggles.
    private func toggleKeys(of group: Node) -> [String] {
        guard case .map(let entries) = group.content else { return [] }
        return entries.compactMap { entry -> String? in
            if ProfileToggle(key: entry.key) != nil { return entry.key }
            if let hidden = HiddenToggle(rawValue: entry.key) {
                self.findings.add(
                    entry.keyLocation, "`\(hidden.key)` is not a toggle", help: hidden.reason)
                return entry.key
            }
            guard ProfileToggle.families.contains(where: { entry.key.hasPrefix($0) }),
                !Self.planned.contains(entry.key)
            else { return nil }
            self.findings.add(
                entry.keyLocation, "unknown toggle \(Findings.quoted(entry.key))",
                help: Values.choices(entry.key, ProfileToggle.all.map(\.key)))
            return entry.key
        }
    }

    /// The toggles that a group sets, in the order of all toggles.
    private func toggles(_ map: MapReader) -> [ToggleSetting] {
        ProfileToggle.all.compactMap { toggle in
            map.value(toggle.key, Values.boolean).map { ToggleSetting(toggle, isOn: $0) }
        }
    }

    private func profile(_ map: MapReader, _ toggles: [ToggleSetting]) -> (ClientProfile, IdleTimeout) {
        let named = self.namedProfile(map)
        var profile = named.profile(with: toggles)
        profile.journey = map.value("journey", default: profile.journey) { text throws(ValueError) in
            let words = Journey.allCases.map(\.rawValue)
            let word = try Values.choice(text, of: words, what: "the journey")
            return Journey(rawValue: word) ?? .scan
        }
        profile.stream.resumes = map.value("resume", default: profile.stream.resumes, Values.boolean)
        profile.cleanup.isMade = map.value("cleanup", default: profile.cleanup.isMade, Values.boolean)
        profile.cancel = CancelReader(findings: self.findings).policy(map.entry("cancel")?.value)
        profile.results.usesInlineBooks = map.value(
            "inline-books", default: profile.results.usesInlineBooks, Values.boolean)
        profile.stream.slots = map.value("streams-max", default: profile.stream.slots) {
            text throws(ValueError) in
            try Values.integer(text, 1...Self.streamsMax, what: "the number of streams")
        }
        profile.requestTimeout = map.value("request-timeout", default: profile.requestTimeout) {
            text throws(ValueError) in
            let time = try Values.duration(text, max: ScenarioLimit.timeMax)
            guard time > .zero else { throw ValueError("the request timeout must be above zero") }
            return time
        }
        // One time for all requests, in place of those that the profile has for some.
        if map.entry("request-timeout") != nil { profile.timeouts = TimeoutPolicy() }
        self.readRetries(map, named, into: &profile)
        self.readStatus(map, into: &profile.status)
        profile.token.stream = map.value(
            "stream-token", default: profile.token.stream, Values.word("stream-token"))
        self.readUpload(map, into: &profile.upload)
        let idle: Interval?? = map.value("idle-timeout") { text throws(ValueError) -> Interval? in
            if text == "auto" { return nil }
            let time = try Values.duration(text, max: ScenarioLimit.timeMax)
            guard time > .zero else { throw ValueError("the idle timeout must be above zero") }
            return time
        }
        guard case .some(.some(let time)) = idle else {
            // A client with a time of its own keeps it, whatever the server's pings.
            let isOwn = profile.stream.idleTimeout != ClientProfile.contract.stream.idleTimeout
            return (profile, isOwn && idle == nil ? .fixed : .automatic)
        }
        profile.stream.idleTimeout = time
        return (profile, .fixed)
    }

    private func namedProfile(_ map: MapReader) -> NamedProfile {
        map.value("profile", default: NamedProfile.contract) { text throws(ValueError) in
            guard let profile = ProfileTable.named(text) else {
                throw ValueError(
                    "unknown profile \(Findings.quoted(text))",
                    help: Values.choices(text, ProfileTable.all.map(\.name)))
            }
            return profile
        }
    }

    private func readUpload(_ map: MapReader, into upload: inout UploadPolicy) {
        upload.photos = map.value("photos-per-scan", default: upload.photos) {
            text throws(ValueError) in
            try Values.integers(text, 1...ContractLimit.photosMax, what: "the number of photos of a scan")
        }
        upload.regions = map.value("regions", default: upload.regions) {
            text throws(ValueError) in
            try Values.integers(text, 1...ContractLimit.regionsMax, what: "the number of regions of a photo")
        }
    }

    private func readRetries(_ map: MapReader, _ named: NamedProfile, into profile: inout ClientProfile) {
        guard let entry = map.entry("retries") else { return }
        guard named.base.requestBackoff != nil else {
            self.findings.add(
                entry.keyLocation, "the client `\(named.name)` has one set of numbers for failed requests",
                help: "leave `retries` out, or write `profile: \(NamedProfile.books.name)`")
            return
        }
        profile.use(
            map.value("retries", default: RetryPreset.standard) { text throws(ValueError) in
                let words = RetryPreset.allCases.map(\.rawValue)
                let word = try Values.choice(text, of: words, what: "how often requests are made again")
                return RetryPreset(rawValue: word) ?? .standard
            })
    }

    private func readStatus(_ map: MapReader, into status: inout StatusPolicy) {
        status.polling = map.value("status-polling", default: status.polling) { text throws(ValueError) in
            let words = StatusPolling.allCases.map(\.rawValue)
            let word = try Values.choice(text, of: words, what: "when the status is requested")
            return StatusPolling(rawValue: word) ?? .off
        }
        status.interval = map.value("status-interval", default: status.interval) {
            text throws(ValueError) in
            let time = try Values.duration(text, max: ScenarioLimit.timeMax)
            guard time > .zero else {
                throw ValueError("the time between status requests must be above zero")
            }
            return time
        }
        status.requestsMax = map.value("status-requests-max", default: status.requestsMax) {
            text throws(ValueError) in
            try Values.integer(text, 1...Self.statusRequestsMax, what: "the number of status requests")
        }
    }

    // MARK: Photos

    private func photos(_ map: MapReader) -> PhotoSource {
        let shelves = PhotoSource.standard
        guard let node = map.entry("photos")?.value else { return shelves }
        switch node.content {
        case .list(let nodes): return self.photoList(nodes, in: node) ?? shelves
        case .map: return self.paintedPhotos(node) ?? shelves
        case .scalar, .reported:
            return map.value("photos", default: shelves) { text throws(ValueError) in
                .folder(try Values.photos(text))
            }
        }
    }

    private func photoList(_ nodes: [Node], in list: Node) -> PhotoSource? {
        guard (1...ScenarioLimit.photoPlacesMax).contains(nodes.count) else {
            self.findings.add(
                list.location,
                "a list of photos must have 1 to \(ScenarioLimit.photoPlacesMax) entries, not \(nodes.count)")
            return nil
        }
        let names = nodes.compactMap { node in
            self.findings.value(of: node, named: "photos", Values.photos)
        }
        return names.count == nodes.count ? .list(names) : nil
    }

    private func paintedPhotos(_ node: Node) -> PhotoSource? {
        guard
            let paint = MapReader(
                node, what: "photos", keys: ["paint", "size"], planned: [], findings: self.findings)
        else { return nil }
        let count = paint.required("paint", example: "8") { text throws(ValueError) in
            try Values.integer(text, 1...ScenarioLimit.photosPaintedMax, what: "the number of painted photos")
        }
        let size = paint.value("size", Values.photoSize)
        return count.map { .painted($0, size: size) }
    }
}
