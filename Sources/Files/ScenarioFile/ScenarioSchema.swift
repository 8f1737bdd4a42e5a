import Backend
import CSV
import Faults
import JSON
import Ledger
import Phone
import Plan
import RunJudge
import Talaria

/// The JSON Schema of scenario files, for editors. It knows keys, words and the forms of values; errors of a
/// scenario as a whole are left to `check`.
package enum ScenarioSchema {
    /// Ends in a newline.
    package static var text: String {
        String(decoding: JSON.encode(Self.scenario), as: UTF8.self) + "\n"
    }

    static var scenario: JSONSchema {
        var schema = JSONSchema.map(Self.top, required: ["scenario"])
        schema.dialect = "https://json-schema.org/draft/2020-12/schema"
        schema.title = "A scenario of swiftwing-sim"
        return schema
    }

    static var top: [String: JSONSchema] {
        [
            "scenario": .integer(1...1).described("the version of the format"),
            "extends": .anyText.described("the scenario from which this one inherits"),
            "name": .name.described("name of the scenario (default: the name of the file)"),
            "description": .anyText.described("what the scenario shows"),
            "seed": .integer(0...Int.max).described("seed of every random decision"),
            "fleet": JSONSchema(type: "object", others: [.map(Self.group)])
                .described("groups of phones, by name"),
            "server": JSONSchema.map(Self.server).described("the simulated backend; ignored with --target"),
            "faults": JSONSchema.list(
                of: JSONSchema(anyOf: FaultTable.all.map(Self.fault)), max: ScenarioLimit.faultsMax
            ).described("faults to inject: what, where, when and how often"),
            "slo": JSONSchema(type: "object", others: [Self.objective])
                .described("objectives, by metric"),
            "expect-broken": JSONSchema.list(of: .anyText, max: ExpectedBreakReader.breaksMax)
                .described("invariants and metrics of objectives that must fail; nothing else may fail"),
            "sometimes": JSONSchema.list(
                of: .choice(CoverageGoal.allCases.map(\.rawValue)), max: CoverageGoal.allCases.count
            ).described("situations that a run must reach; otherwise it exits with 98"),
            "drain": .duration.described("time for unfinished scans after the last arrival"),
            "duration": JSONSchema.duration.orOff().described("no arrivals after this time"),
        ]
    }

    static var group: [String: JSONSchema] {
        let toggles = ProfileToggle.all.map { toggle in
            (toggle.key, JSONSchema.toggle.described("\(toggle.title) (Docs/contract.md \(toggle.source))"))
        }
        return Self.groupValues.merging(toggles) { value, _ in value }
    }

    static var library: [String: JSONSchema] {
        [
            "rows": .integers(0...LibrarySpec.rowsMax).described("rows of a file, without the header"),
            "duplicates": .share.described("rows with the ISBN of an earlier row"),
            "bad-isbns": .share.described("rows whose ISBN has a wrong check digit"),
            "without-isbn": .share.described("rows without an ISBN"),
            "line-breaks": .share.described("titles with a line break"),
            "quotes": .share.described("titles with quotes"),
            "notes": .integers(0...LibraryReader.notesMax)
                .described("a fourth column with so many bytes in each row"),
            "separator": .choice(LibraryReader.separators.map(\.word)).described("what separates two fields"),
            "line-ends": .choice(LibraryReader.lineEnds.map(\.word)).described("the end of each record"),
            "quoting": .choice(LibraryReader.quotings.map(\.word))
                .described("whether only fields that need it are quoted, or all"),
            "byte-order-mark": .toggle.described("whether a file begins with U+FEFF"),
            "unreadable": .share.described("files that are no library: photos, UTF-16, unclosed quotes"),
        ]
    }

    static var groupValues: [String: JSONSchema] {
        [
            "devices": .integer(1...ScenarioLimit.devicesMax).described("number of phones"),
            "profile": .choice(ProfileTable.all.map(\.name)).described("client profile"),
            "journey": .choice(Journey.allCases.map(\.rawValue)).described("what the phones do"),
            "library": .map(Self.library).described("csv-import: the files that the phones import"),
            "batch-form": .choice(BatchForm.allCases.map(\.rawValue))
                .described("batch-enrichment: how a batch names its books (default: books)"),
            "repeats": .share
                .described(
                    "book-enrichment: look-ups of a barcode that the phone has looked up before (default: none)"
                ),
            "network": JSONSchema().described("a link preset by name, a link, or an itinerary"),
            "scans": .integer(1...ScenarioLimit.scansPerDeviceMax).described("number of scans per phone"),
            "arrivals": JSONSchema(anyOf: [.rate, JSONSchema(type: "array")])
                .described("arrival rate of an open model, or its stages"),
            "spacing": .text(#"uniform|poisson|burst\([0-9]+\)"#, examples: ["poisson", "burst(10)"])
                .described("uniform: evenly; poisson: at random; burst(n): n at once"),
            "think": .durations.described("closed model: the pause between the scans of a phone"),
            "start": .durations.described(
                "closed model: when a phone starts (default: 0s up to the longest `think`)"),
            "photos": JSONSchema(anyOf: [
                .anyText, .list(of: .anyText, max: ScenarioLimit.photoPlacesMax),
                .map(
                    [
                        "paint": JSONSchema.integer(1...ScenarioLimit.photosPaintedMax)
                            .described("number of synthetic photos"),
                        "size": JSONSchema.text("[0-9]+x[0-9]+", examples: ["4032x3024"])
                            .described(
                                "size of each photo in pixels (default: half the width and height of phone photos)"
                            ),
                    ], required: ["paint"]),
            ]).described("a folder in Images/, a list of folders and photos, or synthetic photos"),
            "photos-per-scan": .integers(1...ContractLimit.photosMax)
                .described("photos of one scan, which are the parts of one upload"),
            "regions": .integers(1...ContractLimit.regionsMax)
                .described("regions of a photo that the app segments, each a scan with an upload of its own"),
            "preprocess": .choice(Preprocessing.allCases.map(\.rawValue))
                .described("whether photos are preprocessed for each capture or once per run"),
            "resume": .toggle.described("whether streams resume with Last-Event-ID"),
            "cleanup": .toggle.described("whether the client deletes finished jobs"),
            "cancel": .map(
                [
                    "chance": .share.described("scans that the user cancels, unless they are over before"),
                    "after": .durations.described(
                        "time from the first 202 of a scan to its cancel (default: 1s..5s)"),
                ], required: ["chance"]
            ).described("a user who cancels scans while they run or wait"),
            "inline-books": .toggle.described("whether the client uses the books in the completed event"),
            "streams-max": .integer(1...100).described("maximum number of open streams per phone"),
            "idle-timeout": JSONSchema(anyOf: [.duration, .choice(["auto"])])
                .described("maximum silence on a stream"),
            "request-timeout": .duration.described("maximum time for any other response"),
            "retries": .choice(RetryPreset.allCases.map(\.rawValue))
                .described("books-v3: which of its numbers for failed requests the client uses"),
            "status-polling": .choice(StatusPolling.allCases.map(\.rawValue))
                .described("when the client requests the status of a job instead of reading its stream"),
            "status-interval": .duration.described("time from a status to its next request"),
            "stream-token": .choice(TokenPlace.allCases.map(\.rawValue))
                .described("where a request for a stream has its token (Docs/contract.md section 7, C13)"),
            "status-requests-max": .integer(1...FleetReader.statusRequestsMax)
                .described("requests for the status of one job; then its scan waits for the next launch"),
        ]
    }

    static var server: [String: JSONSchema] {
        [
            "dialect": JSONSchema(anyOf: [
                .choice(BackendConfiguration.presets.map(\.dialect.name)),
                .map([
                    CaptureReader.replay: JSONSchema.anyText.described(
                        "path of a captured event stream, relative to the scenario; its events are those of every job"
                    ),
                    CaptureReader.stream: JSONSchema.anyText.described("the text of the captured stream"),
                ]),
            ]).described("form of what the backend sends; sets the defaults of the other keys"),
            "books": .integers(0...ScenarioLimit.booksMax).described(
                "books that the backend finds in a photo"),
            "job-time": .durations.described("time from the 202 to the end of the job, drawn for each scan"),
            "ping": .duration.described("time from ping to ping of a stream"),
            "ping-ids": .toggle.described("whether pings have an id"),
            "token-lifetime": .duration.described("time from the 202 until the token of the job has expired"),
            "event-buffer": .duration.described("time for which an event can be sent again after a resume"),
            "replay-ids": .choice(["kept", "fresh"]).described(
                "whether an event that is sent again keeps its id or has a new one"),
            "line-ends": JSONSchema.choice(BackendConfiguration.LineEnds.allCases.map(\.rawValue))
                .described("line ending of event streams; mixed: one of the three for each stream"),
            "rate-limit": JSONSchema.quota.orOff().described(
                "uploads of a device per time; more are answered with 429"),
            "results-lifetime": .duration.described(
                "time from the completed event until the job has expired"),
            "completed-size-max": .size.described(
                "size of a completed event beyond which it loses its books"),
            "strict-device": JSONSchema.toggle.described(
                "a token is valid only with the device id of its upload"),
            "strict-accept": .toggle.described(
                "a stream must be requested with `Accept: text/event-stream`, or is answered with 400"),
            "repeated-cleanup": .integer(204...404).described(
                "status of the answer to a DELETE of a job that is gone: 204, 404 or 410"),
            "links": .anyText.described("form of the links in answers: relative, absolute, or a base URL"),
            "retry": JSONSchema.duration.orOff().described(
                "the `retry:` field of streams, which raises the backoff of a client"),
            "stream-linger": JSONSchema.duration.described(
                "how long the connection of a stream stays open after its terminal event"),
            "photos-max": .integer(1...Int.max).described("maximum number of photos of an upload"),
            "photo-size-max": .size.described("maximum size of a photo"),
            "batch-size-max": .size.described("maximum size of all photos of an upload"),
            "jobs-max": .integer(1...Int.max).described(
                "jobs that live at once; more uploads are answered with 503"),
            "tombstones-max": .integer(0...Int.max).described(
                "jobs that are remembered as gone (410); one that is forgotten is answered with 404"),
            "v2": JSONSchema.map(Self.v2).described("how v2 is served where its documents disagree"),
            "circuit-breaker": JSONSchema(anyOf: [.toggle, .map(Self.breaker)]).described(
                "refuses uploads of v2 for a while after failures of a provider (default: off)"),
        ]
    }

    static var v2: [String: JSONSchema] {
        [
            "results-lifetime": .duration.described(
                "time from the completed event until the results are gone (default: that of v3)"),
            "stream-auth": .choice(V2Rules.StreamToken.allCases.map(\.rawValue)).described(
                "where a stream has its token: in the header, in the query, or in either"),
            "event-names": .choice(V2Rules.EventNames.allCases.map(\.rawValue)).described(
                "names and data of events; dotted: those that books-v3 expects"),
            "progress": .choice(V2Rules.Progress.allCases.map(\.rawValue)).described(
                "whether a stream is told of each change of its job, or looks for the last one"),
            "envelope": .choice(V2Rules.Envelope.allCases.map(\.rawValue)).described(
                "whether answers have `success`"),
            "tokens": .choice(V2Rules.TokenNames.allCases.map(\.rawValue)).described(
                "the names of the token in the answer to an upload"),
        ]
    }

    static var breaker: [String: JSONSchema] {
        [
            "failures": .integer(1...V2Reader.countMax).described(
                "jobs in a row that a provider has failed, which open the circuit (default: 5)"),
            "successes": .integer(1...V2Reader.countMax).described(
                "jobs that complete after the cooldown, which close it (default: 2)"),
            "cooldown": .duration.described("time for which uploads are refused (default: 60s)"),
        ]
    }

    // MARK: Faults

    static func fault(_ entry: FaultKindEntry) -> JSONSchema {
        var keys: [String: JSONSchema] = [
            "do": JSONSchema(const: entry.name).described(entry.summary),
            "on": JSONSchema.choice(entry.targets.map(\.rawValue)),
            "id": .name.described("name of the fault (default: `<kind>-<ordinal within the kind>`)"),
            "key": .text("[0-9a-f]{16}", examples: ["00c0ffee00c0ffee"]).described(
                "key of its random decisions (default: derived from its `id`, or from all of its keys)"),
            "chance": .share.described(
                "probability, drawn once per scan and operation; for a fault of the phone, once per phone"),
            "at": (entry.hasSpread ? JSONSchema.durations : .duration).described(
                "when the fault starts, from the start of the run"),
            "for": .duration.described("duration of the fault"),
            "scope": .anyText.described(
                "affected phones: `all`, a share such as `50% of devices`, the name of a group, or one such as `phone 7`"
            ),
        ]
        if entry.layer != .phone {
            keys["scan"] = .integer(1...ScenarioLimit.scansPerDeviceMax).described(
                "the scan of a phone that it affects (default: all)")
            keys["attempt"] = .integer(1...ScenarioLimit.scansPerDeviceMax).described(
                "the attempt of a request that it affects (default: all)")
        }
        if !entry.triggers.isEmpty {
            keys["after"] = JSONSchema.anyText.described("what must happen before the fault takes effect")
        }
        if entry.defaultCount != nil {
            keys["count"] = JSONSchema(anyOf: [.choice(["once", "each-attempt"]), .integer(1...1_000_000)])
        }
        for field in entry.fields {
            var schema = Self.value(field.type).described(field.summary)
            schema.default = field.defaultText
            keys[field.name] = schema
        }
        let required = entry.fields.filter { !$0.isOptional }.map(\.name)
        return .map(keys, required: ["do"] + required + (entry.defaultTarget == nil ? ["on"] : []))
    }

    private static func value(_ type: FaultFieldType) -> JSONSchema {
        switch type {
        case .duration: .duration
        case .durations: .durations
        case .offset: .offset
        case .quota: .quota
        case .integer(let range): .integer(range)
        case .integers(let range): .integers(range)
        case .share: .share
        case .bitRate: .bitRate
        case .toggle: .toggle
        case .choice(let words):
            // YAML reads `404` and `null` as no text.
            JSONSchema(anyOf: [.choice(words), JSONSchema(type: "integer"), JSONSchema(type: "null")])
        case .code: .text("[A-Z0-9_]+", examples: ["PROVIDER_TIMEOUT"])
        case .cut: JSONSchema(anyOf: [.anyText, .map(["after-bytes": .integer(0...Int(Int32.max))])])
        }
    }

    // MARK: Objectives

    static var objective: JSONSchema {
        let one = JSONSchema(anyOf: [
            .anyText,
            .map(
                [
                    "expect": .anyText.described("the condition, such as `p(95) < 400ms`"),
                    "severity": .choice(["error", "warn"]).described(
                        "warn: a miss does not change the exit code"),
                    "abort": .toggle.described("whether a miss ends the run"),
                    "no-data": .choice(["pass", "fail"]).described("what it is worth without any value"),
                ],
                required: ["expect"]),
        ])
        return JSONSchema(anyOf: [one, .list(of: one, max: ScenarioLimit.slosMax)])
    }
}
