import Metrics
import Phone
import Plan
import SimBase
import Talaria

extension FleetReader {
    static let valueKeys = ScenarioKeys(
        what: "a group", rows: Self.kind + Self.network + Self.load + Self.photos + Self.client)

    /// In the order in which a group is written.
    static func values(_ group: FleetGroup) -> [(key: String, value: String)] {
        func values(_ rows: [ScenarioKey<FleetGroup>]) -> [(key: String, value: String)] {
            ScenarioKeys(what: "a group", rows: rows).values(group)
        }
        return values(Self.kind) + group.toggles.map { ($0.toggle.key, ScenarioWriter.text($0.isOn)) }
            + values(Self.client + Self.network + Self.photos + Self.load)
    }

    private static let kind: [ScenarioKey<FleetGroup>] = [
        .init(
            "phones", .integer(1...ScenarioLimit.devicesMax), "number of phones",
            read: Self.readPhones, write: { String($0.devices) }),
        .init(
            "profile", .choice(ProfileTable.all.map(\.name)), "client profile",
            read: Self.readProfile, write: { ScenarioWriter.quoted($0.profile.name) }),
        .init("journey", \.profile.journey, .word(what: "the journey"), "what the phones do"),
        .init(
            "library", .map(LibraryReader.keys.schemas), "csv-import: the files that the phones import",
            read: Self.readLibrary, write: { $0.library.map(LibraryReader.keys.text) }),
        .init(
            "batch-form", Self.batchForm.schema,
            "batch-enrichment: how a batch names its books (default: books)",
            read: Self.readBatchForm, write: { $0.batchForm?.rawValue }),
        .init(
            "repeats", .share,
            "book-enrichment: look-ups of a barcode that the phone has looked up before (default: none)",
            read: Self.readRepeats,
            write: { $0.repeats > .never ? ValueForm.share.write($0.repeats) : nil }),
        .init(
            "text-enrichment", Self.enriches.schema,
            "text-enrichment: whether books that the phone has read are looked up (default: on)",
            read: Self.readEnriches,
            write: {
                $0.profile.journey == .textEnrichment ? ScenarioWriter.text($0.profile.upload.enriches) : nil
            }),
        .init(
            "enrichment-answer", Self.enrichmentAnswer.schema,
            "text-enrichment: the form in which the answer is read (Docs/contract.md section 7, C24; default: nested)",
            read: Self.readEnrichmentAnswer,
            write: {
                $0.profile.upload.enrichment == .nested ? nil : $0.profile.upload.enrichment.rawValue
            }),
        .init(
            "photo-below", .share,
            "text-enrichment: readings with less confidence lead to an upload of their photo (default: 0%)",
            read: Self.readPhotoBelow,
            write: { $0.profile.upload.photoBelow > 0 ? "\($0.profile.upload.photoBelow)%" : nil }),
        .init(
            "reader", .map(Self.reader.schemas),
            "text-enrichment: how the phones read the spines of books by themselves",
            read: Self.readReader,
            write: { $0.profile.journey == .textEnrichment ? Self.reader.text($0.reader) : nil }),
    ]

    private static let network: [ScenarioKey<FleetGroup>] = [
        .init(
            "network", ScenarioSchema.network, "a link preset by name, a link, or an itinerary",
            read: { map, group in
                let node = map.entry("network")?.value
                group.network = NetworkReader(findings: map.findings).itinerary(node)
            }, write: { ScenarioWriter.text($0.network) }),
        .init(
            "scans", \.scansPerDevice,
            .integer(1...ScenarioLimit.scansPerDeviceMax, what: "the number of scans"),
            "number of scans per phone"),
    ]

    /// `LoadReader` reads these keys, which depend on each other.
    private static let load: [ScenarioKey<FleetGroup>] = [
        ("arrivals", ScenarioSchema.arrivals, "arrival rate of an open model, or its stages"),
        (
            "spacing",
            .text(
                #"uniform|poisson|burst\([0-9]+\)"#, "`uniform`, `poisson` or `burst(n)`",
                examples: ["uniform", "poisson", "burst(10)"]),
            "uniform: evenly; poisson: at random; burst(n): n at once"
        ),
        ("think", .durations, "closed model: the pause between the scans of a phone"),
        (
            "start", .durations,
            "closed model: when a phone starts (default: 0s up to the longest `think`)"
        ),
    ].map { (row: (name: String, schema: JSONSchema, description: String)) in
        ScenarioKey(row.name, row.schema, row.description) { _, _ in
        } write: { group in
            ScenarioWriter.values(group.load).first { $0.key == row.name }?.value
        }
    }

    private static let photos: [ScenarioKey<FleetGroup>] = [
        .init(
            "photos", ScenarioSchema.photos,
            "a folder of photos or a photo, a list of them, or synthetic photos. Paths are absolute, relative to the scenario's folder, or in Images/",
            read: { map, group in group.photos = FleetReader(findings: map.findings).photos(map) },
            write: { ScenarioWriter.text($0.photos) }),
        .init(
            "photos-per-scan", \.profile.upload.photos,
            .integers(1...ContractLimit.photosMax, what: "the number of photos of a scan"),
            "photos of one scan, which are the parts of one upload"),
        .init(
            "regions", \.profile.upload.regions,
            .integers(1...ContractLimit.regionsMax, what: "the number of regions of a photo"),
            "regions of a photo that the app segments, each a scan with an upload of its own"),
        .init(
            "preprocess", \.preprocess, .word(what: "how often photos are preprocessed"),
            "each: for every capture, as in the app; once: for the first capture of a photo, whose result later ones share"
        ),
    ]

    private static let client: [ScenarioKey<FleetGroup>] = [
        .init(
            "resume", \.profile.stream.resumes, .toggle, "whether streams resume with Last-Event-ID"),
        .init("cleanup", \.profile.cleanup.isMade, .toggle, "whether the client deletes finished jobs"),
        .init(
            "cancel", .map(CancelReader.keys.schemas, required: ["chance"]),
            "a user who cancels scans while they run or wait",
            read: { map, group in
                group.profile.cancel = CancelPolicy()
                guard let node = map.entry("cancel")?.value,
                    let inner = CancelReader.keys.map(node, map.findings)
                else { return }
                CancelReader.keys.read(inner, into: &group.profile.cancel)
            }, write: { $0.profile.cancel.isMade ? CancelReader.keys.text($0.profile.cancel) : nil }),
        .init(
            "review", .map(ReviewReader.keys.schemas),
            "a person who reviews the books; without one they enter the library as they come",
            read: ReviewReader.read,
            write: { $0.profile.reviewer.isMade ? ReviewReader.keys.text($0.profile.reviewer) : nil }),
        .init(
            "inline-books", \.profile.results.usesInlineBooks, .toggle,
            "whether the client uses the books in the completed event"),
        .init(
            "result-events", \.profile.events.result, .word(what: "what is done with `result` events"),
            "what the client does with the book of a `result` event"),
        .init(
            "streams-max", \.profile.stream.slots, .integer(1...100, what: "the number of streams"),
            "maximum number of open streams per phone"),
        .init(
            "idle-timeout",
            .text("\(JSONSchema.time)|auto", "a duration or `auto`", examples: ["30s", "auto"]),
            "maximum silence on a stream", read: Self.readIdleTimeout,
            write: {
                $0.idleTimeout == .automatic ? "auto" : Units.text($0.profile.stream.idleTimeout)
            }),
        // One time for all requests. A profile that has several keeps them.
        .init(
            "request-timeout", .duration, "maximum silence before and within any other response",
            read: Self.readRequestTimeout,
            write: {
                $0.profile.timeouts == TimeoutPolicy() ? Units.text($0.profile.requestTimeout) : nil
            }),
        .init(
            "status-polling", \.profile.status.polling, .word(what: "when the status is requested"),
            "when the client requests the status of a job instead of reading its stream"),
        .init(
            "status-interval", \.profile.status.interval,
            .positive("the time between status requests"), "time from a status to its next request"),
        .init(
            "status-requests-max", \.profile.status.requestsMax,
            .integer(1...100_000, what: "the number of status requests"),
            "requests for the status of one job; then its scan waits for the next launch"),
        .init(
            "transport", Self.transport.schema,
            "journeys of v2 with jobs: by what a job is followed (default: sse)",
            read: Self.readTransport,
            write: {
                $0.profile.journey.canBeFollowedByWebSocket ? $0.profile.stream.transport.rawValue : nil
            }),
        .init(
            "stream-token", \.profile.token.stream, .word,
            "where a request for a stream has its token (Docs/contract.md section 7, C13)"),
        .init(
            "token-refresh", \.profile.token.refreshAfter, .durationOrOff(),
            "jobs that are followed by WebSocket: time from the upload to the exchange of the token"),
        .init(
            "retries", Self.retries.schema,
            "books-v3: which of its numbers for failed requests the client uses",
            read: Self.readRetries,
            write: { $0.profile.retries == .standard ? nil : $0.profile.retries.rawValue }),
    ]
}
