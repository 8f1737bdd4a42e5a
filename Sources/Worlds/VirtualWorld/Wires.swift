import HTTPServer
import Ledger
import Phone
import SimBase
import Talaria
import Wire

/// One connection from a phone to the server: the state of each side.
struct WireState: Sendable {
    enum PhoneSide: Sendable {
        /// In use, or kept for the next request. Leaves to `parked` or `closed`.
        case open
        /// Left without a word: open and unread. Leaves to `closed`.
        case parked
        case closed
    }

    enum ServerSide: Sendable {
        /// The phone's data has not reached the link. Leaves to `open`.
        case unknown
        case open(ConnectionID)
        /// Half-open since. Leaves to `over`.
        case silent(ConnectionID, since: Instant)
        case over
    }

    /// Photos on their way: how many bytes of the one that is sent have not left, and how many photos follow. Then comes what
    /// ends the upload.
    struct Upload: Sendable {
        let photoFiller: Int
        var fillerLeft: Int
        var photosLeft: Int

        init(photoFiller: Int, photos: Int) {
            self.photoFiller = photoFiller
            self.fillerLeft = photoFiller
            self.photosLeft = photos - 1
        }

        mutating func beginNext() {
            self.fillerLeft = self.photoFiller
            self.photosLeft -= 1
        }
    }

    let phone: Int
    var phoneSide = PhoneSide.open
    var serverSide = ServerSide.unknown
    /// The exchange that it carries.
    var request: RequestID?
    /// The last request, until the next one.
    var asked: RequestOnWire?
    /// The time of the last byte in either direction, as seen from the phone's side.
    var movedAt = Instant.zero
    /// The stream that it carries, once the phone has its 200.
    var stream: StreamOnWire?
    /// Whether it has carried a request before.
    var isReused = false
    /// Something of the answer has come.
    var hasAnswer = false
    var reader = ResponseReader()
    var upload: Upload?
    /// Whether the server takes more just now.
    var isRead = true
    /// The bytes that the phone sent to the link and that came out of it, by outcome.
    var up = LinkFlow()
    var down = LinkFlow()
    /// The number of bytes on their way to the link.
    var upWaiting = 0

    var isIdle: Bool {
        guard case .open = self.phoneSide else { return false }
        return self.request == nil
    }

    var isOver: Bool {
        guard case .closed = self.phoneSide, case .over = self.serverSide else { return false }
        return true
    }

    fileprivate mutating func change<Result>(_ change: (inout WireState) -> Result) -> (Result, isOver: Bool)
    {
        let result = change(&self)
        return (result, self.isOver)
    }

    fileprivate func answer<Result>(_ question: (borrowing WireState) -> Result) -> Result { question(self) }
}

/// The request that a wire carries.
struct RequestOnWire: Sendable {
    let operation: Operation
    let scan: ScanNumber
    let attempt: UInt32
    let sentAt: Instant
}

/// An event stream as its phone gets it.
struct StreamOnWire: Sendable {
    let scan: ScanNumber
    var isOpen = false
    var openedAt = Instant.zero
    var lastByteAt = Instant.zero
    /// The number of bytes after the head.
    var bytes = 0
}

/// Bytes of a wire that are not accounted for.
struct WireLeak: Sendable {
    let phone: Int
    let leg: LinkLeg
    let bytes: LeakedBytes
}

/// All wires of a world.
struct WireTable: Sendable {
    private var states: [WireState?] = []
    private var generations: [UInt32] = []
    private var free: [UInt32] = []
    /// The wires by the slot of the server's connection.
    private var ofConnection: [WireID?] = []
    private var leaks: [WireLeak] = []
    /// Bytes on their way to the link of a wire that is over.
    private var stragglers = 0

    var open: Int { self.states.count - self.free.count }

    mutating func make(phone: Int) -> WireID {
        let slot = self.free.popLast() ?? UInt32(self.states.count)
        if Int(slot) == self.states.count {
            self.states.append(nil)
            self.generations.append(0)
        }
        self.states[Int(slot)] = WireState(phone: phone)
        return WireID(slot: slot, generation: self.generations[Int(slot)])
    }

    /// Changes a wire in place; nil when it is gone. A wire that is over on both sides is removed.
    @discardableResult
    mutating func update<Result>(_ id: WireID, _ change: (inout WireState) -> Result) -> Result? {
        let slot = Int(id.slot)
        guard self.generations[slot] == id.generation else { return nil }
        guard let (result, isOver) = self.states[slot]?.change(change) else { return nil }
        if isOver { self.remove(id) }
        return result
    }

    /// Reads a wire in place; nil if it no longer exists.
    func ask<Result>(_ id: WireID, _ question: (borrowing WireState) -> Result) -> Result? {
        guard self.generations[Int(id.slot)] == id.generation else { return nil }
        return self.states[Int(id.slot)]?.answer(question)
    }

    func exists(_ id: WireID) -> Bool {
        self.generations[Int(id.slot)] == id.generation && self.states[Int(id.slot)] != nil
    }

    private mutating func remove(_ id: WireID) {
        if let state = self.states[Int(id.slot)] { self.close(state) }
        self.states[Int(id.slot)] = nil
        self.generations[Int(id.slot)] &+= 1
        self.free.append(id.slot)
    }

    // MARK: Bytes

    private mutating func close(_ state: WireState) {
        self.stragglers += state.upWaiting
        for (leg, flow, underway) in state.legs where !flow.isConserved(underway: underway) {
            self.leaks.append(
                WireLeak(phone: state.phone, leg: leg, bytes: LeakedBytes(flow, underway: underway)))
        }
    }

    /// They have come to a wire that is over.
    mutating func straggled(_ bytes: Int) { self.stragglers -= bytes }

    mutating func takeLeaks() -> [WireLeak] {
        defer { if !self.leaks.isEmpty { self.leaks = [] } }
        return self.leaks
    }

    /// Every wire that is not over.
    var all: [WireState] { self.states.compactMap(\.self) }

    /// The number of bytes on their way to the link, according to the wires.
    var underway: Int { self.states.reduce(self.stragglers) { $0 + ($1?.upWaiting ?? 0) } }

    // MARK: The server's names

    mutating func connect(_ id: WireID, as connection: ConnectionID) {
        let slot = Int(connection.slot)
        while slot >= self.ofConnection.count { self.ofConnection.append(nil) }
        self.ofConnection[slot] = id
        self.update(id) { $0.serverSide = .open(connection) }
    }

    func wire(of connection: ConnectionID) -> WireID? {
        let slot = Int(connection.slot)
        return slot < self.ofConnection.count ? self.ofConnection[slot] : nil
    }
}
