package import CurlLoop
import EventLoop
package import Gateway
import HTTPClient
import HTTPServer
import OriginServer
package import SimBase
import Talaria
import Wire

/// The upstream of a fault gateway.
package struct UpstreamConfiguration: Sendable {
    /// Scheme, host, port and base path, without a slash at the end.
    package var base: String
    package var target: CurlTarget
    /// Sent with every request, instead of the phone's field of the same name.
    package var headers: [HeaderField]
    package var gateway: GatewayConfiguration
    /// Phones' connections; each has connections to the upstream of its own.
    package var connectionsMax: Int

    package init(
        base: String, target: CurlTarget, headers: [HeaderField], gateway: GatewayConfiguration,
        connectionsMax: Int
    ) {
        self.base = base
        self.target = target
        self.headers = headers
        self.gateway = gateway
        self.connectionsMax = connectionsMax
    }
}

/// The way from the gateway to its upstream, by libcurl, and for WebSockets by the client of the program. A phone's connection has
/// connections to the upstream of its own: what one phone does to its connection is felt by no other.
final class Upstream: TransferDelegate {
    private struct Exchange {
        let id: ExchangeID
        /// Answers are kept back until the request has come to its end, as far as that can be waited for.
        var isHeld = false
        /// Answered with a refusal: libcurl sends no more of the request.
        var isRefused = false
        /// A handshake of WebSocket. It has no body.
        let isUpgrade: Bool
        var isReleased: Bool
        let isWorthDraining: Bool
        var kept: [UpstreamEvent] = []
        var isPaused = false
    }

    private let setup: UpstreamConfiguration
    private let pool: CurlPool
    /// Its exchanges have other ids than those of `pool`.
    private let sockets: ClientPool
    private let probes: ProbePool
    private let report: (UpstreamEvent) -> Void
    private var transfers: [ExchangeID: TransferID] = [:]
    private var exchanges: [TransferID: Exchange] = [:]

    init(_ setup: UpstreamConfiguration, loop: Loop, report: @escaping (UpstreamEvent) -> Void) {
        self.setup = setup
        self.report = report
        self.pool = CurlPool(loop: loop, target: setup.target, phones: setup.connectionsMax)
        self.probes = ProbePool(loop: loop, base: setup.base, target: setup.target, headers: setup.headers) {
            report(Self.event($0))
        }
        self.sockets = ClientPool(
            loop: loop, target: setup.target, phones: setup.connectionsMax, client: .own)
        self.pool.delegate = self
        self.sockets.delegate = self
    }

    // MARK: Commands

    func carryOut(_ effect: UpstreamEffect) {
        switch effect {
        case .forward(let id, let request): self.forward(id, request)
        case .feed(let id, let bytes):
            guard let transfer = self.transfers[id], self.exchanges[transfer]?.isRefused == false else {
                self.report(.bodyLeft(id, 0))  // The rest of the body is not read.
                return
            }
            if self.exchanges[transfer]?.isUpgrade == true {
                self.report(.bodyLeft(id, self.sockets.transmit(bytes, on: transfer)))
            } else {
                self.pool.feed(transfer, bytes)
            }
        case .endBody(let id):
            if let transfer = self.transfers[id], self.exchanges[transfer]?.isUpgrade == false {
                self.pool.endBody(transfer)
            }
            self.complete(id)
        case .setPaused(let id, let isPaused): self.setPaused(id, isPaused)
        case .release(let id): self.cancel(id)
        case .hangUp(let slot):
            self.pool.hangUp(phone: Int(slot), by: .fin)
            self.sockets.hangUp(phone: Int(slot), by: .fin)
        case .probe(let order): self.probes.follow(order)
        case .failed: break
        }
    }

    private static func event(_ report: ProbeReport) -> UpstreamEvent {
        let id = ExchangeID(report.id)
        switch report.what {
        case .replied(let head): return .replied(id, self.head(head))
        case .received(let bytes): return .received(id, bytes)
        case .ended(let isWhole): return .ended(id, isWhole ? nil : .transport(.closedEarly))
        }
    }

    /// Sends pending requests to the upstream now, not in the loop's next turn.
    func flushPending() { self.pool.flushPending() }

    private func forward(_ id: ExchangeID, _ request: ForwardedRequest) {
        let head = request.head
        let body: TransferRequest.Body =
            switch head.body {
            case .none: .none
            case .length(let length): .streamed(length: length)
            case .chunked: .streamed(length: nil)
            }
        guard let method = TransferRequest.Method(rawValue: head.method) else {
            self.report(.ended(id, .notForwarded))
            return
        }
        let isUpgrade = Self.isUpgrade(head)
        let isStream = head.headers["Accept"]?.contains("text/event-stream") ?? false
        let forwarded = TransferRequest(
            phone: Int(request.slot), method: method, url: self.setup.base + Self.target(head),
            headers: self.headers(head, request.resume, isUpgrade: isUpgrade), body: body,
            receiveBuffer: isStream || isUpgrade ? .stream : .reply)
        let transfer = isUpgrade ? self.sockets.start(forwarded) : self.pool.start(forwarded)
        self.transfers[id] = transfer
        self.exchanges[transfer] = Exchange(
            id: id, isUpgrade: isUpgrade, isReleased: request.isComplete,
            isWorthDraining: request.isWorthDraining)
    }

    /// Whether a request asks to go on as WebSocket (RFC 6455 section 4.1). What it lacks is the upstream's to refuse.
    private static func isUpgrade(_ head: RequestHead) -> Bool {
        head.version == .http11 && head.method == "GET" && head.body == .none
            && head.headers.list("Connection", contains: "Upgrade")
            && head.headers.list("Upgrade", contains: "websocket")
    }

    /// The request is complete: what the upstream has answered so far may be reported.
    private func complete(_ id: ExchangeID) {
        guard let transfer = self.transfers[id], let exchange = self.exchanges[transfer] else { return }
        self.exchanges[transfer]?.isReleased = true
        guard exchange.isHeld else { return }
        self.exchanges[transfer]?.isHeld = false
        self.exchanges[transfer]?.kept = []
        for event in exchange.kept {
            if case .ended = event { self.forget(transfer) }
            self.report(event)
        }
        self.applyPause(transfer)
    }

    private func setPaused(_ id: ExchangeID, _ isPaused: Bool) {
        guard let transfer = self.transfers[id] else { return }
        self.exchanges[transfer]?.isPaused = isPaused
        self.applyPause(transfer)
    }

    private func applyPause(_ transfer: TransferID) {
        guard let exchange = self.exchanges[transfer] else { return }
        if exchange.isUpgrade {
            self.sockets.setPaused(transfer, exchange.isPaused)
        } else if exchange.isPaused || exchange.isHeld {
            self.pool.pause(transfer)
        } else {
            self.pool.resume(transfer)
        }
    }

    private func cancel(_ id: ExchangeID) {
        guard let transfer = self.transfers[id] else { return }
        self.drop(transfer)
    }

    private func drop(_ transfer: TransferID) {
        if self.exchanges[transfer]?.isUpgrade == true {
            self.sockets.cancel(transfer)
        } else {
            self.pool.cancel(transfer)
        }
        self.forget(transfer)
    }

    private func forget(_ transfer: TransferID) {
        guard let exchange = self.exchanges.removeValue(forKey: transfer) else { return }
        self.transfers[exchange.id] = nil
    }

    // MARK: Requests

    /// Path and query as they came.
    private static func target(_ head: RequestHead) -> String {
        head.path + (head.query.map { "?\($0)" } ?? "")
    }

    /// The hop-by-hop headers (RFC 9110 section 7.6.1), and those that libcurl writes itself.
    private static let notForwarded: Set = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade", "host", "content-length", "expect",
    ]

    private func headers(_ head: RequestHead, _ resume: ResumePoint, isUpgrade: Bool) -> [HeaderField] {
        let named = Set(head.headers.list("Connection").map { $0.lowercased() })
        let replaced = Set(self.setup.headers.map { $0.name.lowercased() })
        let isRead =
            self.setup.gateway.paths.place(method: head.method, path: head.path, query: head.query) != nil
        var fields: [HeaderField] = []
        for field in head.headers.fields {
            let name = field.name.lowercased()
            guard !Self.notForwarded.contains(name), !named.contains(name), !replaced.contains(name) else {
                continue
            }
            // What the gateway must be able to read must not be compressed.
            if isRead, name == "accept-encoding" || name == "sec-websocket-extensions" { continue }
            if name == "last-event-id" && resume != .asSent { continue }
            fields.append(field)
        }
        if case .replaced(let id) = resume { fields.append(HeaderField(HeaderName.lastEventID, id)) }
        if isUpgrade {
            fields += [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")]
        }
        return fields + self.setup.headers
    }

    private static func head(_ head: ResponseHead) -> UpstreamHead {
        // The other protocol is that of the connection to the phone, too.
        guard head.status != 101 else {
            return UpstreamHead(status: head.status, headers: head.headers.fields, length: nil)
        }
        var named: Set<String> = []
        for field in head.headers.fields where field.name.lowercased() == "connection" {
            for name in field.value.split(separator: ",") {
                named.insert(name.lowercased().filter { $0 != " " })
            }
        }
        let headers = head.headers.fields.filter { field in
            let name = field.name.lowercased()
            return !Self.notForwarded.contains(name) && !named.contains(name)
        }
        let isChunked = head.headers["Transfer-Encoding"] != nil
        let length = isChunked ? nil : head.headers["Content-Length"].flatMap { Int($0) }
        return UpstreamHead(
            status: head.status, headers: headers, length: length.map { max(0, $0) })
    }

    // MARK: From the clients

    func transfer(_ transfer: TransferID, of phone: Int, replied head: ResponseHead, at moment: Instant) {
        guard let exchange = self.exchanges[transfer] else { return }
        guard (200...999).contains(head.status) || head.status == 101 && exchange.isUpgrade else {
            self.drop(transfer)
            self.report(.ended(exchange.id, .transport(.malformed)))
            return
        }
        if head.status >= 300 {
            self.exchanges[transfer]?.isRefused = true
            self.report(.bodyLeft(exchange.id, 0))
        }
        if !exchange.isReleased, exchange.isWorthDraining, head.status != 413 {
            self.exchanges[transfer]?.isHeld = true
            self.applyPause(transfer)
        }
        self.handle(.replied(exchange.id, Self.head(head)), transfer)
    }

    func transfer(_ transfer: TransferID, of phone: Int, received bytes: [UInt8], at moment: Instant) {
        guard let exchange = self.exchanges[transfer] else { return }
        self.handle(.received(exchange.id, Array(bytes)), transfer)
    }

    func transfer(_ transfer: TransferID, of phone: Int, bodyLeft bytes: Int, at moment: Instant) {
        guard let exchange = self.exchanges[transfer] else { return }
        self.report(.bodyLeft(exchange.id, bytes))
    }

    func transfer(_ transfer: TransferID, of phone: Int, ended end: TransferEnd, at moment: Instant) {
        guard let exchange = self.exchanges[transfer] else { return }
        let event = UpstreamEvent.ended(exchange.id, end.failure.map { .transport($0.kind) })
        if !exchange.isHeld { self.forget(transfer) }
        self.handle(event, exchange, transfer)
        // The rest of the body is no longer read.
        self.report(.bodyLeft(exchange.id, 0))
    }

    private func handle(_ event: UpstreamEvent, _ transfer: TransferID) {
        guard let exchange = self.exchanges[transfer] else { return }
        self.handle(event, exchange, transfer)
    }

    private func handle(
        _ event: UpstreamEvent, _ exchange: Exchange, _ transfer: TransferID
    ) {
        if exchange.isHeld || self.exchanges[transfer]?.isHeld == true {
            self.exchanges[transfer]?.kept.append(event)
        } else {
            self.report(event)
        }
    }
}
