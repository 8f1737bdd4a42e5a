import Metrics
import Observations
import SimBase
import Talaria

/// What the checks of all phones of the virtual world share: the settings, the findings, and what only the fleet shows.
struct FleetChecks: Sendable {
    let settings: SimulationInvariantSettings
    let ledger: LedgerSettings
    var findings: LedgerFindings
    var herds: ThunderingHerdDetector
    /// The last phone that came back to something.
    var lastBack: DeviceNumber?
    var waits: BackoffWaits
    /// The phone of every device id, past and present.
    var owners: [String: DeviceNumber] = [:]
    /// Requests that were given up at the time of the last one.
    private var givenUp: [RequestGivenUp] = []
    /// Jobs that were accepted and have not ended, by their ids.
    var alive = SlotMap<String, (device: DeviceNumber, scan: ScanNumber)>()
    /// A storage was full: what a phone does next answers a capture.
    var awaitsAnswers = false

    init(_ settings: SimulationInvariantSettings, ledger: LedgerSettings) {
        self.settings = settings
        self.ledger = ledger
        self.findings = LedgerFindings(settings: ledger)
        self.herds = ThunderingHerdDetector(time: settings.herdTime, slots: ledger.slotsMax)
        if settings.isShard { self.herds.keepRecord() }
        self.waits = BackoffWaits(isShard: settings.isShard)
    }

    /// Returns the value of a phone's group; the general one where the groups have none.
    func value<Value>(of device: DeviceNumber, in groups: [Value], otherwise general: Value) -> Value {
        self.ledger.fleet.value(of: device, in: groups) ?? general
    }

    mutating func violate(_ invariant: Invariant, _ seen: Observation, _ text: String) {
        self.findings.violate(invariant, device: seen.device, scan: seen.scan, at: seen.at, text)
    }

    mutating func gaveUp(_ request: RequestGivenUp) { self.givenUp.append(request) }

    mutating func forgetRequests(before moment: Instant) {
        guard let first = self.givenUp.first, first.at < moment else { return }
        self.givenUp.removeAll { $0.at < moment }
    }

    /// The link's view of a request that ends with this observation.
    func givenUp(_ operation: Operation, _ attempt: UInt32, _ seen: Observation) -> RequestGivenUp? {
        self.givenUp.last {
            $0.device == seen.device && $0.at == seen.at && $0.scan == seen.scan && $0.operation == operation
                && $0.attempt == attempt
        }
    }

    // MARK: herd.bounded

    mutating func pathReturned(at moment: Instant) {
        self.report(self.herds.pathReturned(at: moment), moment)
    }

    /// A phone requests something for the first time since its path returned.
    mutating func cameBack(_ seen: Observation) {
        self.report(self.herds.asked(at: seen.at, by: seen.device), seen.at)
        self.lastBack = seen.device
    }

    /// Ends what is judged over the fleet.
    mutating func end(at moment: Instant) {
        for (invariant, text, device) in self.waits.end() {
            self.findings.violate(invariant, device: device, scan: .none, at: moment, text)
        }
        self.report(self.herds.end(), moment)
    }

    /// A herd is reported when its window is over, of the last phone in it.
    private mutating func report(_ herd: ThunderingHerdDetector.Herd?, _ moment: Instant) {
        guard let herd else { return }
        self.findings.violate(
            .herdBounded, device: self.lastBack, scan: .none, at: moment, herd.text(self.settings))
    }
}
