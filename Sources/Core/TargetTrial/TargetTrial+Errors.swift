import JSON
import SimBase
import Talaria
import Wire

// The form of a target's errors, and the waits that they ask for (Docs/contract.md sections 1.7, 1.8 and 3.1).

extension TargetTrial {
    /// Statuses that a proxy before the target gives by itself.
    private static let ofPath = [400, 403, 408, 413, 414, 429, 431, 499, 502, 503, 504]

    mutating func judgeForm(
        _ exchange: TrialExchange, _ head: TrialHead, _ node: JSONNode?, _ id: UInt64, at now: Instant
    ) {
        guard self.rules.hasProblems else { return }
        let isJSON = node?.kind == .object
        // Without a mark of the target it may be an answer of the path.
        guard isJSON || !Self.ofPath.contains(head.status) else { return }
        let request = exchange.request
        self.attempt(.errorForm, request, at: now)
        let lack =
            if let node, isJSON {
                switch request.journey.version {
                case .v2: Self.lackOfV2(node)
                case .v3: Self.lack(node, head.status)
                }
            } else { "\(head.mediaType.isEmpty ? "no type" : head.mediaType.bounded), not a JSON object" }
        guard let lack else { return }
        self.breaks(
            .errorForm, request, id, at: now,
            "\(request.operation.name) was answered with \(head.status): \(lack)")
    }

    private static func lack(_ node: JSONNode, _ status: Int) -> String? {
        if node["success"]?.flag != false { return "`success` is not false" }
        for name in ["type", "title", "code"] where node[name]?.text == nil {
            return "`\(name)` is not a string"
        }
        if node["status"]?.integer != status { return "`status` is not \(status)" }
        guard let retryable = node["retryable"]?.flag else { return "`retryable` is not a Boolean" }
        guard let code = node["code"]?.text.flatMap({ ProblemCode(rawValue: $0) }) else { return nil }
        if code.retryable != retryable { return "`retryable` of \(code.rawValue) is \(retryable)" }
        return code.fits(status) ? nil : "the code is \(code.rawValue), which belongs to a \(code.status)"
    }

    private static func lackOfV2(_ node: JSONNode) -> String? {
        if node["success"]?.flag != false { return "`success` is not false" }
        for name in ["code", "message"] where node["error"]?[name]?.text == nil {
            return "`error.\(name)` is not a string"
        }
        return nil
    }

    // MARK: Waits

    mutating func judgeWait(
        _ request: TrialRequest, _ head: TrialHead, _ node: JSONNode?, _ id: UInt64, at now: Instant
    ) {
        let body = Self.wait(in: node)
        guard head.status == 429 || head.retryAfter != nil || body != nil else { return }
        self.attempt(.wait, request, at: now)
        guard let problem = self.problem(head, body, at: now) else { return }
        self.breaks(
            .wait, request, id, at: now,
            "\(request.operation.name) was answered with \(head.status): \(problem)")
    }

    /// What an answer asks for: the body says it more exactly than the header. Nil if neither asks for a wait that makes sense.
    func wait(_ head: TrialHead, _ node: JSONNode?, at now: Instant) -> Interval? {
        let seconds = (self.rules.wallClockAtZero + now.milliseconds) / 1_000
        let wait = Self.wait(in: node) ?? head.retryAfter.flatMap { RetryAfter($0) }?.wait(at: seconds)
        return wait.flatMap { (Interval.zero...Interval.hours(24)).contains($0) ? $0 : nil }
    }

    private func problem(_ head: TrialHead, _ body: Interval?, at now: Instant) -> String? {
        let most = Interval.hours(24)
        if let body, !(Interval.zero...most).contains(body) {
            return "the body asks for a wait of \(milliseconds: body) ms"
        }
        guard let text = head.retryAfter else { return body == nil ? "no wait is given" : nil }
        guard let field = RetryAfter(text) else { return "Retry-After is “\(text.bounded)”" }
        let seconds = (self.rules.wallClockAtZero + (now - Instant.zero).nanoseconds / 1_000_000) / 1_000
        let header = field.wait(at: seconds)
        if case .date = field, head.status == 429, field.wait(at: seconds - 5) == .zero {
            return "Retry-After is in the past"
        }
        if header > most { return "Retry-After asks for \(milliseconds: header) ms" }
        guard let body else { return nil }
        let difference = header > body ? header - body : body - header
        let tolerance: Interval =
            switch field {
            case .delay: .seconds(1)
            case .date: .seconds(5)
            }
        guard difference > tolerance else { return nil }
        return "the body asks for \(milliseconds: body) ms, and Retry-After for \(milliseconds: header) ms"
    }

    /// In milliseconds in the body, whichever form that has.
    private static func wait(in node: JSONNode?) -> Interval? {
        let error = node?["error"]
        let member = node?["retryAfterMs"] ?? error?["retryAfterMs"] ?? error?["details"]?["retryAfterMs"]
        // Far above a day, and within reach of every clock.
        return member?.integer(Int64.self).map { .milliseconds(min(max($0, -1), 1 << 40)) }
    }
}

extension ProblemCode {
    /// Sources differ for two of the codes (Docs/contract.md section 1.7).
    fileprivate func fits(_ status: Int) -> Bool {
        status == self.status || self == .batchTooLarge && status == 413 || self == .timeout && status == 504
    }
}
