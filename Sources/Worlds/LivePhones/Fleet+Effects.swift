import CurlLoop
import EventLoop
import Faults
import HTTPClient
import Imaging
import Metrics
import Observations
import Phone
import Plan
import SimBase
import SystemIO
import Talaria
import Wire

/// Carries out what phones want, and sends them what happens to their requests. All effects are here.
extension Fleet {
    /// Sends the outcome of a request or wake-up of the present process to the app.
    func send(_ event: AppEvent, toAppOf phone: Int) {
        self.send(.app(event, process: self.phones[phone].machine.process), to: phone)
    }

    /// Passes an event to a phone and performs its effects. Events that they cause wait their turn.
    func send(_ event: PhoneEvent, to phone: Int) {
        guard !self.isHandling else {
            self.waiting.append((phone, event))
            return
        }
        self.isHandling = true
        self.handle(event, of: phone)
        var next = 0
        while next < self.waiting.count {
            let (phone, event) = self.waiting.take(next, leaving: (0, .flushed))
            next += 1
            self.handle(event, of: phone)
        }
        if next > 0 { self.waiting.removeAll(keepingCapacity: true) }
        self.isHandling = false
        self.reportIfMany()
    }

    private func handle(_ event: PhoneEvent, of phone: Int) {
        var effects: [PhoneEffect] = []
        swap(&effects, &self.effects)
        let begun = self.loop.now()
        self.phones[phone].machine.handle(event, at: begun, into: &effects)
        if effects.contains(where: \.isMerge) {
            self.reconcileTimes.record((self.loop.now() - begun).nanoseconds)
        }
        self.carryOut(&effects, of: phone)
        swap(&effects, &self.effects)
    }

    private func carryOut(_ effects: inout [PhoneEffect], of phone: Int) {
        for index in effects.indices { self.carryOut(effects.take(index, leaving: .flush), of: phone) }
        effects.removeAll(keepingCapacity: true)
        self.setWake(phone)
    }

    /// Passes an event to a phone while another is handled, for a flush. New events wait their turn.
    func sendNow(_ event: PhoneEvent, to phone: Int) {
        let wasHandling = self.isHandling
        self.isHandling = true
        defer { self.isHandling = wasHandling }
        var effects: [PhoneEffect] = []
        self.phones[phone].machine.handle(event, at: self.loop.now(), into: &effects)
        self.carryOut(&effects, of: phone)
    }

    private func abort(_ id: RequestID, of phone: Int) {
        guard let index = self.phones[phone].requests.firstIndex(where: { $0.id == id }) else { return }
        let transfer = self.phones[phone].requests.remove(at: index).transfer
        self.pool.cancel(transfer)
        self.tryEnd(of: transfer.number, isWhole: false)
    }

    private func carryOut(_ effect: consuming PhoneEffect, of phone: Int) {
        switch consume effect {
        case .observe(let observation), .app(.observe(let observation)): self.observe(observation)
        case .app(.send(let request)): self.start(request, of: phone)
        case .app(.transmit(let id, let bytes)):
            guard let request = self.phones[phone].requests.first(where: { $0.id == id }) else { return }
            self.pool.transmit(bytes, on: request.transfer)
        case .app(.abort(let id)): self.abort(id, of: phone)
        case .app(.preparePhoto(let scan, let photo)): self.prepare(photo, for: scan, of: phone)
        case .app(.readSpine(let scan, _)):
            let took = self.document(of: scan, phone: phone).took ?? .zero
            let process = self.phones[phone].machine.process
            self.schedule(due: .reading(scan, process: process), of: phone, at: self.loop.now() + took)
        case .app(.releasePhoto(let scan)):
            self.phones[phone].photos.removeAll { $0.scan == scan }
        case .app(.store(let change, _)):
            self.journal.store(change, of: self.phones[phone].number)
            if !change.mayWait { self.wantFlush() }
        case .use(let scan, let beginsCapture):
            if beginsCapture { self.captured += 1 }
            self.journal.use(scan, of: self.phones[phone].number)
        case .flush: self.acknowledgeFlush(to: phone)
        case .flushNow:
            // What the other phones wrote is acknowledged with it, so that nothing is ever durable that is not known to be.
            self.flushStore()
        case .wiped(let identity):
            self.journal.wipe(
                self.phones[phone].number, newIdentity: identity.text,
                hasReview: self.phones[phone].machine.profile.reviewer.isMade)
            self.wantFlush()
        case .park:
            self.pool.park(phone: phone)
            for request in self.phones[phone].requests {
                self.tryEnd(of: request.transfer.number, isWhole: false)
            }
            self.phones[phone].requests.removeAll()
        case .hangUp: self.pool.unpark(phone: phone)
        case .forgetProcess: self.phones[phone].photos = []
        case .schedule(let disturbance, let at): self.schedule(disturbance, of: phone, at: at)
        case .awaitedSettled: self.think(phone, settled: self.loop.now())
        }
    }

    private func prepare(_ photo: PhotoReference, for scan: ScanNumber, of phone: Int) {
        guard self.phones[phone].machine.profile.journey.takesPhotos else {
            let document = self.document(of: scan, phone: phone)
            self.send(
                .photoPrepared(
                    scan: scan, bytes: document.bytes.count, took: nil, file: document.file,
                    barcode: document.barcode),
                toAppOf: phone)
            return
        }
        let preprocess = self.plan.phones[phone].preprocess
        if preprocess == .once, self.prepared.indices.contains(photo.raw),
            let ready = self.prepared[photo.raw]
        {
            self.phones[phone].photos.append((scan, ready))
            self.photoWaits.record(0)
            self.send(.photoPrepared(scan: scan, bytes: ready.jpeg.count, took: nil), toAppOf: phone)
            return
        }
        let job = PreprocessingQueue.Job(
            device: self.phones[phone].number, scan: scan, photo: photo.raw, preprocess: preprocess,
            process: self.phones[phone].machine.process, asked: self.loop.now())
        if !self.preprocessing.work(on: job) {
            self.fail(.other("more than \(PreprocessingQueue.jobsMax) photos are queued for preprocessing"))
        }
    }

    func spineRead(_ phone: Int, _ scan: ScanNumber, process: UInt32) {
        guard self.phones[phone].machine.isAlive, self.phones[phone].machine.process == process else {
            return
        }
        let document = self.document(of: scan, phone: phone)
        self.send(
            .photoPrepared(
                scan: scan, bytes: document.bytes.count, took: nil, reading: document.reading),
            toAppOf: phone)
    }

    func photoDone(_ done: PreprocessingQueue.Done) {
        self.photoWaits.record(done.waited.nanoseconds)
        guard let phone = self.index(of: done.job.device) else { return }
        if done.job.preprocess == .once, case .prepared(let photo) = done.outcome {
            self.prepared[done.job.photo] = photo
        }
        let process = self.phones[phone].machine.process
        guard self.phones[phone].machine.isAlive, process == done.job.process else { return }
        switch done.outcome {
        case .prepared(let photo):
            self.phones[phone].photos.append((done.job.scan, photo))
            self.send(
                .photoPrepared(scan: done.job.scan, bytes: photo.jpeg.count, took: done.took), toAppOf: phone)
        case .rejected(let reason):
            self.photosRejected += 1
            self.send(.photoRejected(scan: done.job.scan, reason: reason), toAppOf: phone)
        }
    }

    // MARK: Requests

    private func start(_ request: AppRequest, of phone: Int) {
        guard let path = request.path(onServer: self.plan.base),
            let method = TransferRequest.Method(rawValue: request.method)
        else {
            // A server that sends phones elsewhere is not followed: a token belongs to its own backend.
            self.send(.replyFailed(request.id, .foreignURL), toAppOf: phone)
            return
        }
        let transfer = self.pool.start(
            TransferRequest(
                phone: phone, method: method, url: self.plan.base + path,
                headers: self.headers(of: request),
                body: self.body(of: request, phone: phone),
                receiveBuffer: request.operation == .stream ? .stream : .reply,
                connectPort: self.portRefusing(request, of: phone)))
        self.phones[phone].requests.append((request.id, transfer))
        self.tryRequest(request, transfer, of: phone)
    }

    private func headers(of request: AppRequest) -> [HeaderField] {
        let contentType = request.contentType.map { [HeaderField("Content-Type", $0)] } ?? []
        return request.headers + contentType + self.plan.headers
    }

    /// The port that a `refuse` fault of the scenario sends this request to; nil for the target's own.
    private func portRefusing(_ request: AppRequest, of phone: Int) -> UInt16? {
        guard let refusals = self.refusals else { return nil }
        let key = ExchangeKey(
            device: self.phones[phone].number, scan: request.scan, operation: request.operation,
            attempt: request.attempt)
        var seen: [Observation] = []
        defer { for observation in seen { self.observe(observation) } }
        do throws(SystemError) {
            return try refusals.port(
                for: key, by: request.transport, group: self.plan.phones[phone].group, at: self.loop.now(),
                into: &seen)
        } catch {
            self.fail(.other("cannot reserve a closed port for a `refuse` fault: \(error)"))
            return nil
        }
    }

    /// What a phone without photos uploads.
    private func document(of scan: ScanNumber, phone: Int) -> UploadDocument {
        UploadDocument(
            shelf: self.plan.shelf, files: self.plan.phones[phone].library,
            device: self.phones[phone].number, scan: scan)
    }

    private func body(of request: AppRequest, phone: Int) -> TransferRequest.Body {
        switch request.body {
        case .none: return .none
        case .document(let scan, .file):
            let content = PhotoSource(head: self.document(of: scan, phone: phone).bytes, shared: nil)
            return .multipart([TransferRequest.Part(.file, content)])
        case .document(let scan, .json), .document(let scan, .photos):
            return .bytes(self.document(of: scan, phone: phone).bytes)
        case .lookup(_, let lookup): return .bytes(lookup.body)
        case .text(_, let text): return .bytes(text.body)
        case .token(let refresh): return .bytes(refresh.body)
        case .photos(let scan, let count):
            guard let photo = self.phones[phone].photos.first(where: { $0.scan == scan })?.photo else {
                preconditionFailure("an upload of a photo that was not prepared")
            }
            let part = UploadPart.photo(self.phones[phone].machine.profile)
            let (shared, scanName) = (
                SharedBytes(photo.jpeg), "device \(self.phones[phone].number.raw) scan \(scan.raw)"
            )
            return .multipart(
                (1...count).map { number in
                    // Each part has bytes of its own.
                    let parts = photo.uploadParts(
                        scanName: number == 1 ? scanName : "\(scanName) photo \(number)")
                    let content = PhotoSource(head: parts.head, shared: shared, from: parts.tailOffset)
                    return TransferRequest.Part(part, content)
                })
        }
    }
}

extension Fleet: TransferDelegate {
    private func request(_ transfer: TransferID, of phone: Int) -> RequestID? {
        self.phones[phone].requests.first { $0.transfer == transfer }?.id
    }

    func transfer(
        _ transfer: TransferID, of phone: Int, replied head: ResponseHead, at moment: Instant
    ) {
        guard let id = self.request(transfer, of: phone) else { return }
        self.tryHead(head, of: transfer.number, at: moment)
        self.send(.replyHead(id, ReplyHead(status: head.status, head.headers)), toAppOf: phone)
    }

    func transfer(_ transfer: TransferID, of phone: Int, received bytes: [UInt8], at moment: Instant) {
        guard let id = self.request(transfer, of: phone) else { return }
        self.tryBytes(bytes, of: transfer.number, at: moment)
        self.send(.replyBytes(id, bytes[...]), toAppOf: phone)
    }

    func transfer(_ transfer: TransferID, of phone: Int, ended end: TransferEnd, at moment: Instant) {
        guard let index = self.phones[phone].requests.firstIndex(where: { $0.transfer == transfer }) else {
            return
        }
        let id = self.phones[phone].requests.remove(at: index).id
        self.tryEnd(
            of: transfer.number, isWhole: end.failure == nil, hasExcess: end.stats.hasExcess)
        if self.plan.observesNetwork { self.observe(NetworkObservation(end.stats), of: phone, at: moment) }
        self.send(end.failure.map { .replyFailed(id, $0.kind.seenByApp) } ?? .replyEnded(id), toAppOf: phone)
    }
}

extension Fleet {
    private func observe(_ payload: NetworkObservation, of phone: Int, at moment: Instant) {
        guard payload.connect != nil || payload.firstByte != nil else { return }
        self.observe(
            Observation(
                at: moment, device: self.phones[phone].number, scan: .none, what: .network(payload)))
    }
}

extension NetworkObservation {
    fileprivate init(_ stats: TransferStats) {
        func step(from start: Interval, to end: Interval) -> Interval? {
            stats.isNewConnection && end > .zero ? max(.zero, end - start) : nil
        }
        self.init(
            lookup: nil, connect: step(from: stats.nameLookup, to: stats.connect),
            tls: step(from: stats.connect, to: stats.appConnect),
            firstByte: stats.sent.flatMap { sent in stats.replied.map { max(.zero, $0 - sent) } })
    }
}

extension TransportFailure {
    /// The failure as an app sees it: a connection that died, and an error without a name.
    fileprivate var seenByApp: Self {
        switch self {
        case .closedBeforeReply: .reset
        case .connectFailed: .other
        case .nameNotResolved, .connectRefused, .connectTimedOut, .tls, .reset, .closedEarly, .timedOut,
            .descriptorsExhausted, .malformed, .noPath, .foreignURL, .other:
            self
        }
    }
}

extension TransferRequest.Part {
    fileprivate init(_ part: UploadPart, _ content: CurlLoop.PhotoSource) {
        self.init(
            name: part.name, filename: part.filename, contentType: part.contentType, content: content)
    }
}

extension PhoneEffect {
    /// Whether the phone has merged what it has read with what was found.
    fileprivate var isMerge: Bool {
        guard case .app(.observe(let observation)) = self, case .phone(.enriched) = observation.what else {
            return false
        }
        return true
    }
}
