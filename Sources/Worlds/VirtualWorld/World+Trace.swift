import HTTPServer
import Observations
import Phone
import SimBase
import Talaria

/// One event with all its effects, as text.
package struct TracedEvent: Hashable, Sendable {
    /// The number, from 0.
    package let number: Int
    package let what: String
    package let effects: [String]
    /// The digest of everything up to its end.
    package let digest: UInt64
}

extension World {
    /// The description of the event that `step` would handle; nil at the end of the run.
    package var upcoming: String? {
        guard self.progress.isGoing else { return nil }
        var wakes = self.wakes
        let queued = self.queue.nextAt ?? .distantFuture
        let serving = self.server.nextWake ?? .distantFuture
        let waking = wakes.nextDue() ?? .distantFuture
        let next = min(queued, serving, waking)
        guard next < .distantFuture else { return nil }
        let now = max(next, self.now)
        let what: Happening? =
            if queued <= now {
                self.queue.next.map { .event($0.element) }
            } else if serving <= now {
                .serverWoke
            } else {
                wakes.popDue(at: now).map { .phoneWoke($0.key) }
            }
        return what.map { "\(now.nanoseconds) \($0)" }
    }

    mutating func trace(_ effect: PhoneEffect, of phone: Int) {
        let text: String =
            switch effect {
            case .observe(let observation), .app(.observe(let observation)): "sees \(observation.what)"
            // A token is secret: headers are not reported.
            case .app(.send(let request)): "sends \(request.method) \(request.target)"
            case .app(.transmit(let id, let bytes)): "sends \(bytes.count) bytes on request \(id.raw)"
            case .app(.abort(let id)): "cancels request \(id.raw)"
            case .app(.readSpine(let scan, _)): "reads the spine of scan \(scan.raw)"
            case .app(.preparePhoto(let scan, _)): "prepares the photo of scan \(scan.raw)"
            case .app(.releasePhoto(let scan)): "releases the photo of scan \(scan.raw)"
            case .app(.store(let change, _)): "writes \(Self.name(of: change))"
            case .use(let scan, _): "starts scan \(scan.raw)"
            case .flush: "requests a flush of its storage"
            case .flushNow: "flushes its storage"
            case .wiped: "is wiped"
            case .park: "leaves its connections unread"
            case .hangUp: "closes its unread connections"
            case .forgetProcess: "forgets its process"
            case .schedule(let disturbance, let at):
                "schedules \(Self.name(of: disturbance)) at \(at.nanoseconds)"
            case .awaitedSettled: "completes the scan that its user waited for"
            }
        self.tracedEffects.append("phone \(phone) \(text)")
    }

    mutating func trace(_ effect: ServerEffect) {
        let text: String =
            switch effect {
            case .send(let id, let bytes): "sends \(Self.text(bytes)) on connection \(id.serial)"
            case .sendApart(let id, let bytes):
                "sends \(Self.text(bytes)) separately on connection \(id.serial)"
            case .finish(let id): "finishes connection \(id.serial)"
            case .cut(let id, let ending): "cuts connection \(id.serial) by \(ending)"
            case .read(let id, let isRead): "\(isRead ? "reads" : "stops reading") connection \(id.serial)"
            case .observe(let observation): "sees \(observation.what)"
            case .upstream: "calls its upstream"
            case .served: "completes a request"
            }
        self.tracedEffects.append("server \(text)")
    }

    private static func text(_ bytes: [UInt8]) -> String {
        var digest = Digest()
        for byte in bytes { digest.absorb(byte) }
        return "\(bytes.count) bytes (\(Hexadecimal.text(digest.value, digits: 16)))"
    }

    /// The case without what it carries, which may hold a token.
    private static func name(of value: some Any) -> String {
        String("\(value)".prefix { $0 != "(" })
    }
}
