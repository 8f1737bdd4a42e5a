import SimBase
import Talaria

extension FaultKind {
    /// Creates the kind of this name with the values of its own keys; nil if a required one is missing or has
    /// another type than in the table.
    package init?(name: String, _ values: FaultValues) {
        switch FaultTable.entry(name)?.id {
        case .rateLimit:
            guard let quota = values.quota else { return nil }
            self = .rateLimit(quota: quota, retryAfter: values.duration("retry-after"))
        case .httpError:
            guard let status = values.integer("status") else { return nil }
            self = .httpError(
                HTTPFault(
                    status: status, code: values.word("code"), retryable: values.toggle("retryable"),
                    retryAfter: values.duration("retry-after"),
                    retryAfterLocation: values.choice("retry-after-in") ?? .both))
        case .stripBooks: self = .stripBooks(values.choice("as") ?? .absent)
        case .truncateResults: self = .truncateResults
        case .reorderResults: self = .reorderResults
        case .expireToken: self = .expireToken
        case .jobGone: self = .jobGone(status: values.word("status") == "404" ? 404 : 410)
        case .retryableError, .finalError:
            guard let code = values.word("code") else { return nil }
            self = name == "final-error" ? .finalError(code: code) : .retryableError(code: code)
        case .degraded: self = .degraded(books: values.share("books") ?? .always)
        case .slowStage:
            guard let by = values.durations("by"), let stage: ScanPhase = values.choice("stage") else {
                return nil
            }
            self = .slowStage(stage, by: by)
        case .unknownEvent: self = .unknownEvent(values.choice("event"))
        case .badJSON: self = .badJSON(values.choice("in") ?? .extra)
        case .noMessage: self = .eventShape(.noMessage)
        case .splitData: self = .eventShape(.splitData)
        case .latePing:
            guard let by = values.duration("by") else { return nil }
            self = .latePing(by: by)
        case .noPing: self = .noPing
        case .twoTerminals: self = .twoTerminals
        case .endWithoutTerminal: self = .endWithoutTerminal
        case .ignoreLastEventID: self = .ignoreLastEventID
        case .forgetEvents: self = .forgetEvents
        case .reset: self = .reset(values.cut ?? .betweenEvents, values.choice("side") ?? .reply)
        case .close: self = .close(values.cut ?? .betweenEvents, values.choice("side") ?? .reply)
        case .endCleanly: self = .endCleanly(values.cut ?? .insideEvent)
        case .silence: self = .silence(values.cut ?? .betweenEvents, values.choice("side") ?? .reply)
        case .slice: self = .slice(bytes: values.integers("bytes") ?? 1...1)
        case .delay:
            guard let by = values.durations("by") else { return nil }
            self = .delay(by: by)
        case .bandwidth:
            guard let rate = values.bitRate else { return nil }
            self = .bandwidth(bitsPerSecond: rate)
        case .loss:
            guard let share = values.share("share") else { return nil }
            self = .loss(share)
        case .refuse: self = .refuse
        case .offline: self = .phone(.offline)
        case .handover: self = .phone(.handover)
        case .background: self = .phone(.background)
        case .kill: self = .phone(.kill)
        case .reinstall: self = .phone(.reinstall)
        case .clockSkew:
            guard let by = values.duration("by") else { return nil }
            self = .phone(.clockSkew(by: by))
        case .storageFull: self = .phone(.storageFull)
        case nil: return nil
        }
    }

    /// The values of its own keys, every default spelled out, in the order of the table.
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
