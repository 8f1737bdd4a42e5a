import SimBase

extension FaultKind {
    /// The kind of that name with the values of its own keys; nil when one that it needs is missing, or is of another
    /// type than the table says.
    package init?(name: String, _ values: FaultValues) {
        switch name {
        case "rate-limit":
            guard let quota = values.quota else { return nil }
            self = .rateLimit(quota: quota, retryAfter: values.duration("retry-after"))
        case "http-error":
            guard let status = values.integer("status") else { return nil }
            self = .httpError(
                HTTPFault(
                    status: status, code: values.word("code"), retryable: values.toggle("retryable"),
                    retryAfter: values.duration("retry-after"),
                    retryAfterLocation: values.choice("retry-after-in") ?? .both))
        case "strip-books": self = .stripBooks(values.choice("as") ?? .absent)
        case "truncate-results": self = .truncateResults
        case "expire-token": self = .expireToken
        case "job-gone": self = .jobGone(status: values.word("status") == "404" ? 404 : 410)
        case "retryable-error", "final-error":
            guard let code = values.word("code") else { return nil }
            self = name == "final-error" ? .finalError(code: code) : .retryableError(code: code)
        case "degraded": self = .degraded(books: values.share("books") ?? .always)
        case "slow-stage":
            guard let by = values.durations("by"), let stage: ScanPhase = values.choice("stage") else {
                return nil
            }
            self = .slowStage(stage, by: by)
        case "unknown-event": self = .unknownEvent
        case "bad-json": self = .badJSON(values.choice("in") ?? .extra)
        case "no-message": self = .noMessage
        case "late-ping":
            guard let by = values.duration("by") else { return nil }
            self = .latePing(by: by)
        case "no-ping": self = .noPing
        case "two-terminals": self = .twoTerminals
        case "end-without-terminal": self = .endWithoutTerminal
        case "ignore-last-event-id": self = .ignoreLastEventID
        case "forget-events": self = .forgetEvents
        case "reset": self = .reset(values.cut ?? .betweenEvents, values.choice("side") ?? .reply)
        case "close": self = .close(values.cut ?? .betweenEvents, values.choice("side") ?? .reply)
        case "end-cleanly": self = .endCleanly(values.cut ?? .insideEvent)
        case "silence": self = .silence(values.cut ?? .betweenEvents, values.choice("side") ?? .reply)
        case "slice": self = .slice(bytes: values.integers("bytes") ?? 1...1)
        case "delay":
            guard let by = values.durations("by") else { return nil }
            self = .delay(by: by)
        case "bandwidth":
            guard let rate = values.bitRate else { return nil }
            self = .bandwidth(bitsPerSecond: rate)
        case "loss":
            guard let share = values.share("share") else { return nil }
            self = .loss(share)
        case "refuse": self = .refuse
        case "offline": self = .phone(.offline)
        case "handover": self = .phone(.handover)
        case "background": self = .phone(.background)
        case "kill": self = .phone(.kill)
        case "reinstall": self = .phone(.reinstall)
        case "clock-skew":
            guard let by = values.duration("by") else { return nil }
            self = .phone(.clockSkew(by: by))
        case "storage-full": self = .phone(.storageFull)
        default: return nil
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
        case .truncateResults, .expireToken, .unknownEvent, .noMessage, .noPing, .twoTerminals,
            .endWithoutTerminal, .ignoreLastEventID, .forgetEvents, .refuse, .phone:
            break
        }
        return values
    }
}
