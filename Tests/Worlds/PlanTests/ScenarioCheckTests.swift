import Faults
import Phone
import Plan
import RunControl
import SimBase
import Talaria
import Testing

struct ScenarioCheckTests {
    private func subjects(_ faults: FaultSpec...) -> [ScenarioFinding.Subject] {
        ScenarioCheck.findings(scenario(faults: faults)).map(\.subject)
    }

    @Test func `a sound scenario has no findings`() {
        #expect(
            subjects(
                fault(.reset(.insideEvent, .reply), chance: .percent(35), trigger: .afterEvents(1...4)),
                fault(.expireToken, chance: .percent(10), trigger: .afterTime(.seconds(1)...(.seconds(1)))),
                fault(.stripBooks(.absent), count: .eachAttempt),
                fault(
                    .rateLimit(quota: Quota(requests: 1, window: .seconds(4)), retryAfter: nil), on: .upload,
                    count: .eachAttempt),
                fault(.phone(.offline), on: .link, window: FaultWindow(at: .seconds(8), length: .seconds(4))))
                == [])
    }

    @Test(arguments: [true, false])
    func `what is wrong with faults is added to what is wrong with the fleet`(isSound: Bool) {
        var bare = scenario(faults: [])
        if !isSound { bare.server.backend.rateLimit = Quota(requests: 0, window: .seconds(1)) }
        var faulty = bare
        faulty.faults = [fault(.phone(.offline), on: .link), fault(.expireToken, chance: .percent(10))]
        #expect(ScenarioCheck.findings(bare).isEmpty == isSound)
        #expect(ScenarioCheck.faultFindings(faulty).map(\.subject) == [.fault(0, key: "do")])
        #expect(
            ScenarioCheck.findings(faulty)
                == ScenarioCheck.findings(bare) + ScenarioCheck.faultFindings(faulty))
    }

    @Test func `two transports are compared where phones have both, and no rollout chooses`() {
        var shelves = scenario(faults: [])
        shelves.transports = [.websocket, .sse]
        #expect(ScenarioCheck.findings(shelves).map(\.subject) == [.group(0, key: "journey")])
        for index in shelves.groups.indices { shelves.groups[index].profile.journey = .bookshelfScan }
        #expect(ScenarioCheck.findings(shelves).isEmpty)
        shelves.rollout = RolloutPlan()
        #expect(ScenarioCheck.findings(shelves).map(\.subject) == [.scenario])
    }

    @Test func `being offline for ever lets no scan through`() {
        #expect(subjects(fault(.phone(.offline), on: .link)) == [.fault(0, key: "do")])
        #expect(subjects(fault(.phone(.offline), on: .link, chance: .never)) == [])
    }

    @Test func `a reset of every attempt before any event lets no scan through`() {
        for cut in [Cut.betweenEvents, .insideEvent, .afterBytes(10)] {
            for trigger in [
                FaultTrigger.atOnce, .afterEvents(0...0), .afterBytes(0...20), .afterTime(.zero ... .zero),
            ] {
                let doomed = fault(
                    .reset(cut, .reply), chance: .percent(20), trigger: trigger, count: .eachAttempt)
                #expect(subjects(doomed) == [.fault(0, key: "count")], "\(cut) \(trigger)")
                var once = doomed
                once.count = .oncePerScan
                #expect(subjects(once) == [], "once per scan can be survived")
                var over = doomed
                over.window = FaultWindow(at: .zero, length: .seconds(5))
                #expect(subjects(over) == [], "a fault that ends can be waited out")
            }
        }
        #expect(
            subjects(fault(.reset(.insideEvent, .reply), trigger: .afterEvents(0...1), count: .eachAttempt))
                == [])
        #expect(subjects(fault(.reset(.insideUTF8, .reply), count: .eachAttempt)) == [])
        #expect(subjects(fault(.reset(.afterBytes(500), .reply), count: .eachAttempt)) == [])
    }

    @Test func `a token that is gone at once on every stream lets no scan through`() {
        #expect(subjects(fault(.expireToken, count: .eachAttempt)) == [.fault(0, key: "count")])
        #expect(subjects(fault(.expireToken)) == [])
    }

    @Test func `a quota of nothing lets no scan through`() {
        let quota = FaultKind.rateLimit(quota: Quota(requests: 0, window: .seconds(4)), retryAfter: nil)
        #expect(subjects(fault(quota, on: .upload, count: .eachAttempt)) == [.fault(0, key: "quota")])
        var limited = scenario()
        limited.server.backend.rateLimit = Quota(requests: 0, window: .seconds(4))
        #expect(ScenarioCheck.findings(limited).map(\.subject) == [.server(key: "rate-limit")])
    }

    @Test func `a fault that wakes when all is over is a mistake`() {
        // 120 scans at 6 a second are over after 20 s, and drained after 50 s.
        let late = FaultWindow(at: .seconds(50), length: .seconds(4))
        #expect(subjects(fault(.phone(.offline), on: .link, window: late)) == [.fault(0, key: "at")])
        let inTime = FaultWindow(at: .seconds(49), length: .seconds(4))
        #expect(subjects(fault(.phone(.offline), on: .link, window: inTime)) == [])
        let short = scenario(
            faults: [fault(.phone(.offline), on: .link, window: inTime)], duration: .seconds(5))
        #expect(ScenarioCheck.findings(short).map(\.subject) == [.fault(0, key: "at")])
    }

    @Test func `an impossible backend is told`() {
        var impossible = scenario()
        impossible.server.backend.ping = .zero
        #expect(
            ScenarioCheck.findings(impossible).map(\.message)
                == ["invalid backend: the ping interval must be at least 1ms"])
    }

    @Test func `sizes beyond every machine are told, without counting them out`() {
        let huge = scenario([
            group(devices: 1_000_001, scans: 1_000_000, arrivals: ArrivalRate(arrivals: 1, per: .hours(1)))
        ])
        #expect(
            ScenarioCheck.findings(huge).map(\.subject) == [.scenario, .group(0, key: "arrivals"), .scenario])
        let largest = scenario([group(devices: .max, scans: .max)])
        #expect(!ScenarioCheck.findings(largest).isEmpty)
    }

    // MARK: Warnings

    private func warned(
        _ faults: FaultSpec..., groups: [FleetGroup] = [group()], for purpose: ScenarioCheck.Purpose = .run
    ) -> [ScenarioFinding.Subject] {
        let scenario = scenario(groups, faults: faults)
        if purpose == .run { #expect(ScenarioCheck.findings(scenario).isEmpty, "a warning and no error") }
        return ScenarioCheck.warnings(scenario, for: purpose).map(\.subject)
    }

    private func error(_ status: Int, retryAfter: Interval? = nil) -> FaultKind {
        .httpError(
            HTTPFault(
                status: status, code: nil, retryable: nil, retryAfter: retryAfter, retryAfterLocation: .both))
    }

    @Test func `firings are counted against the uploads that a scan has`() {
        #expect(warned(fault(.expireToken, count: .perScan(5))) == [.fault(0, key: "count")])
        #expect(warned(fault(.expireToken, count: .perScan(3))) == [])
        #expect(warned(fault(.jobGone(status: 410), count: .perScan(50))) == [.fault(0, key: "count")])
        #expect(warned(fault(error(403), on: .results, count: .perScan(4))) == [.fault(0, key: "count")])
        let slow = FaultTrigger.afterTime(.hours(1)...(.hours(1)))
        #expect(
            warned(fault(.expireToken, trigger: slow, count: .perScan(5))) == [], "the job is over before")
        #expect(warned(fault(.expireToken, chance: .never, count: .perScan(5))) == [])
    }

    private func canceling(
        _ faults: [FaultSpec] = [], journey: Journey = .scan, _ change: (inout CancelPolicy) -> Void
    ) -> [ScenarioFinding.Subject] {
        var group = group()
        group.profile.journey = journey
        change(&group.profile.cancel)
        return ScenarioCheck.warnings(scenario([group], faults: faults)).map(\.subject)
    }

    @Test func `a cancel that comes too late, or always, is warned of`() {
        let late = Interval.hours(1)...(.hours(2))
        #expect(
            canceling {
                $0.chance = .percent(10)
                $0.after = late
            } == [.group(0, key: "cancel")])
        #expect(
            canceling {
                $0.chance = .always
                $0.after = .milliseconds(1)...(.milliseconds(2))
            } == [.group(0, key: "cancel")])
        #expect(canceling { $0.chance = .percent(10) } == [])
        #expect(canceling { $0.after = late } == [], "nobody cancels")
        #expect(
            canceling(journey: .bookEnrichment) { $0.chance = .percent(10) } == [.group(0, key: "cancel")])
        #expect(canceling(journey: .bookEnrichment) { $0.after = late } == [])
    }

    @Test func `a fault on the DELETE of v2 meets users who cancel`() {
        let faults = [fault(error(503), on: .cleanup)]
        #expect(canceling(faults, journey: .bookshelfScan) { $0.chance = .never } == [.fault(0, key: "on")])
        #expect(canceling(faults, journey: .bookshelfScan) { $0.chance = .percent(10) } == [])
    }

    private func books(_ journey: Journey, _ settings: [ToggleSetting] = []) -> FleetGroup {
        var group = group()
        group.profile = NamedProfile.books.profile(with: settings)
        group.profile.journey = journey
        group.toggles = settings
        return group
    }

    @Test func `a client of v2 has no scans of v3`() {
        for journey in Journey.allCases {
            let expected: [ScenarioFinding.Subject] =
                journey.version == .v3 ? [.group(0, key: "journey")] : []
            #expect(ScenarioCheck.findings(scenario([books(journey)])).map(\.subject) == expected)
        }
        #expect(NamedProfile.books.profile().journey == .bookshelfScan)
    }

    @Test func `a client that knows dotted names only understands no event of this server`() {
        let toggle = ProfileToggle.dottedNames
        func warned(_ group: FleetGroup) -> [ScenarioFinding.Subject] {
            ScenarioCheck.warnings(scenario([group])).map(\.subject)
        }
        #expect(warned(books(.bookshelfScan)) == [.group(0, key: "profile")])
        let on = books(.bookshelfScan, [ToggleSetting(toggle, isOn: true)])
        #expect(warned(on) == [.group(0, key: toggle.key)])
        #expect(warned(books(.bookshelfScan, [ToggleSetting(toggle, isOn: false)])) == [])
        var polling = books(.bookshelfScan)
        polling.profile.status.polling = .always
        #expect(warned(polling) == [], "it opens no stream")
    }

    private func polling(
        _ faults: [FaultSpec] = [], _ change: (inout StatusPolicy) -> Void = { _ in }
    ) -> [ScenarioFinding.Subject] {
        var group = group()
        group.profile.status.polling = .always
        change(&group.profile.status)
        return ScenarioCheck.warnings(scenario([group], faults: faults)).map(\.subject)
    }

    @Test func `a fault on the status needs a phone that requests it`() {
        #expect(warned(fault(error(503), on: .status)) == [.fault(0, key: "on")])
        #expect(polling([fault(error(503), on: .status)]) == [])
        #expect(polling([fault(.expireToken, count: .perScan(5))]) == [], "no stream is opened")
    }

    @Test func `a fault on the cleanup needs a phone that deletes completed jobs`() {
        let failing = fault(error(503), on: .cleanup)
        #expect(warned(failing) == [])
        var (shelves, silent) = (group("shelves"), group("silent"))
        shelves.profile.journey = .bookshelfScan
        silent.profile.cleanup.isMade = false
        for kept in [shelves, silent] {
            #expect(warned(failing, groups: [kept]) == [.fault(0, key: "on")])
            #expect(plan(scenario([kept], faults: [failing])).expectedFirings == [0])
        }
        #expect(warned(failing, groups: [group(), shelves, silent]) == [], "one group deletes")
        var elsewhere = failing
        elsewhere.scope = .group("shelves")
        let found = ScenarioCheck.warnings(scenario([group(), shelves], faults: [elsewhere]))
        #expect(found.map(\.subject) == [.fault(0, key: "on")])
        #expect(found.allSatisfy { $0.message.contains("delete only jobs that they give up") })
    }

    @Test func `the interval and the budget of status requests fit the backend`() {
        #expect(polling() == [])
        #expect(polling { $0.interval = .milliseconds(1_999) } == [.group(0, key: "status-interval")])
        #expect(polling { $0.requestsMax = 7 } == [.group(0, key: "status-requests-max")])
        #expect(polling { $0.requestsMax = 8 } == [])
    }

    @Test func `firings on the status are counted against the failures in a row`() {
        #expect(polling([fault(error(503), on: .status, count: .perScan(5))]) == [.fault(0, key: "count")])
        #expect(polling([fault(error(503), on: .status, count: .perScan(4))]) == [])
        #expect(polling([fault(error(401), on: .status, count: .perScan(4))]) == [.fault(0, key: "count")])
    }

    @Test func `a scan has no more photos than the backend takes`() {
        var group = group()
        group.profile.upload.photos = 2...4
        var limited = scenario([group])
        #expect(ScenarioCheck.findings(limited) == [])
        limited.server.backend.photosMax = 3
        #expect(ScenarioCheck.findings(limited).map(\.subject) == [.group(0, key: "photos-per-scan")])
        #expect(ScenarioCheck.findings(limited, for: .serve) == [])
    }

    @Test func `what a batch would do with photos has no effect`() {
        var batches = group("batches")
        batches.photos = .standard
        batches.profile.journey = .batchEnrichment
        #expect(warned(groups: [batches]) == [])
        batches.photos = .painted(3, size: nil)
        batches.preprocess = .each
        batches.profile.upload.photos = 2...9
        batches.profile.upload.regions = 2...2
        #expect(
            warned(groups: [group(), batches])
                == ["photos", "preprocess", "photos-per-scan", "regions"].map { .group(1, key: $0) })
        batches.profile.journey = .bookshelfScan
        batches.profile.upload.photos = 2...3
        #expect(warned(groups: [batches]) == [])
    }

    @Test(arguments: [
        (0...12, false), (1...101, false), (200...200, false), (1...100, true), (100...100, true),
    ])
    func `a batch has as many books as the backend takes`(books: ClosedRange<Int>, isSound: Bool) {
        var batches = group("batches")
        batches.profile.journey = .batchEnrichment
        var mixed = scenario([group("scanners"), batches])
        mixed.server.books = books
        #expect(ScenarioCheck.findings(mixed).map(\.subject) == (isSound ? [] : [.server(key: "books")]))
        #expect(ScenarioCheck.findings(mixed, for: .serve) == [])
        var scans = mixed
        scans.groups[1].profile.journey = .bookshelfScan
        #expect(ScenarioCheck.findings(scans) == [], "a shelf may be empty, or full")
    }

    @Test func `a token on the status expires at once`() {
        let late = FaultTrigger.afterTime(.seconds(1)...(.seconds(1)))
        #expect(subjects(fault(.expireToken, on: .status, trigger: late)) == [.fault(0, key: "after")])
        #expect(subjects(fault(.expireToken, on: .status)) == [])
    }

    @Test func `firings of several faults add up, where a scan may meet all of them`() {
        let two = fault(.expireToken, count: .perScan(2))
        let three = fault(.jobGone(status: 404), count: .perScan(2))
        #expect(warned(two) == [] && warned(three) == [])
        #expect(warned(two, three) == [.fault(0, key: "count")])
        var (here, there) = (two, three)
        (here.scope, there.scope) = (.group("a"), .group("b"))
        #expect(warned(here, there, groups: [group("a"), group("b")]) == [])
        var over = three
        over.window = FaultWindow(at: .zero, length: .seconds(5))
        #expect(warned(two, over) == [], "a fault that ends can be waited out")
    }

    @Test func `a fault of one phone, scan or attempt may block it on purpose`() {
        let endless = fault(error(503), on: .upload, count: .eachAttempt)
        #expect(subjects(endless) == [.fault(0, key: "count")])
        var (phone, scan, attempt) = (endless, endless, endless)
        phone.scope = .phone(DeviceNumber(3))
        scan.scan = 2
        attempt.attempt = 1
        for tied in [phone, scan, attempt] { #expect(subjects(tied) == [] && warned(tied) == []) }
        var twice = fault(.retryableError(code: "X"), count: .perScan(2))
        twice.scan = 1
        #expect(warned(twice) == [])
    }

    @Test func `a retryable error has one retry, and one more for each return`() {
        let twice = fault(.retryableError(code: "X"), count: .perScan(2))
        #expect(warned(twice) == [.fault(0, key: "count")])
        let away = fault(
            .phone(.background), on: .app, window: FaultWindow(at: .seconds(8), length: .seconds(4)))
        #expect(warned(twice, away) == [])
        #expect(warned(fault(.retryableError(code: "X"))) == [])
        #expect(
            warned(fault(.truncateResults, on: .results, count: .perScan(3))) == [.fault(0, key: "count")])
    }

    @Test func `failures that are waited out one after the other must fit into the run`() {
        // 120 scans at 6 a second, drained after 50 s.
        #expect(
            warned(fault(error(503), on: .upload, count: .perScan(1_000_000))) == [.fault(0, key: "count")])
        #expect(warned(fault(error(503), on: .upload, count: .perScan(.max))) == [.fault(0, key: "count")])
        #expect(warned(fault(error(503), on: .upload, count: .perScan(3))) == [])
        #expect(
            warned(fault(error(429, retryAfter: .seconds(20)), on: .upload, count: .perScan(3)))
                == [.fault(0, key: "count")])
        let half = fault(error(503, retryAfter: .seconds(30)), on: .upload)
        #expect(warned(half) == [])
        #expect(
            warned(half, fault(error(500, retryAfter: .seconds(25)), on: .results)) == [
                .fault(0, key: "count")
            ])
        #expect(warned(fault(.refuse, on: .upload, count: .perScan(30))) == [.fault(0, key: "count")])
    }

    @Test func `a fault that outlasts the run is one without an end`() {
        let long = FaultWindow(at: .zero, length: .hours(1))
        #expect(
            warned(fault(error(503), on: .upload, window: long, count: .eachAttempt)) == [
                .fault(0, key: "for")
            ])
        #expect(warned(fault(.phone(.offline), on: .link, window: long)) == [.fault(0, key: "for")])
        #expect(warned(fault(.stripBooks(.absent), window: long, count: .eachAttempt)) == [])
    }

    @Test func `a server may be as bad as it likes, and says so`() {
        let dead = fault(error(503), on: .upload, chance: .percent(99), count: .eachAttempt)
        #expect(subjects(dead) == [.fault(0, key: "count")])
        #expect(ScenarioCheck.findings(scenario(faults: [dead]), for: .serve) == [])
        #expect(warned(dead, for: .serve) == [.fault(0, key: "count")])
    }

    @Test func `a fault on a job needs a phone whose uploads become one`() {
        var lookUps = group("look-ups")
        lookUps.profile.journey = .bookEnrichment
        for fault in [
            fault(.expireToken), fault(error(503), on: .results), fault(error(503), on: .status),
            fault(error(503), on: .cleanup), fault(.noPing), fault(.stripBooks(.absent)),
        ] {
            let found = ScenarioCheck.warnings(scenario([lookUps], faults: [fault]))
            #expect(found.map(\.subject) == [.fault(0, key: "on")], "\(fault.kind.name)")
            #expect(found.allSatisfy { $0.message.contains("`book-enrichment` is answered at once") })
            #expect(plan(scenario([lookUps], faults: [fault])).expectedFirings == [0])
            #expect(
                !ScenarioCheck.warnings(scenario([group(), lookUps], faults: [fault])).contains(found[0]))
        }
        let upload = fault(error(503), on: .upload)
        #expect(ScenarioCheck.warnings(scenario([lookUps], faults: [upload])) == [])
        #expect(plan(scenario([lookUps], faults: [upload])).expectedFirings != [0])
    }

    @Test func `the shelf knows what each group asks for`() {
        var (barcodes, lookUps, files) = (group("barcodes"), group("look-ups"), group("files"))
        barcodes.profile.journey = .batchEnrichment
        barcodes.batchForm = .barcodes
        lookUps.profile.journey = .bookEnrichment
        files.profile.journey = .csvImport
        let groups = [group(), barcodes, lookUps, files]
        let plan = plan(scenario(groups, faults: []))
        let stocks = plan.groups.map { plan.shelf.stock(of: $0.first) }
        #expect(stocks == [.books, .barcodes, .oneBarcode, .none])
    }
}
