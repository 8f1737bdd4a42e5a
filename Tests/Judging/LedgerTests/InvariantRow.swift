import Histories
import Metrics
import SimBase
import Talaria

@testable import Ledger

/// What shows of an invariant that it can be broken, that it need not be, and how far each of its excuses reaches.
struct InvariantRow: Sendable {
    /// A history that breaks it.
    let broken: Example
    /// Those that the same history breaks besides, because they say the same of it.
    var besides: [Invariant] = []
    /// A history much like it that breaks nothing.
    let kept: Example
    let excuses: [Excuse]
    /// A shipped scenario in which what the invariant speaks of happens.
    let scenario: ShippedScenario
}

/// What excuses a phone, with a history just inside of it that breaks nothing and one just outside that breaks the invariant.
struct Excuse: Sendable {
    let name: String
    let inside: Example
    let outside: Example
}

/// A history with its name, and with what its world said besides.
struct Example: Sendable {
    let name: String
    private let script: @Sendable (inout History) -> Void
    private let tokenLifetime: Interval
    private let remains: FinalWorldState
    private let finding: AuditFinding.What?
    private let silence: Silence?
    private let form: FormChange?

    /// What the link says of the scan's stream, whose last byte came so long before the last that is seen.
    struct Silence: Sendable {
        let length: Interval
        let isGivenUp: Bool
        var bytes = 0
    }

    /// Differences from the contract in the requests of the history, which the world reports.
    struct FormChange: Sendable {
        let change: @Sendable (inout RequestForm) -> Void
    }

    init(
        _ name: String, tokenLifetime: Interval = .hours(2),
        remains: FinalWorldState = .none, finding: AuditFinding.What? = nil, silence: Silence? = nil,
        form: FormChange? = nil,
        _ script: @escaping @Sendable (inout History) -> Void = { _ in }
    ) {
        self.name = name
        self.script = script
        self.tokenLifetime = tokenLifetime
        self.remains = remains
        self.finding = finding
        self.silence = silence
        self.form = form
    }

    /// What it breaks, by whoever judges `invariant`: the ledger, or the invariants of the virtual world. `earlier` is what
    /// happened to the phone before.
    func broken(judging invariant: Invariant, after earlier: History? = nil) -> [Invariant] {
        var history = History(self.script)
        if let earlier { history = history.following(earlier) }
        if Invariant.everywhere.contains(invariant) {
            return history.broken {
                $0.tokenLifetime = self.tokenLifetime
                $0.faultsThatCut = [Fault.cuts]
                $0.fleet = LedgerSettings.reading.fleet
                $0.texts = LedgerSettings.reading.texts
            }
        }
        return self.simulated(history).map(\.invariant)
    }

    private func simulated(_ history: History) -> [Verdict] {
        history.simulated(
            rules: { $0.faultsThatRound = [Fault.rounds] }, remains: self.remains,
            before: { invariants in
                if let silence = self.silence, let end = history.observations.last?.at {
                    invariants.record(
                        SilentStream(
                            device: history.device, scan: history.scan, from: end - silence.length, to: end,
                            isGivenUp: silence.isGivenUp, bytes: silence.bytes))
                }
                guard let form = self.form else { return }
                for var request in history.forms {
                    form.change(&request)
                    invariants.record(request)
                }
            },
            after: { invariants in
                guard let finding = self.finding else { return }
                invariants.record(
                    AuditFinding(device: history.device, scan: .none, at: history.now, what: finding))
            })
    }
}

extension History {
    /// What the invariants of the virtual world find broken in the history; `before` and `after` it they are given what the
    /// world itself reports.
    func simulated(
        idleTimeout: Interval = .seconds(2), isSettled: Bool = true,
        rules change: (inout SimulationInvariantSettings) -> Void = { _ in },
        ledger: (inout LedgerSettings) -> Void = { _ in }, remains: FinalWorldState = .none,
        before: (inout SimulationInvariants) -> Void = { _ in },
        after: (inout SimulationInvariants) -> Void = { _ in }
    ) -> [Verdict] {
        var settings = LedgerSettings.embedded
        settings.fleet = PhoneGroups(groups: ["all"], groupOfDevice: [0])
        settings.faultsThatGarble = [Fault.garbles]
        ledger(&settings)
        var rules = SimulationInvariantSettings(
            idleTimeout: idleTimeout, isSettled: isSettled, herdTime: .milliseconds(500))
        change(&rules)
        var invariants = SimulationInvariants(rules, ledger: settings)
        before(&invariants)
        for observation in self.observations { invariants.record(observation) }
        after(&invariants)
        invariants.finish(remains)
        return invariants.verdicts.filter { $0.violations > 0 }
    }
}

extension Invariant {
    /// Those that phones can break. What a target breaks is in no history of a phone.
    static let ofPhones = Self.allCases.filter { $0.targetRule == nil }
}

/// The indexes of the faults in the lists of the examples' scenarios.
enum Fault {
    /// An answer, or an act of the phone.
    static let answers = 0
    /// What it hits is cut: of an answer not all comes, and a stream has no link any more.
    static let cuts = 1
    /// It writes on a stream what cannot be read.
    static let garbles = 2
    /// Its answer says how long to wait in the header alone.
    static let rounds = 3
}

extension FinalWorldState {
    static let none = FinalWorldState(stuck: [], restless: [], broken: [])
}

/// What may befall a phone and be over: Docs/design.md section 11.4.
enum Accident: String, CaseIterable {
    case kill
    case background = "time in the background"
    case fault = "fired fault"
    case path = "stretch without a path"
    case unauthorized = "401"

    /// All of them, as a list in text.
    static var list: String {
        let names = Self.allCases.map(\.rawValue)
        return names.dropLast().joined(separator: ", a ") + " or a \(names.last ?? "")"
    }

    /// Another scan of the phone that the accident hits, and that is completed all the same.
    var history: History {
        History {
            $0.scan = ScanNumber(900)
            $0.job = "job-900"
            $0.launch()
            $0.capture()
            Self.upload(&$0)
            Self.open(&$0)
            $0.event(0)
            $0.event(1)
            self.befall(&$0)
        }
    }

    private func befall(_ history: inout History) {
        switch self {
        case .kill:
            history.kill(keeping: history.job, after: History.id(1))
            history.launch(restored: 1)
            history.phone(.queued(.interrupted))
            Self.resume(&history)
        case .background:
            history.phone(.suspended)
            history.phone(.queued(.suspended))
            history.clean()
            history.pass(.seconds(20))
            history.phone(.resumed)
            Self.beginAgain(&history)
        case .fault:
            history.fault(.began(fault: Fault.answers))
            history.fault(.fired(fault: Fault.cuts, .stream, attempt: 1))
            history.phone(.streamLost(job: history.job, attempt: 1, .reset, silence: nil))
            history.phone(.requestFailed(.stream, attempt: 1, .reset, took: .milliseconds(9)))
            history.fault(.ended(fault: Fault.answers))
            Self.resume(&history)
        case .path:
            history.phone(.pathLost)
            history.phone(.streamLost(job: history.job, attempt: 1, .offline, silence: nil))
            history.pass(.seconds(20))
            history.phone(.pathReturned)
            Self.resume(&history)
        case .unauthorized:
            history.backend(.tokenRevoked(job: history.job))
            history.phone(.streamLost(job: history.job, attempt: 1, .reset, silence: nil))
            history.phone(.requestFailed(.stream, attempt: 1, .reset, took: .milliseconds(9)))
            history.send(.stream, attempt: 2, job: history.job, after: History.id(1))
            history.phone(.replied(.stream, attempt: 2, status: 401, took: .milliseconds(1)))
            history.phone(.jobAbandoned(job: history.job, cause: .waiting(.tokenExpired)))
            history.phone(.queued(.tokenExpired))
            history.backend(.expired(job: history.job))
            Self.beginAgain(&history)
        }
    }

    private static func upload(_ history: inout History, attempt: UInt32 = 1) {
        history.upload(attempt: attempt)
        history.phone(.replied(.upload, attempt: attempt, status: 202, took: .milliseconds(1)))
    }

    private static func open(
        _ history: inout History, attempt: UInt32 = 1, after: String? = nil, serverAfter: Int? = nil
    ) {
        history.open(attempt: attempt, after: after, serverAfter: serverAfter)
        history.phone(.replied(.stream, attempt: attempt, status: 200, took: .milliseconds(1)))
    }

    private static func resume(_ history: inout History) {
        Self.open(&history, attempt: 2, after: History.id(1), serverAfter: 1)
        history.ending(2)
    }

    private static func beginAgain(_ history: inout History) {
        history.job = "job-901"
        Self.upload(&history, attempt: 2)
        Self.open(&history, attempt: 3)
        history.ending(0)
    }
}
