import SimBase
import Talaria

extension FaultKind {
    /// Creates the kind of this name from the values of its keys. Is nil if a required value is missing or does
    /// not have the type in the table.
    package init?(name: String, _ values: FaultValues) {
        guard let id = FaultTable.entry(name)?.id else { return nil }
        self.init(id, values)
    }

    /// Creates a kind from the values of its keys, as the one of its name.
    package init?(_ id: FaultKindID, _ values: FaultValues) {
        guard let kind = Self.kind(id, values) else { return nil }
        self = kind
    }

    private static func kind(_ id: FaultKindID, _ values: FaultValues) -> FaultKind? {
        switch id {
        case .rateLimit:
            values.quota.map { .rateLimit(quota: $0, retryAfter: values.duration("retry-after")) }
        case .httpError: values.integer("status").map { .httpError(self.httpFault(status: $0, values)) }
        case .stripBooks: .stripBooks(values.choice("as") ?? .absent)
        case .truncateResults: .truncateResults
        case .reorderResults: .reorderResults
        case .expireToken: .expireToken
        case .jobGone: .jobGone(status: values.word("status") == "404" ? 404 : 410)
        case .retryableError: values.word("code").map { .retryableError(code: $0) }
        case .finalError: values.word("code").map { .finalError(code: $0) }
        case .degraded: .degraded(books: values.share("books") ?? .always)
        case .slowStage: self.readSlowStage(values)
        case .unknownEvent: .unknownEvent(values.choice("event"))
        case .badJSON: .badJSON(values.choice("in") ?? .extra)
        case .noMessage: .eventShape(.noMessage)
        case .splitData: .eventShape(.splitData)
        case .latePing: values.duration("by").map { .latePing(by: $0) }
        case .noPing: .noPing
        case .twoTerminals: .twoTerminals
        case .endWithoutTerminal: .endWithoutTerminal
        case .ignoreLastEventID: .ignoreLastEventID
        case .forgetEvents: .forgetEvents
        case .socketClose: values.integer("code").map { .socketClose(code: $0) }
        case .socketFrames: .socketFrames(values.choice("as") ?? .fragmented)
        case .reset: .reset(values.cut ?? .betweenEvents, values.choice("side") ?? .reply)
        case .close: .close(values.cut ?? .betweenEvents, values.choice("side") ?? .reply)
        case .endCleanly: .endCleanly(values.cut ?? .insideEvent)
        case .silence: .silence(values.cut ?? .betweenEvents, values.choice("side") ?? .reply)
        case .slice: .slice(bytes: values.integers("bytes") ?? 1...1)
        case .delay: values.durations("by").map { .delay(by: $0) }
        case .bandwidth: values.bitRate.map { .bandwidth(bitsPerSecond: $0) }
        case .loss: values.share("share").map { .loss($0) }
        case .refuse: .refuse
        case .offline: .phone(.offline)
        case .handover: .phone(.handover)
        case .background: .phone(.background)
        case .kill: .phone(.kill)
        case .reinstall: .phone(.reinstall)
        case .clockSkew: values.duration("by").map { .phone(.clockSkew(by: $0)) }
        case .storageFull: .phone(.storageFull)
        }
    }

    private static func httpFault(status: Int, _ values: FaultValues) -> HTTPFault {
        HTTPFault(
            status: status, code: values.word("code"), retryable: values.toggle("retryable"),
            retryAfter: values.duration("retry-after"),
            retryAfterLocation: values.choice("retry-after-in") ?? .both)
    }

    private static func readSlowStage(_ values: FaultValues) -> FaultKind? {
        guard let by = values.durations("by"), let stage: ScanPhase = values.choice("stage") else {
            return nil
        }
        return .slowStage(stage, by: by)
    }

    /// The values of the keys of this kind, including defaults.
    package var values: FaultValues {
        var values = FaultValues()
        switch self {
        case .rateLimit(let quota, let retryAfter):
            values["quota"] = .quota(quota)
            values["per"] = .word("device")
            values["retry-after"] = retryAfter.map { .durations($0...$0) }
        case .httpError(let fault):
            values["status"] = .integers(fault.status...fault.status)
            values["code"] = fault.code.map { .word($0) }
            values["retryable"] = fault.retryable.map { .toggle($0) }
            values["retry-after"] = fault.retryAfter.map { .durations($0...$0) }
            values["retry-after-in"] = .word(fault.retryAfterLocation.rawValue)
        case .stripBooks(let form): values["as"] = .word(form.rawValue)
        case .jobGone(let status): values["status"] = .word(String(status))
        case .retryableError(let code), .finalError(let code): values["code"] = .word(code)
        case .degraded(let books): values["books"] = .share(books)
        case .slowStage(let stage, let by):
            values["stage"] = .word(stage.rawValue)
            values["by"] = .durations(by)
        case .unknownEvent(let event): values["event"] = event.map { .word($0.rawValue) }
        case .badJSON(let target): values["in"] = .word(target.rawValue)
        case .socketClose(let code): values["code"] = .integers(code...code)
        case .socketFrames(let shape): values["as"] = .word(shape.rawValue)
        case .latePing(let by): values["by"] = .durations(by...by)
        case .reset(let cut, let side), .close(let cut, let side), .silence(let cut, let side):
            values["cut"] = .cut(cut)
            values["side"] = .word(side.rawValue)
        case .endCleanly(let cut): values["cut"] = .cut(cut)
        case .slice(let bytes): values["bytes"] = .integers(bytes)
        case .delay(let by): values["by"] = .durations(by)
        case .bandwidth(let rate): values["rate"] = .bitRate(rate)
        case .loss(let share): values["share"] = .share(share)
        case .phone(.clockSkew(let by)): values["by"] = .durations(by...by)
        case .truncateResults, .reorderResults, .expireToken, .eventShape, .noPing, .twoTerminals,
            .endWithoutTerminal, .ignoreLastEventID, .forgetEvents, .refuse, .phone:
            break
        }
        return values
    }
}
