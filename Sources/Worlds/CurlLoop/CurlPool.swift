import CCurl
package import EventLoop
import SimBase

/// HTTP exchanges of many phones on one loop, by libcurl; each phone with connections of its own.
///
/// Costs 8 to 11 µs of processor time for each chunk received, flat in the number of phones.
package final class CurlPool {
    /// Phones that share one multi handle: libcurl looks through its connections on every request (20 µs at 300
    /// phones, 62 at 3,000).
    package static let phonesPerMultiMax = 300
    /// The host that libcurl connects to for a phone, which names it in its messages. Of 100,000 phones it is short enough for a
    /// `String` without memory of its own.
    package static func alias(ofPhone phone: Int) -> String { "p-\(phone).invalid" }
    /// Connections that libcurl keeps for each phone (a stream and an upload), and some to spare; with fewer it
    /// would close other phones' idle ones.
    private static let connectionsPerPhone = 2
    private static let connectionsSpare = 16
    /// Transfers kept for later exchanges, beyond those in use.
    private static let idleTransfersMax = 512

    package weak var delegate: (any TransferDelegate)?
    /// The number of open sockets above which exchanges other than streams close their connection at the end
    /// instead of keeping it for the phone's next.
    package var keepsIdleBelow = Int.max

    /// Sockets that the pool may have, parked ones included; more are refused as the system would.
    package var socketsMax: Int {
        get { self.sockets.socketsMax }
        set { self.sockets.socketsMax = newValue }
    }

    /// A client of this program that has requests of its own for a phone's connections over plain HTTP. It is given each that
    /// is idle after an exchange, with the watch that it had for it, and gives it back for libcurl's next.
    package var borrower: ((_ phone: Int, _ line: Int, _ socket: Int32, _ watch: Watch?) -> Void)?

    private let loop: Loop
    private let target: CurlTarget
    package let sockets: SocketTable
    private let inbox = Inbox()
    private var multis: [MultiHandle] = []
    private var phones: [PhoneLines]
    // A transfer's index is its id's slot. Nil if a handle was given up.
    private var transfers: [Transfer?] = []
    private var generations: [UInt32] = []
    private var idle: [Transfer] = []
    private var freeSlots: [UInt32] = []
    /// Multi handles whose finished transfers have not been read.
    private var worked: [MultiHandle] = []
    private var sendBuffers = SendBufferBudget()
    private var isDelivering = false
    private var emptied: [Transfer] = []
    /// Delivers at the end of the turn.
    private var soon: LoopTask?
    private var transfersStarted = 0
    private var transfersRunning = 0
    private var resendsRefused = 0

    /// `phones` are numbered from 0.
    package init(loop: Loop, target: CurlTarget, phones: Int) {
        precondition(phones > 0, "a pool without phones")
        CurlGlobal.start()
        self.loop = loop
        self.target = target
        self.sockets = SocketTable(phones: phones, sourceAddresses: target.sourceAddresses)
        self.phones = (0..<phones).map {
            PhoneLines(lines: [ConnectionLine(phone: $0, number: 0, port: target.port)])
        }
        let count = (phones + Self.phonesPerMultiMax - 1) / Self.phonesPerMultiMax
        let connectionsMax = (phones + count - 1) / count * Self.connectionsPerPhone + Self.connectionsSpare
        for _ in 0..<count {
            let multi = MultiHandle(loop: loop, sockets: self.sockets, connectionsMax: connectionsMax) {
                [unowned self] multi in self.worked(multi)
            }
            self.multis.append(multi)
        }
        self.soon = LoopTask(loop: loop) { [unowned self] in self.deliver() }
    }

    deinit {
        for case let transfer? in self.transfers where transfer.request != nil { self.detach(transfer) }
    }

    package var counts: CurlPoolCounts {
        var counts = self.sockets.counts
        counts.transfersStarted = self.transfersStarted
        counts.transfersRunningNow = self.transfersRunning
        counts.resendsRefused = self.resendsRefused
        return counts
    }

    // MARK: - Commands

    /// Begins an exchange; the delegate hears of it, never before this returns.
    package func start(_ request: TransferRequest) -> TransferID {
        // What TLS has no borrower for shares the connections of the first line, and with HTTP/2 one of them.
        let isShared = self.borrower == nil || !request.url.hasPrefix("http:")
        return self.start(request, line: isShared ? 0 : self.takeLine(of: request.phone), lent: nil)
    }

    /// Begins an exchange on the connection of this line, which its borrower has given back.
    package func start(_ request: TransferRequest, line: Int) -> TransferID {
        self.start(request, line: line, lent: nil)
    }

    /// Begins an exchange on a connected socket of the borrower's own, which is libcurl's from then on. A socket can be lent
    /// once: libcurl 7.88 connects it although it is told that it is connected, which Linux allows the first time.
    package func start(_ request: TransferRequest, lent socket: Int32, watch: Watch) -> TransferID {
        let line = self.takeLine(of: request.phone)
        self.sockets.lend(socket, line: line, watch: watch)
        return self.start(request, line: line, lent: socket)
    }

    private func takeLine(of phone: Int) -> Int {
        let lines = self.phones[phone].lines
        let number = lines.firstIndex { !$0.isTaken } ?? lines.count
        if number == lines.count {
            self.phones[phone].lines.append(
                ConnectionLine(phone: phone, number: number, port: self.target.port))
        }
        self.phones[phone].lines[number].isTaken = true
        return number
    }

    /// The borrower has no connection of the phone any more.
    private func freeLines(of phone: Int) {
        for line in self.phones[phone].lines { line.isTaken = false }
    }

    /// The phone's dead socket that libcurl has not yet looked at, for a new connection in its place; its line is the borrower's
    /// from then on. Nil if there is none, or its line has an exchange.
    package func takeDeadSocket(of phone: Int) -> (socket: Int32, line: Int)? {
        guard let dead = self.sockets.deadSocket(of: phone), !self.phones[phone].lines[dead.line].isTaken
        else { return nil }
        self.phones[phone].lines[dead.line].isTaken = true
        return dead
    }

    /// The borrower has closed the connection of this line.
    package func freeLine(_ line: Int, of phone: Int) { self.phones[phone].lines[line].isTaken = false }

    private func start(_ request: TransferRequest, line number: Int, lent: Int32?) -> TransferID {
        precondition(self.phones.indices.contains(request.phone), "a phone of the pool")
        let transfer = self.freeTransfer()
        transfer.started = self.loop.now()
        transfer.line = number
        transfer.lent = lent
        transfer.sendBufferBytes = self.sendBuffers.take(for: request.body)
        self.transfersStarted += 1
        self.transfersRunning += 1
        self.phones[request.phone].transfers.append(transfer.slot)
        let keepsConnection =
            request.receiveBuffer == .stream || self.sockets.counts.socketsOpenNow < self.keepsIdleBelow
        transfer.refusal = transfer.prepare(
            request, line: self.phones[request.phone].lines[number], target: self.target,
            keepsConnection: keepsConnection)
        if transfer.refusal == nil, !self.multi(of: request.phone).add(transfer) {
            transfer.refusal = "libcurl has no memory"
        }
        if transfer.refusal != nil {
            transfer.result = CURLE_FAILED_INIT
            self.inbox.queue(transfer)
            self.soon?.schedule()
        }
        return transfer.id
    }

    /// Ends an exchange at once and closes its connection (FIN). The delegate hears nothing more of it. Nothing
    /// happens when it is over already.
    package func cancel(_ transfer: TransferID) {
        guard let transfer = self.running(transfer) else { return }
        self.finish(transfer)
    }

    /// More of a streamed body. Nothing happens when the exchange is over.
    package func feed(_ transfer: TransferID, _ bytes: [UInt8]) {
        guard let transfer = self.running(transfer), let upload = transfer.upload else { return }
        if upload.append(bytes) { transfer.wakeUpload() }
    }

    /// The streamed body is complete.
    package func endBody(_ transfer: TransferID) {
        guard let transfer = self.running(transfer), let upload = transfer.upload else { return }
        if upload.end() { transfer.wakeUpload() }
    }

    /// Runs libcurl's pending work now instead of at the end of the turn, where it would be after everything
    /// that has arrived by then, and delivers the results.
    package func flushPending() {
        // More of an answer must not come between what is being delivered of it and its end.
        guard !self.isDelivering else { return }
        for multi in self.multis where multi.isDue { multi.flushPending() }
        self.deliver()
    }

    /// Receives nothing more of an exchange until it is resumed, so that its peer sees that its data is not
    /// read. What libcurl has read already is still delivered.
    package func pause(_ transfer: TransferID) { self.running(transfer)?.pause(true) }

    package func resume(_ transfer: TransferID) {
        self.running(transfer)?.pause(false)
        // libcurl passes on at once what it has held back.
        if !self.isDelivering, !self.inbox.isEmpty { self.soon?.schedule() }
    }

    /// Abandons all of a phone's exchanges and takes its connections away from libcurl without a word to the peer:
    /// they stay open and unread until `unpark`. The delegate hears nothing of it. The phone may start new exchanges.
    package func park(phone: Int) {
        self.sockets.park(phone)
        self.abandon(phone)
        self.freeLines(of: phone)
        self.sockets.parkingEnded(phone)
    }

    /// Closes a phone's parked connections with RST.
    package func unpark(phone: Int) { self.sockets.unpark(phone) }

    /// Abandons all of a phone's exchanges and closes its connections, idle ones too. The delegate hears nothing.
    package func hangUp(phone: Int, by how: HangUp) {
        self.sockets.hangUp(phone, by: how)
        self.abandon(phone)
        self.freeLines(of: phone)
    }

    // MARK: - Queries

    package func isRunning(_ transfer: TransferID) -> Bool { self.running(transfer) != nil }

    /// What was measured of an exchange so far; nil when it is over.
    package func stats(of transfer: TransferID) -> TransferStats? { self.running(transfer)?.stats }

    private func running(_ id: TransferID) -> Transfer? {
        guard let transfer = self.transfers[Int(id.slot)], transfer.generation == id.generation,
            transfer.request != nil
        else { return nil }
        return transfer
    }

    private func multi(of phone: Int) -> MultiHandle { self.multis[phone % self.multis.count] }

    // MARK: - Delivery, outside of libcurl

    /// Delivers once libcurl has had all sockets of this turn: to alternate between it and the delegate for each socket costs
    /// a third of the processor time, in instructions and data that are not in the caches (measured).
    private func worked(_ multi: MultiHandle) {
        if !multi.isToBeRead {
            multi.isToBeRead = true
            self.worked.append(multi)
        }
        self.soon?.schedule()
    }

    private func deliver() {
        // The delegate may start, cancel and let go of the pool.
        withExtendedLifetime(self) {
            self.isDelivering = true
            self.readFinished()
            let delegate = self.delegate
            while !self.inbox.isEmpty {
                var batch = self.emptied
                self.emptied = []
                self.inbox.take(&batch)
                for transfer in batch {
                    transfer.isQueued = false
                    self.deliver(transfer, to: delegate)
                }
                batch.removeAll(keepingCapacity: true)
                self.emptied = batch
            }
            self.isDelivering = false
        }
    }

    private func readFinished() {
        for multi in self.worked {
            multi.isToBeRead = false
            while let (transfer, result) = multi.nextFinished() {
                transfer.result = result
                transfer.forgetUnusedSockets()
                self.inbox.queue(transfer)
            }
        }
        self.worked.removeAll(keepingCapacity: true)
    }

    private func deliver(_ transfer: Transfer, to delegate: (any TransferDelegate)?) {
        guard transfer.request != nil else { return }
        let (id, phone) = (transfer.id, transfer.phone)
        if transfer.isHeadComplete, !transfer.isHeadDelivered {
            transfer.isHeadDelivered = true
            let head = ResponseHead(parsing: transfer.head)
            transfer.head = []
            delegate?.transfer(id, of: phone, replied: head, at: transfer.replied ?? self.loop.now())
            guard transfer.id == id else { return }
        }
        if !transfer.body.isEmpty {
            var bytes: [UInt8] = []
            swap(&bytes, &transfer.body)
            delegate?.transfer(id, of: phone, received: bytes, at: transfer.bodyMoment)
            self.inbox.giveBack(&bytes)
            guard transfer.id == id else { return }
        }
        if transfer.hasTakenBody {
            transfer.hasTakenBody = false
            delegate?.transfer(
                id, of: phone, bodyLeft: transfer.upload?.count ?? 0, at: self.loop.now())
            guard transfer.id == id else { return }
        }
        if let result = transfer.result {
            let end = TransferEnd(failure: self.failure(of: transfer, result), stats: transfer.stats)
            if end.failure?.isResendRefused == true { self.resendsRefused += 1 }
            let line = transfer.line
            let isPlain = transfer.request?.url.hasPrefix("http:") == true
            self.finish(transfer)
            // Before the delegate, which may have the next request for the connection.
            if isPlain { self.lendOut(line, of: phone) }
            delegate?.transfer(id, of: phone, ended: end, at: self.loop.now())
        }
    }

    /// Passes a connection that libcurl has kept after an exchange to the borrower.
    private func lendOut(_ line: Int, of phone: Int) {
        guard let borrower = self.borrower,
            let (socket, watch) = self.sockets.borrow(line: line, of: phone)
        else { return }
        self.phones[phone].lines[line].isTaken = true
        borrower(phone, line, socket, watch)
    }

    private func failure(of transfer: Transfer, _ result: CURLcode) -> TransferFailure? {
        guard let refusal = transfer.refusal else { return transfer.failure(of: result) }
        return TransferFailure(
            kind: .other, isResendRefused: false, code: Int32(result.rawValue), systemCode: 0,
            message: refusal)
    }

    // MARK: - Transfers and their handles

    private func freeTransfer() -> Transfer {
        if let transfer = self.idle.popLast() { return transfer }
        let slot = self.freeSlots.popLast() ?? UInt32(self.transfers.count)
        let transfer = Transfer(slot: slot, clock: self.loop.clock, sockets: self.sockets, inbox: self.inbox)
        transfer.configure(for: self.target)
        if Int(slot) == self.transfers.count {
            self.transfers.append(transfer)
            self.generations.append(0)
        } else {
            transfer.generation = self.generations[Int(slot)]
            self.transfers[Int(slot)] = transfer
        }
        return transfer
    }

    private func abandon(_ phone: Int) {
        for slot in self.phones[phone].transfers {
            if let transfer = self.transfers[Int(slot)] { self.finish(transfer) }
        }
    }

    /// Takes a transfer from libcurl and makes it ready for another exchange.
    private func finish(_ transfer: Transfer) {
        let line = self.phones[transfer.phone].lines[transfer.line]
        line.isTaken = false
        if transfer.hasOpenedSocket, transfer.request?.connectPort == nil { line.isResolved = true }
        self.phones[transfer.phone].transfers.removeAll { $0 == transfer.slot }
        self.transfersRunning -= 1
        if let body = transfer.request?.body { self.sendBuffers.giveBack(transfer.sendBufferBytes, of: body) }
        transfer.forgetUnusedSockets()
        self.detach(transfer)
        // One that libcurl was not given is not closed by it either.
        if let lent = transfer.lent, !transfer.hasOpenedSocket { self.sockets.close(lent) }
        if self.idle.count < Self.idleTransfersMax {
            transfer.renew(for: self.target)
            self.idle.append(transfer)
        } else {
            transfer.reset()
            self.transfers[Int(transfer.slot)] = nil
            self.generations[Int(transfer.slot)] = transfer.generation
            self.freeSlots.append(transfer.slot)
        }
    }

    private func detach(_ transfer: Transfer) {
        if transfer.refusal == nil { self.multi(of: transfer.phone).remove(transfer) }
    }
}
