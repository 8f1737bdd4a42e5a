import Backend
import Faults
import Metrics
import Phone
import Plan
import SimBase
import Testing

@testable import ScenarioFile

struct ScenarioReaderTests {
    private func value(_ key: String, _ value: String) throws -> Scenario {
        try load(minimal, set: ["\(key)=\(value)"])
    }

    private func fault(_ text: String) throws -> FaultSpec? {
        try load(minimal + "faults:\n  - \(text)\n").faults.first
    }

    @Test func `defaults are those of the contract`() throws {
        let scenario = try load(minimal)
        let expected = Scenario(
            name: "test", description: "", seed: 1,
            groups: [
                FleetGroup(
                    name: "phones", devices: 2, profile: .contract, idleTimeout: .automatic,
                    network: .always(NamedLink(name: "perfect", profile: .perfect)), scansPerDevice: 1,
                    load: .open(.constant(ArrivalRate(arrivals: 1, per: .seconds(1))), .uniform),
                    photos: .folder("shelves"), preprocess: .once)
            ],
            server: .contract, faults: [], slos: [], drain: .seconds(30), duration: nil)
        #expect(scenario == expected)
    }

    @Test func `a group is read`() throws {
        let group = try load(
            """
            scenario: 1
            fleet:
              a-1:
                phones: 7
                profile: contract
                network: {up: {delay: 65ms, rate: 1.5Mbps}, down: {rate: off}}
                scans: 4
                arrivals: 2.5/m
                spacing: burst(3)
                photos: {paint: 8}
                preprocess: each
                resume: off
                cleanup: false
                cancel: {chance: 2.5%, after: 500ms..4s}
                review: {approve: 70%, edit: 20%, after: 1s..5s, approve-all: 10%, again: 30%}
                inline-books: off
                streams-max: 2
                idle-timeout: 90s
                photos-per-scan: 2..5
                regions: 1..20
                status-polling: after-loss
                status-interval: 3s
                status-requests-max: 12
            """
        ).groups.first
        var profile = ClientProfile.contract
        profile.stream.resumes = false
        profile.cleanup.isMade = false
        profile.cancel.chance = Odds(perMillion: 25_000)
        profile.cancel.after = .milliseconds(500)...(.seconds(4))
        profile.reviewer.isMade = true
        profile.reviewer.approve = .percent(70)
        profile.reviewer.edit = .percent(20)
        profile.reviewer.after = .seconds(1)...(.seconds(5))
        profile.reviewer.approveAll = .percent(10)
        profile.reviewer.again = .percent(30)
        profile.results.usesInlineBooks = false
        profile.stream.slots = 2
        profile.upload.photos = 2...5
        profile.upload.regions = 1...20
        profile.status.polling = .afterLoss
        profile.status.interval = .seconds(3)
        profile.status.requestsMax = 12
        profile.stream.idleTimeout = .seconds(90)
        let link = LinkProfile(
            up: LinkDirection(delay: .milliseconds(65), bitsPerSecond: 1_500_000),
            down: LinkDirection(delay: .zero, bitsPerSecond: nil))
        #expect(
            group
                == FleetGroup(
                    name: "a-1", devices: 7, profile: profile, idleTimeout: .fixed,
                    network: .always(NamedLink(name: "custom", profile: link)), scansPerDevice: 4,
                    load: .open(.constant(ArrivalRate(arrivals: 5, per: .minutes(2))), .burst(3)),
                    photos: .painted(8, size: nil), preprocess: .each))
    }

    @Test func `toggles change a profile, and its values may be set beside them`() throws {
        let group = try value(
            "fleet.phones", "{devices: 2, arrivals: 1/s, gap-5: on, gap-8: on, gap-10: off, streams-max: 2}"
        ).groups[0]
        var profile = ClientProfile.contract
        profile.stream.resumes = false
        profile.results.format = nil
        profile.stream.slots = 2
        #expect(group.profile == profile)
        #expect(
            group.toggles == [
                ToggleSetting(.lastEventID, isOn: true),
                ToggleSetting(.resultsFormat, isOn: true),
                ToggleSetting(.scanDeviceIDs, isOn: false),
            ])
    }

    @Test func `a shipping profile has its toggles, of which one can be switched off`() throws {
        let legacy = try value(
            "fleet.phones", "{devices: 2, arrivals: 1/s, profile: swiftwing-legacy, gap-5: off}"
        ).groups[0].profile
        var whole = NamedProfile.swiftwingLegacy.profile()
        #expect(whole.stream.resumes == false && whole.identity.results == .absent)
        whole.stream.resumes = true
        #expect(legacy == whole)
    }

    @Test(
        arguments: [
            ("shelves", .folder("shelves")), ("deep/down", .folder("deep/down")),
            ("/photos/of mine", .folder("/photos/of mine")), ("../mine", .folder("../mine")),
            ("[shelves, mine/one.jpg]", .list(["shelves", "mine/one.jpg"])),
            ("{paint: 8}", .painted(8, size: nil)),
            ("{paint: 2, size: 4032x3024}", .painted(2, size: PhotoSize(width: 4032, height: 3024))),
        ] as [(String, PhotoSource)])
    func `photos are a folder, a list, or painted`(text: String, expected: PhotoSource) throws {
        #expect(try value("fleet.phones.photos", text).groups[0].photos == expected)
    }

    @Test func `staged arrivals are read`() throws {
        let group = try value(
            "fleet.phones.arrivals",
            "[{rate: 5/s, for: 10s}, {rate: 0/s, for: 1m}, {ramp: 5/s..50/m, over: 60s}, {ramp: 0/s..1/s, over: 2s}]"
        ).groups[0]
        let (five, fifty) = (
            ArrivalRate(arrivals: 5, per: .seconds(1)), ArrivalRate(arrivals: 50, per: .minutes(1))
        )
        let stages = ArrivalStages([
            ArrivalStage(five, length: .seconds(10)), ArrivalStage(nil, length: .minutes(1)),
            ArrivalStage(from: five, to: fifty, length: .seconds(60)),
            ArrivalStage(from: nil, to: ArrivalRate(arrivals: 1, per: .seconds(1)), length: .seconds(2)),
        ])
        #expect(group.load == .open(.staged(stages), .uniform))
    }

    @Test func `an itinerary is read`() throws {
        let network = try value(
            "fleet.phones.network",
            "[{at: 0s, link: lte}, {at: 12s, link: edge-lossy, for: 4s}, {at: 20s, link: none, for: 3s}, {at: 30s, link: {up: {loss: 0.5%}, dns-delay: 2s}}]"
        ).groups[0].network
        func preset(_ name: String) throws -> NamedLink { NamedLink(try #require(LinkPreset.named(name))) }
        let custom = LinkProfile(
            up: LinkDirection(delay: .zero, bitsPerSecond: nil, loss: Odds(perMillion: 5_000)),
            down: LinkDirection(delay: .zero, bitsPerSecond: nil), nameLookup: .seconds(2))
        #expect(
            try network
                == Itinerary([
                    .init(at: .zero, link: preset("lte"), length: nil),
                    .init(at: .seconds(12), link: preset("edge-lossy"), length: .seconds(4)),
                    .init(at: .seconds(20), link: nil, length: .seconds(3)),
                    .init(
                        at: .seconds(30), link: NamedLink(name: "custom", profile: custom), length: nil),
                ]))
    }

    @Test func `think times are read`() throws {
        func load(_ keys: String) throws -> LoadModel {
            try ScenarioFileTests.load("scenario: 1\nfleet:\n  a: {phones: 2, \(keys)}\n").groups[0].load
        }
        let think = Interval.seconds(1)...(.seconds(4))
        #expect(
            try load("think: 1s..4s")
                == .closed(ThinkTime(think: think, start: .zero ... .seconds(4))))
        #expect(
            try load("think: 1s..4s, start: 2s")
                == .closed(ThinkTime(think: think, start: .seconds(2)...(.seconds(2)))))
    }

    @Test func `a group that nothing drives is told`() {
        #expect(
            errors("scenario: 1\nfleet:\n  a: {phones: 2}\n").map(\.message)
                == ["a group needs `arrivals` or `think`"])
        #expect(
            errors("scenario: 1\nfleet:\n  a: {phones: 2, think: 1s, spacing: poisson}\n").map(\.message)
                == ["a group cannot have both `spacing` and `think`"])
    }

    @Test func `a server is read`() throws {
        let server = try load(
            minimal + """
                server:
                  dialect: contract
                  books: 5
                  job-time: 0.5s..2m
                  ping: 250ms
                  ping-ids: on
                  token-lifetime: 90s
                  event-buffer: 5s
                  replay-ids: fresh
                  line-ends: mixed
                  rate-limit: off
                  results-lifetime: 1h
                  completed-size-max: 2KiB
                  strict-device: true
                  strict-accept: on
                  repeated-cleanup: 404
                  links: https://api.example:8443
                  retry: 750ms
                  stream-linger: 3s
                  photos-max: 2
                  photo-size-max: 1MB
                  batch-size-max: 1.5MiB
                  jobs-max: 10
                  tombstones-max: 20
                """
        ).server
        var backend = BackendConfiguration.contract
        backend.jobTime = .milliseconds(500)...(.minutes(2))
        backend.ping = .milliseconds(250)
        backend.pingIDs = true
        backend.tokenLifetime = .seconds(90)
        backend.eventBuffer = .seconds(5)
        backend.replayIDs = .fresh
        backend.lineEnds = .mixed
        backend.rateLimit = nil
        backend.resultsLifetime = .hours(1)
        backend.completedBytesMax = 2_048
        backend.strictDevice = true
        backend.strictAccept = true
        backend.repeatedCleanup = .notFound
        backend.urlForm = .absolute(base: "https://api.example:8443")
        backend.retryField = .milliseconds(750)
        backend.streamLinger = .seconds(3)
        backend.photosMax = 2
        backend.photoBytesMax = 1_000_000
        backend.batchBytesMax = 1_572_864
        backend.jobsMax = 10
        backend.tombstonesMax = 20
        #expect(server == ServerSettings(books: 5...5, backend: backend))
    }

    @Test(arguments: [
        (
            "{do: rate-limit, on: upload, quota: 1 per 4s, per: device, retry-after: 2s}",
            FaultKind.rateLimit(quota: Quota(requests: 1, window: .seconds(4)), retryAfter: .seconds(2))
        ),
        (
            "{do: rate-limit, quota: 3 per 1m}",
            .rateLimit(quota: Quota(requests: 3, window: .minutes(1)), retryAfter: nil)
        ),
        ("{do: strip-books}", .stripBooks(.absent)),
        ("{do: strip-books, as: renamed}", .stripBooks(.renamed)),
        ("{do: reset}", .reset(.betweenEvents, .reply)),
        ("{do: reset, after: 10 bytes}", .reset(.afterBytes(0), .reply)),
        ("{do: reset, cut: inside-utf8}", .reset(.insideUTF8, .reply)),
        ("{do: reset, cut: inside-line-end}", .reset(.insideLineEnd, .reply)),
        ("{do: reset, cut: after-bytes(7)}", .reset(.afterBytes(7), .reply)),
        ("{do: reset, cut: {after-bytes: 7}}", .reset(.afterBytes(7), .reply)),
        ("{do: expire-token, after: 1s}", .expireToken),
        ("{do: offline, for: 4s}", .phone(.offline)),
    ])
    func `a fault has its kind`(text: String, kind: FaultKind) throws {
        #expect(try fault(text)?.kind == kind)
    }

    @Test(arguments: [
        ("1s", FaultTrigger.afterTime(.seconds(1)...(.seconds(1)))),
        ("250ms..2s", .afterTime(.milliseconds(250)...(.seconds(2)))),
        ("1 event", .afterEvents(1...1)),
        ("1..4 events", .afterEvents(1...4)),
        ("120..500 bytes", .afterBytes(120...500)),
        ("2KiB", .afterBytes(2_048...2_048)),
    ])
    func `a fault has its trigger`(text: String, trigger: FaultTrigger) throws {
        #expect(try fault("{do: reset, after: \(text)}")?.trigger == trigger)
    }

    @Test(arguments: [
        ("1 record", FaultTrigger.afterRecords(1...1)), ("3..40 records", .afterRecords(3...40)),
        ("accepted", .afterStep(.accepted)), ("book", .afterStep(.book)),
        ("last-book", .afterStep(.lastBook)), ("completed", .afterStep(.completed)),
    ])
    func `a kill waits for records or for a step`(text: String, trigger: FaultTrigger) throws {
        let read = try #require(try fault("{do: kill, after: \(text), at: 1s..3s, for: 2s}"))
        #expect(read.trigger == trigger)
        #expect(read.window == FaultWindow(at: .seconds(1), length: .seconds(2)))
        #expect(read.spread == .seconds(2))
    }

    @Test(
        arguments: [
            (
                "kill", "acepted",
                "`after` must be a number of records, such as `3 records`, or `accepted`, `book`, `last-book` or `completed`, not `acepted`",
                "did you mean `accepted`?"
            ),
            (
                "kill", "2s", "`after` of this fault accepts `records` or `step`, not time",
                "use `at` for the start time of the fault"
            ),
            ("kill", "2 events", "`after` of this fault accepts `records` or `step`, not events", nil),
            ("kill", "3", "`after` needs a unit", "write `3 records`"),
            ("kill", "0..2 records", "the minimum is 1 record", nil),
            ("storage-full", "book", "`after` of this fault accepts `records`, not a step", nil),
            (
                "reset", "3 records",
                "`after` of this fault accepts `time`, `events` or `bytes`, not records",
                nil
            ),
            (
                "reset", "accepted", "`after` of this fault accepts `time`, `events` or `bytes`, not a step",
                nil
            ),
        ] as [(String, String, String, String?)])
    func `what a fault cannot wait for is told`(kind: String, text: String, message: String, help: String?) {
        let found = errors(minimal + "faults: [{do: \(kind), after: \(text), for: 1s}]\n")
        #expect(found.map(\.message) == [message])
        #expect(found.map(\.help) == [help])
    }

    @Test func `a fault has everything else`() throws {
        let text =
            "{do: reset, on: stream, id: mine, chance: 12.5%, at: 8s, for: 4s, count: 3, scope: 50% of phones}"
        #expect(
            try fault(text)
                == FaultSpec(
                    id: "mine", kind: .reset(.betweenEvents, .reply), target: .stream,
                    chance: Odds(perMillion: 125_000),
                    window: FaultWindow(at: .seconds(8), length: .seconds(4)), trigger: .atOnce,
                    count: .perScan(3),
                    scope: .share(.percent(50))))
        #expect(try fault("{do: reset, after: 2 events, count: each-attempt}")?.count == .eachAttempt)
        #expect(try fault("{do: reset, count: once}")?.count == .oncePerScan)
        #expect(try fault("{do: rate-limit, quota: 1 per 1s}")?.count == .eachAttempt)
        #expect(try fault("{do: reset, scope: phones}")?.scope == .group("phones"))
        #expect(try fault("{do: reset, scope: all}")?.scope == .everyone)
        #expect(try fault("{do: reset, scope: 20%}")?.scope == .share(.percent(20)))
    }

    @Test func `a fault can be tied to one attempt of one scan of one phone`() throws {
        let tied = try #require(try fault("{do: reset, scope: phone 0, scan: 2, attempt: 3}"))
        #expect(tied.scope == .phone(DeviceNumber(0)))
        #expect(tied.scan == 2 && tied.attempt == 3)
        let text = ScenarioWriter.content(tied)
        #expect(text.hasSuffix("scope: phone 0, scan: 2, attempt: 3"), "\(text)")
        #expect(!ScenarioWriter.content(try #require(try fault("{do: reset}"))).contains("scan"))
        let beyond = errors(minimal + "faults: [{do: reset, scope: phone 1000000}]\n")
        #expect(beyond.count == 1 && beyond[0].message.hasPrefix("a phone must be a number from 0 to "))
        let ofPhone = errors(minimal + "faults: [{do: offline, for: 1s, scan: 2}]\n")
        #expect(ofPhone.map(\.message) == ["unknown key `scan` in an offline fault"])
    }

    @Test func `faults without an id are counted within their kind`() throws {
        let faults = try load(
            minimal
                + "faults:\n  - {do: reset}\n  - {do: strip-books}\n  - {do: reset, id: x}\n  - {do: reset}\n"
        ).faults
        #expect(faults.map(\.id) == ["reset-1", "strip-books-1", "x", "reset-3"])
        #expect(
            errors(minimal + "faults:\n  - {do: reset, id: reset-2}\n  - {do: reset}\n").map(\.message)
                == ["two faults have the id `reset-2`"])
    }

    @Test func `objectives are read`() throws {
        let scenario = try load(
            minimal + """
                faults: [{do: reset, id: cut, after: 2 events}]
                slo:
                  sse.connect.time{group:phones}: [p(95) < 400ms, p(99) < 1s]
                  faults.cut: {expect: count >= 1, severity: warn}
                  scans.lost: {expect: count == 0, abort: on}
                  upload.time: {expect: p(95) < 2s over 30s, no-data: pass}
                  sse.event.latency: {expect: p(95) < 2s, not-judged: pass}
                """)
        #expect(scenario.slos.map(\.mayStayOpen) == [false, false, false, false, false, true])
        #expect(scenario.slos.map(\.mustBeJudged) == [true, true, false, true, true, false])
        #expect(ScenarioWriter.resolved(scenario).contains("severity: error, abort: off, not-judged: pass}"))
        #expect(scenario.slos.map(\.passesWithoutData) == [nil, nil, nil, nil, true, nil])
        #expect(
            scenario.slos.map { "\($0.selector) \($0.condition) \($0.severity.rawValue) \($0.abort)" } == [
                "sse.connect.time{group:phones} p(95) < 400ms error false",
                "sse.connect.time{group:phones} p(99) < 1s error false",
                "faults.cut count >= 1 warn false",
                "scans.lost count == 0 error true",
                "upload.time p(95) < 2s over 30s error false",
                "sse.event.latency p(95) < 2s error false",
            ])
    }

    @Test(
        arguments: [
            (
                "sse.connect.time{group:fones}: p(95) < 1s", "the fleet has no group `fones`",
                "did you mean `phones`?"
            ),
            ("faults.reste-1: count > 1", "the scenario has no fault `reste-1`", nil),
            (
                "sse.connect.time: {expect: p(95) < 1s, over: 30s}", "unknown key `over` in an objective",
                "the keys are `expect`, `severity`, `abort`, `no-data` or `not-judged`"
            ),
            (
                "sse.connect.time: {expect: p(95) < 1s, no-data: maybe}",
                "`no-data` must be `pass` or `fail`, not `maybe`", nil
            ),
            (
                "scans.lost: count == 0 over 30s", "scans.lost is available only for the whole run",
                "leave out `over 30s`"
            ),
            ("sse.connect.time: max < 1s within 5s of tunel.end", "there is no fault `tunel`", nil),
            (
                "sse.connect.time: {severity: warn}", "an objective needs `expect`",
                "for example `expect: p(95) < 400ms`"
            ),
            (
                "sse.connect.time: p(95) < 400", "a time needs a unit: ns, us, ms, s, m or h",
                "write `400s` or `400ms`"
            ),
        ] as [(String, String, String?)])
    func `an impossible objective is told`(text: String, message: String, help: String?) {
        let found = errors(minimal + "slo:\n  \(text)\n")
        #expect(found.map(\.message) == [message])
        #expect(found.map(\.help) == [help])
    }

    @Test func `an objective behind the end of a fault needs one that ends`() {
        let faults = "faults: [{do: offline, id: tunnel, at: 1s, for: 2s}, {do: reset, after: 1 events}]\n"
        func found(_ id: String) -> [String] {
            errors(minimal + faults + "slo: {sse.connect.time: max < 1s within 5s of \(id).end}\n").map {
                "\($0.message); \($0.help ?? "-")"
            }
        }
        #expect(found("tunnel") == [])
        #expect(found("tunnl") == ["there is no fault `tunnl`; did you mean `tunnel`?"])
        #expect(found("reset-1") == ["the fault `reset-1` has no end; add `for`, for example `for: 4s`"])
    }

    @Test func `an objective written twice in two ways is told`() {
        let text =
            "slo:\n  \"scans.lost{group:phones}\": count == 0\n  \"scans.lost{group: phones}\": count < 1\n"
        #expect(
            errors(minimal + text).map(\.message) == [
                "the objective `scans.lost{group:phones}` is given twice"
            ])
    }

    @Test(arguments: [
        (
            "fleet.phones.phones=1000001",
            "the number of phones must be a number from 1 to 1000000, not 1000001"
        ),
        ("fleet.phones.phones=2.5", "the number of phones must be a whole number, not `2.5`"),
        ("fleet.phones.phones=1234567890123456789", "a number of more than 18 digits"),
        ("fleet.phones.phones=", "`phones` has no value"),
        ("fleet.phones.phones=[1]", "`phones` must be a single value, not a list"),
        ("fleet.phones.arrivals=0/s", "the arrival rate is always zero"),
        ("fleet.phones.arrivals=1000000/s", "the maximum is 100000 arrivals per second"),
        ("fleet.phones.arrivals=5/d", "the units of a duration are ns, us, ms, s, m and h"),
        ("fleet.phones.arrivals=[]", "a list of stages must not be empty"),
        ("fleet.phones.arrivals={stop: first objective}", "`arrivals` as a map needs `steps`"),
        ("fleet.phones.arrivals=[{rate: 0/s, for: 10s}]", "the arrival rate is always zero"),
        ("fleet.phones.arrivals=[{rate: 5/s, for: 0s}]", "the duration of a stage must be above zero"),
        ("fleet.phones.arrivals=[{rate: 5/s}]", "a stage needs `for`"),
        ("fleet.phones.arrivals=[{rate: 5/s, over: 1s}]", "this stage needs `for` instead of `over`"),
        ("fleet.phones.arrivals=[{for: 1s}]", "a stage needs either `rate` or `ramp`"),
        (
            "fleet.phones.arrivals=[{ramp: 5/s, over: 1s}]",
            "a ramp needs two rates, such as `5/s..50/s`"
        ),
        ("fleet.phones.think=1s", "a group cannot have both `arrivals` and `think`"),
        ("fleet.phones.start=1s", "`start` requires `think`"),
        ("fleet.phones.network=[]", "an itinerary needs at least one step"),
        ("fleet.phones.network=[{at: 1s, link: lte}]", "the first step of an itinerary must begin at 0s"),
        ("fleet.phones.network=[{at: 0s}]", "a step of an itinerary needs `link`"),
        (
            "fleet.phones.network=[{at: 0s, link: lte, for: 1s}]",
            "the first step cannot have `for`: there is no earlier link to return to"
        ),
        (
            "fleet.phones.network=[{at: 0s, link: lte}, {at: 0s, link: edge}]",
            "the steps of an itinerary must be in ascending order of `at`"
        ),
        (
            "fleet.phones.network=[{at: 0s, link: lte}, {at: 1s, link: edge, for: 0s}]",
            "the duration of a step must be above zero"
        ),
        (
            "fleet.phones.network=[{at: 0s, link: lte}, {at: 1s, link: none}]",
            "a phone that stays offline cannot finish its scans"
        ),
        ("fleet.phones.network=none", "a phone that is always offline cannot finish its scans"),
        ("fleet.phones.network={up: {loss: 100%}}", "a link cannot lose every packet"),
        ("fleet.phones.network=loss-100", "a link cannot lose every packet"),
        ("fleet.phones.network=lt", "unknown link `lt`"),
        ("fleet.phones.profile=books-v4", "unknown profile `books-v4`"),
        ("fleet.phones.profile=contrakt", "unknown profile `contrakt`"),
        ("fleet.phones.quirk-3=on", "`quirk-3` is not a toggle"),
        ("fleet.phones.books-quirk-2=on", "`books-quirk-2` is not a toggle"),
        ("fleet.phones.books-quirk-9=on", "unknown toggle `books-quirk-9`"),
        ("fleet.phones.gap-15=on", "unknown toggle `gap-15`"),
        ("fleet.phones.gap5=on", "unknown toggle `gap5`"),
        ("fleet.phones.gap-5=1", "expected `on` or `off`, not `1`"),
        ("fleet.phones.resume=yes", "expected `on` or `off`, not `yes`"),
        ("fleet.phones.idle-timeout=0s", "the idle timeout must be above zero"),
        ("fleet.phones.request-timeout=0s", "the request timeout must be above zero"),
        ("fleet.phones.spacing=burst(0)", "a burst must have 1 to 1000000 arrivals"),
        ("fleet.phones.photos=[shelves, '']", "`photos` has no value"),
        (
            "fleet.phones.photos=\"a\\nb\"",
            "`photos` must be a folder or a photo, a list of them, or `{paint: 8}`, not `a?b`"
        ),
        (
            "fleet.phones.photos=/" + String(repeating: "a", count: 256),
            "a path of more than 256 characters"
        ),
        ("fleet.phones.photos=[]", "a list of photos must have 1 to 500 entries, not 0"),
        ("fleet.phones.photos=[{paint: 1}]", "`photos` must be a single value, not a map"),
        ("fleet.phones.photos={size: 100x100}", "photos needs `paint`"),
        (
            "fleet.phones.photos={paint: 0}",
            "the number of painted photos must be a number from 1 to 1000, not 0"
        ),
        (
            "fleet.phones.photos={paint: 1, size: 4032}",
            "a size must be width and height in pixels, not `4032`"
        ),
        (
            "fleet.phones.photos={paint: 1, size: 63x64}",
            "a side of a synthetic photo must have at least 64 pixels"
        ),
        (
            "fleet.phones.photos={paint: 1, size: 9999999999x9999999999}",
            "a synthetic photo can have at most 16000000 pixels"
        ),
        ("server.books=8..3", "a range must begin with its smaller value"),
        ("server.books=3..501", "the number of books must be a number from 0 to 500, not 501"),
        ("server.job-time=3s..1s", "a range must begin with its smaller value"),
        ("server.job-time=lognormal(1s, 3s)", "lognormal times are not available yet"),
        ("server.ping=0s", "the ping interval must be at least 1ms"),
        ("server.ping=999999h", "the maximum time is 87600h"),
        ("server.ping=0.0000000001s", "`0.0000000001` has too many digits"),
        ("server.rate-limit=10/20m", "a quota must be a number per time, such as `10 per 20m`"),
        ("server.dialect=bendv4", "unknown dialect `bendv4`"),
        (
            "server.photo-size-max=10mib",
            "unknown unit `mib`: the units of a size are B, kB, MB, GB, KiB, MiB and GiB"
        ),
        ("server.photo-size-max=0B", "a size must be from 1B to 1024GiB"),
        (
            "server.links=ftp://x",
            "`links` must be `relative`, `absolute` or a base URL such as `https://api.example`, without a trailing slash"
        ),
        ("duration=0s", "the duration of a run must be above zero"),
        ("drain=169h", "the maximum time is 168h"),
        (
            "name=../up",
            "a name must consist of letters, digits, `-`, `_` and `.`, and begin with a letter, digit or `_`"
        ),
        ("seed=-1", "a seed must be a whole number from 0 to 18446744073709551615"),
        ("extends=other.scenario", "`extends` cannot be overridden"),
        ("faults={do: reset}", "`faults` must be a list, not a map"),
        ("faults=[{on: stream}]", "a fault needs `do`"),
        ("faults=[{do: rate-limit}]", "a rate-limit fault needs `quota`"),
        ("faults=[{do: strip-books, on: upload}]", "a strip-books fault acts on `stream`, not on `upload`"),
        ("faults=[{do: reset, quota: 1 per 4s}]", "unknown key `quota` in a reset fault"),
        ("faults=[{do: reset, chance: 101%}]", "the maximum share is 100%"),
        ("faults=[{do: reset, chance: 0.00001%}]", "`0.00001` has too many digits"),
        ("faults=[{do: reset, after: 3}]", "`after` needs a unit"),
        (
            "faults=[{do: expire-token, after: 3 bytes}]",
            "`after` of this fault accepts `time` or `events`, not bytes"
        ),
        ("faults=[{do: reset, scope: nobody}]", "the fleet has no group `nobody`"),
        (
            "faults=[{do: reset, cut: inside}]",
            "`cut` must be `between-events`, `inside-event`, `inside-utf8`, `inside-line-end` or `after-bytes(N)`, not `inside`"
        ),
        (
            "faults=[{do: reset, count: always}]",
            "`count` must be `once`, `each-attempt` or a maximum per scan, not `always`"
        ),
        ("faults=[{do: offline, after: 1s}]", "unknown key `after` in an offline fault"),
        ("faults=[{do: offline, for: 0s}]", "the duration of a fault must be above zero"),
    ])
    func `an impossible value is told`(option: String, message: String) {
        #expect(errors(minimal, set: [option]).map(\.message) == [message])
    }
}
