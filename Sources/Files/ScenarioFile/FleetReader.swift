import Faults
import Phone
import Plan
import SimBase
import Talaria

/// Reads `fleet`.
struct FleetReader {
    static let keys = Self.valueKeys.names + ProfileToggle.all.map(\.key)
    static let planned = ["after", "itinerary"]

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
                entry.value, what: "a group", keys: Self.valueKeys.names + self.toggleKeys(of: entry.value),
                planned: Self.planned, findings: self.findings)
        else { return nil }
        let load = LoadReader(findings: self.findings).load(of: map)
        let instant = Interval.zero...Interval.zero
        // Without a valid load the other keys are read for their errors alone.
        var group = FleetGroup(
            name: entry.key, devices: 0, profile: .contract, toggles: self.toggles(map),
            idleTimeout: .automatic, network: .always(NetworkReader.perfect),
            scansPerDevice: Self.scansDefault(load),
            load: load ?? .closed(ThinkTime(think: instant, start: instant)), photos: .standard,
            preprocess: .standard)
        Self.valueKeys.read(map, into: &group)
        return load == nil || group.devices == 0 ? nil : group
    }

    /// One scan; as many as it takes for a load in steps.
    private static func scansDefault(_ load: LoadModel?) -> Int {
        if case .open(.stepped, _)? = load { ScenarioLimit.scansPerDeviceMax } else { 1 }
    }

    @Sendable static func readPhones(_ map: MapReader, _ group: inout FleetGroup) {
        let phones = map.required("phones", example: "40") { text throws(ValueError) in
            try Values.integer(text, 1...ScenarioLimit.devicesMax, what: "the number of phones")
        }
        group.devices = phones ?? 0
    }

    // MARK: Keys of one journey

    @Sendable static func readLibrary(_ map: MapReader, _ group: inout FleetGroup) {
        guard Self.isRead("library", .csvImport, "imports no files", map, group) else { return }
        group.library = LibraryReader(findings: map.findings).files(map.entry("library")?.value)
    }

    static let transport = ValueForm<StreamTransport>.word(what: "the transport")

    @Sendable static func readTransport(_ map: MapReader, _ group: inout FleetGroup) {
        guard let entry = map.entry("transport") else { return }
        guard group.profile.journey.canBeFollowedByWebSocket else {
            map.findings.add(
                entry.keyLocation,
                "the journey `\(group.profile.journey.rawValue)` has no other transport than its own",
                help: "leave `transport` out, or use \(Self.journeysByWebSocket)")
            return
        }
        let transport = map.value("transport") { text throws(ValueError) in
            try Self.transport.read("transport", text)
        }
        if let transport { group.profile.stream.transport = transport }
    }

    private static let journeysByWebSocket = Values.list(
        Journey.allCases.filter(\.canBeFollowedByWebSocket).map { "journey: \($0.rawValue)" })

    static let batchForm = ValueForm<BatchForm>.word(what: "how a batch names its books")

    @Sendable static func readBatchForm(_ map: MapReader, _ group: inout FleetGroup) {
        guard Self.isRead("batch-form", .batchEnrichment, "sends no batches", map, group) else { return }
        group.batchForm = map.value("batch-form", default: .books) { text throws(ValueError) in
            try Self.batchForm.read("batch-form", text)
        }
    }

    @Sendable static func readRepeats(_ map: MapReader, _ group: inout FleetGroup) {
        guard Self.isRead("repeats", .bookEnrichment, "looks up no single books", map, group) else { return }
        group.repeats = map.value("repeats", default: .never, Values.share)
    }

    static let reader = ScenarioKeys<SpineReader>(
        what: "a reader",
        rows: [
            .init("accuracy", \.accuracy, .share, "readings that are without an error (default: 92%)"),
            .init(
                "time", \.time, .durations(max: ScenarioLimit.timeMax),
                "time from a photo to its reading (default: 300ms..700ms)"),
        ])

    static let enriches = ValueForm<Bool>.toggle

    @Sendable static func readEnriches(_ map: MapReader, _ group: inout FleetGroup) {
        guard Self.isRead("text-enrichment", .textEnrichment, "reads no spines", map, group) else { return }
        group.profile.upload.enriches = map.value("text-enrichment", default: true) {
            text throws(ValueError) in
            try Self.enriches.read("text-enrichment", text)
        }
    }

    static let enrichmentAnswer = ValueForm<Enrichment.Form>.word(what: "the form of the answer")

    @Sendable static func readEnrichmentAnswer(_ map: MapReader, _ group: inout FleetGroup) {
        guard Self.isRead("enrichment-answer", .textEnrichment, "reads no spines", map, group) else { return }
        group.profile.upload.enrichment = map.value("enrichment-answer", default: .nested) {
            text throws(ValueError) in
            try Self.enrichmentAnswer.read("enrichment-answer", text)
        }
    }

    @Sendable static func readPhotoBelow(_ map: MapReader, _ group: inout FleetGroup) {
        guard Self.isRead("photo-below", .textEnrichment, "reads no spines", map, group) else { return }
        let share = map.value("photo-below", default: .never, Values.share)
        group.profile.upload.photoBelow = Int(share.perMillion / 10_000)
    }

    @Sendable static func readReader(_ map: MapReader, _ group: inout FleetGroup) {
        guard Self.isRead("reader", .textEnrichment, "reads no spines", map, group),
            let node = map.entry("reader")?.value, let inner = Self.reader.map(node, map.findings)
        else { return }
        Self.reader.read(inner, into: &group.reader)
    }

    /// Whether the phones make the journey that a key is for. The key with another journey is reported.
    private static func isRead(
        _ key: String, _ journey: Journey, _ omission: String, _ map: MapReader, _ group: FleetGroup
    ) -> Bool {
        if group.profile.journey != journey, let entry = map.entry(key) {
            map.findings.add(
                entry.keyLocation, "the journey `\(group.profile.journey.rawValue)` \(omission)",
                help: "leave `\(key)` out, or write `journey: \(journey.rawValue)`")
        }
        return group.profile.journey == journey
    }

    // MARK: Profile

    /// Every key of a group that is a toggle or looks like one. The latter are reported here, with the list of the toggles.
    private func toggleKeys(of group: Node) -> [String] {
        guard case .map(let entries) = group.content else { return [] }
        return entries.compactMap { entry -> String? in
            if ProfileToggle(key: entry.key) != nil { return entry.key }
            if let hidden = ProfileToggle.hidden.first(where: { $0.key == entry.key }) {
                self.findings.add(
                    entry.keyLocation, "`\(hidden.key)` is not a toggle", help: hidden.title)
                return entry.key
            }
            guard ProfileToggle.Family.allCases.contains(where: { entry.key.hasPrefix($0.rawValue) }),
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

    @Sendable static func readProfile(_ map: MapReader, _ group: inout FleetGroup) {
        let named = map.value("profile", default: NamedProfile.contract) { text throws(ValueError) in
            guard let profile = ProfileTable.named(text) else {
                throw ValueError(
                    "unknown profile \(Findings.quoted(text))",
                    help: Values.choices(text, ProfileTable.all.map(\.name)))
            }
            return profile
        }
        group.profile = named.profile(with: group.toggles)
    }

    @Sendable static func readIdleTimeout(_ map: MapReader, _ group: inout FleetGroup) {
        let form = ValueForm.positive("the idle timeout").optional("auto")
        let idle = map.value("idle-timeout") { text throws(ValueError) in try form.read("idle-timeout", text)
        }
        if case .some(.some(let time)) = idle {
            group.profile.stream.idleTimeout = time
            group.idleTimeout = .fixed
        } else {
            // A client with a time of its own keeps it, whatever the server's pings.
            let isOwn =
                group.profile.stream.idleTimeout != ClientProfile.contract.stream.idleTimeout
            group.idleTimeout = isOwn && idle == nil ? .fixed : .automatic
        }
    }

    @Sendable static func readRequestTimeout(_ map: MapReader, _ group: inout FleetGroup) {
        guard map.entry("request-timeout") != nil else { return }
        let form = ValueForm.positive("the request timeout")
        group.profile.requestTimeout = map.value(
            "request-timeout", default: group.profile.requestTimeout
        ) { text throws(ValueError) in try form.read("request-timeout", text) }
        // One time for all requests, in place of those that the profile has for some.
        group.profile.timeouts = TimeoutPolicy()
    }

    static let retries = ValueForm<RetryPreset>.word(what: "how often requests are made again")

    @Sendable static func readRetries(_ map: MapReader, _ group: inout FleetGroup) {
        guard let entry = map.entry("retries") else { return }
        let name = group.profile.name
        guard ProfileTable.named(name)?.base.requestBackoff != nil else {
            map.findings.add(
                entry.keyLocation, "the client `\(name)` has one set of numbers for failed requests",
                help: "leave `retries` out, or write `profile: \(NamedProfile.books.name)`")
            return
        }
        group.profile.use(
            map.value("retries", default: .standard) { text throws(ValueError) in
                try Self.retries.read("retries", text)
            })
    }

    // MARK: Photos

    func photos(_ map: MapReader) -> PhotoSource {
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
