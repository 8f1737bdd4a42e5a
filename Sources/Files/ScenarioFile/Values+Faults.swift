import Faults
import Plan
import SimBase

extension Values {
    // MARK: Faults

    /// The value of a key of a fault's own, by its type.
    static func fault(_ text: String, _ field: FaultField) throws(ValueError) -> FaultValue {
        let what = "`\(field.name)`"
        switch field.type {
        case .duration:
            let time = try Self.duration(text, max: ScenarioLimit.timeMax)
            return .durations(time...time)
        case .durations: return .durations(try Self.durations(text, max: ScenarioLimit.timeMax))
        case .offset:
            let isPast = text.hasPrefix("-")
            let time = try Self.duration(isPast ? String(text.dropFirst()) : text, max: ScenarioLimit.timeMax)
            let offset = isPast ? .zero - time : time
            return .durations(offset...offset)
        case .quota: return .quota(try Self.quota(text))
        case .integer(let range):
            let number = try Self.integer(text, range, what: what)
            return .integers(number...number)
        case .integers(let range): return .integers(try Self.integers(text, range, what: what))
        case .share: return .share(try Self.share(text))
        case .bitRate: return .bitRate(try Self.bitRate(text))
        case .toggle: return .toggle(try Self.boolean(text))
        case .choice(let words): return .word(try Self.choice(text, of: words, what: what))
        case .code: return .word(try Self.code(text))
        case .cut: return .cut(try Self.cut(text))
        }
    }

    private static func code(_ text: String) throws(ValueError) -> String {
        let fits = text.utf8.allSatisfy {
            (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
        }
        guard fits, !text.isEmpty, text.utf8.count <= ScenarioLimit.nameCharactersMax else {
            throw ValueError(
                "a code must consist of capital letters, digits and underscores, such as `PROVIDER_TIMEOUT`, not \(Findings.quoted(text))"
            )
        }
        return text
    }

    /// `1s`, `1s..3s`, `2 events`, `1..4 events`, `100 bytes`, `2KiB`, `3..9 records`, `accepted`.
    static func trigger(_ text: String, forms: [TriggerForm]) throws(ValueError) -> FaultTrigger {
        let trigger = try Self.anyTrigger(text, forms)
        let form: TriggerForm? =
            switch trigger {
            case .atOnce: nil
            case .afterTime: .time
            case .afterEvents: .events
            case .afterBytes: .bytes
            case .afterRecords: .records
            case .afterStep: .step
            }
        if let form, !forms.contains(form) {
            throw ValueError(
                "`after` of this fault accepts \(Self.list(forms.map(\.rawValue))), not \(form == .step ? "a step" : form.rawValue)",
                help: form == .time ? "use `at` for the start time of the fault" : nil)
        }
        return trigger
    }

    private static func anyTrigger(
        _ text: String, _ forms: [TriggerForm]
    ) throws(ValueError) -> FaultTrigger {
        if let step = ScanStep(rawValue: text) { return .afterStep(step) }
        var scanner = try ValueScanner(text)
        guard let low = try scanner.takeNumber() else {
            guard forms.contains(.step) else {
                throw ValueError(
                    "`after` must be a time or a number of events or bytes, such as `1s`, `1..4 events` or `120 bytes`"
                )
            }
            let steps = ScanStep.allCases.map(\.rawValue)
            throw ValueError(
                "`after` must be a number of records, such as `3 records`, or \(Self.list(steps)), not \(Findings.quoted(text))",
                help: Self.didYouMean(text, steps))
        }
        // `2 events` and `1..4 events`: the word is at the end, after plain whole numbers.
        var counting = scanner
        let high = counting.take("..") ? try counting.takeNumber() : low
        counting.skipSpaces()
        let word = counting.takeWord()
        if let high, ["event", "events", "byte", "bytes", "record", "records"].contains(word) {
            try counting.expectEnd()
            let limit = Int64(Int32.max)
            let range = try Self.ordered(low.times(1), high.times(1))
            guard range.upperBound <= limit else { throw ValueError("the maximum is \(limit) \(word)") }
            let whole = Int(range.lowerBound)...Int(range.upperBound)
            if word.hasPrefix("byte") { return .afterBytes(whole) }
            guard word.hasPrefix("record") else { return .afterEvents(whole) }
            guard whole.lowerBound > 0 else { throw ValueError("the minimum is 1 record") }
            return .afterRecords(whole)
        }
        if word.isEmpty {
            throw ValueError(
                "`after` needs a unit",
                help: forms.contains(.records)
                    ? "write `\(low.text) records`"
                    : "write `\(low.text)s`, `\(low.text) events` or `\(low.text) bytes`")
        }
        if text.hasSuffix("B"), let size = try? Self.bytes(text) {
            return .afterBytes(min(size, Int(Int32.max))...min(size, Int(Int32.max)))
        }
        return .afterTime(try Self.durations(text, max: ScenarioLimit.timeMax))
    }

    static func count(_ text: String) throws(ValueError) -> FaultCount {
        switch text {
        case "once": return .oncePerScan
        case "each-attempt": return .eachAttempt
        default:
            guard let count = try? Self.integer(text, 1...1_000_000, what: "a count") else {
                throw ValueError(
                    "`count` must be `once`, `each-attempt` or a maximum per scan, not \(Findings.quoted(text))",
                    help: Self.didYouMean(text, ["once", "each-attempt"]))
            }
            return count == 1 ? .oncePerScan : .perScan(count)
        }
    }

    /// `all`, `50% of phones`, `50%`, `phone 7`, or the name of a group.
    static func scope(
        _ text: String, groups: [String], devices: Int
    ) throws(ValueError) -> FaultScope {
        if text == "all" { return .everyone }
        if groups.contains(text) { return .group(text) }
        if text.hasPrefix("phone ") {
            let number = try Self.integer(
                String(text.dropFirst("phone ".count)), 0...max(0, devices - 1), what: "a phone")
            return .phone(DeviceNumber(UInt32(number)))
        }
        var scanner = try ValueScanner(text)
        if text.unicodeScalars.first.map({ ("0"..."9").contains($0) }) ?? false {
            let share = try Self.share(&scanner)
            scanner.skipSpaces()
            _ = scanner.take("of phones") || scanner.take("of devices")
            try scanner.expectEnd()
            return .share(share)
        }
        throw ValueError(
            "the fleet has no group \(Findings.quoted(text))",
            help: Self.didYouMean(text, groups + ["all"])
                ?? "use \(Self.list(groups + ["all"])), or a share such as `50% of phones`")
    }

    static func cut(_ text: String) throws(ValueError) -> Cut {
        switch text {
        case "between-events": return .betweenEvents
        case "inside-event": return .insideEvent
        case "inside-utf8": return .insideUTF8
        case "inside-line-end": return .insideLineEnd
        default:
            var scanner = try ValueScanner(text)
            if scanner.take("after-bytes("), let number = try scanner.takeNumber(), scanner.take(")") {
                try scanner.expectEnd()
                return .afterBytes(Int(try number.times(1)))
            }
            throw ValueError(
                "`cut` must be \(Self.list(FaultTable.cutWords + ["after-bytes(N)"])), not \(Findings.quoted(text))",
                help: Self.didYouMean(text, FaultTable.cutWords))
        }
    }

    // MARK: Fleet

    static func spacing(_ text: String) throws(ValueError) -> ArrivalSpacing {
        switch text {
        case "uniform": return .uniform
        case "poisson": return .poisson
        default:
            var scanner = try ValueScanner(text)
            if scanner.take("burst("), let number = try scanner.takeNumber(), scanner.take(")") {
                try scanner.expectEnd()
                guard number.decimals == 0, (1...UInt64(ScenarioLimit.devicesMax)).contains(number.mantissa)
                else {
                    throw ValueError("a burst must have 1 to \(ScenarioLimit.devicesMax) arrivals")
                }
                return .burst(Int(number.mantissa))
            }
            throw ValueError(
                "`spacing` must be `uniform`, `poisson` or `burst(n)`, not \(Findings.quoted(text))",
                help: Self.didYouMean(text, ["uniform", "poisson"]))
        }
    }

    /// The path of a folder or of a photo, or its name in `Images/`. What is there is found out where files are read.
    static func photos(_ text: String) throws(ValueError) -> String {
        guard text.unicodeScalars.count <= ValueScanner.scalarsMax else {
            throw ValueError("a path of more than \(ValueScanner.scalarsMax) characters")
        }
        let isPath =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard isPath else {
            throw ValueError(
                "`photos` must be a folder or a photo, a list of them, or `{paint: 8}`, not \(Findings.quoted(text))"
            )
        }
        return text
    }

    /// Width and height in pixels, as in `4032x3024`.
    static func photoSize(_ text: String) throws(ValueError) -> PhotoSize {
        guard let size = PhotoSize(text) else {
            throw ValueError(
                "a size must be width and height in pixels, not \(Findings.quoted(text))",
                help: "for example `4032x3024`")
        }
        if let complaint = size.complaint { throw ValueError(complaint) }
        return size
    }
}
