import CSystem
package import EventLoop
package import SystemIO

/// All sockets of the phones of a pool. Those of libcurl are opened and closed by us on its behalf, so that a phone's
/// connections can be taken away from it without a word to the peer.
package final class SocketTable {
    /// Whose a socket is.
    private enum Holder {
        /// libcurl closes it. `line`: the one of the phone's lines that it is the connection of.
        case libcurl(line: Int)
        /// libcurl has it among its idle connections, and a client of this program reads and writes it.
        case borrowed(line: Int)
        /// A client of this program closes it.
        case client
    }

    private struct Entry {
        var phone: Int
        var holder: Holder
        /// Tells it from earlier and later ones with its number.
        var serial: Int
        /// libcurl's.
        var watch: Watch?
        /// The client's, which goes on while libcurl uses the socket.
        var clientWatch: Watch?
        /// The socket is to be kept, not closed, when libcurl closes it.
        var isDiverted = false
        /// The number names the dead socket by now, and libcurl has not looked yet.
        var isDead = false
    }

    // Indexed by descriptor: the kernel keeps those small.
    private var entries: [Entry?] = []
    private var socketsOfPhone: [[Int32]]
    private var parkedOfPhone: [[Int32]]
    private let sourceAddresses: [String]
    /// A socket whose peer has gone: put in a stolen socket's slot, it reads as an end and takes no writing.
    private var dead: Descriptor?
    /// Sockets that may be open and parked at a time; more are refused as the system would.
    var socketsMax = Int.max
    private(set) var counts = CurlPoolCounts()

    init(phones: Int, sourceAddresses: [String]) {
        self.socketsOfPhone = Array(repeating: [], count: phones)
        self.parkedOfPhone = Array(repeating: [], count: phones)
        self.sourceAddresses = sourceAddresses
    }

    deinit {
        for phone in self.parkedOfPhone.indices { self.unpark(phone) }
        for socket in self.socketsOfPhone.joined() { self.closeForgotten(socket) }
    }

    /// Sockets that are open and not parked.
    package var openNow: Int { self.counts.socketsOpenNow }

    // MARK: - On libcurl's behalf

    /// A new socket or minus errno.
    func open(for phone: Int, line: Int, family: Int32, type: Int32, proto: Int32) -> Int32 {
        let socket =
            self.isFull ? -SystemCode.descriptorsExhaustedInProcess : shim_socket(family, type, proto)
        guard socket >= 0 else {
            self.countShortage(-socket)
            return socket
        }
        if let source = self.source(of: phone) {
            let bound = unsafe shim_bind_source(socket, source)
            guard bound >= 0 else {
                shim_close(socket)
                return bound
            }
        }
        self.enter(socket, of: phone, .libcurl(line: line))
        return socket
    }

    /// Which of all sockets that were opened has the number; nil without one.
    func serial(of socket: Int32) -> Int? { self.entry(socket)?.serial }

    /// libcurl 7.88 closes a socket that has never carried a request by itself, and does not say so: its number may name a socket of
    /// another phone or thread by now.
    func forget(_ socket: Int32, serial: Int) {
        guard self.entry(socket)?.serial == serial else { return }
        self.forget(socket)
    }

    func close(_ socket: Int32) {
        guard let entry = self.entry(socket) else {
            shim_close(socket)
            return
        }
        switch entry.holder {
        case .libcurl, .client:
            if entry.isDiverted { self.keepParked(socket) } else { self.closeForgotten(socket) }
        case .borrowed:
            // libcurl takes bytes that wait for the client for a flaw of an idle connection.
            entry.watch?.cancel()
            self.entries[Int(socket)]?.watch = nil
            self.entries[Int(socket)]?.holder = .client
        }
    }

    /// Watches a socket for what libcurl wants now; an empty interest stops watching.
    func watch(_ socket: Int32, _ interest: Readiness, make: () -> Watch) {
        guard let entry = self.entry(socket) else { return }
        if let watch = entry.watch {
            watch.interest = interest
        } else if !interest.isEmpty {
            let watch = make()
            self.entries[Int(socket)]?.watch = watch
            watch.interest = interest
        }
    }

    // MARK: - Between libcurl and a client

    /// Gives libcurl a client's connected socket as the next connection of a line.
    func lend(_ socket: Int32, line: Int, watch: Watch) {
        self.entries[Int(socket)]?.holder = .libcurl(line: line)
        self.entries[Int(socket)]?.clientWatch = watch
    }

    /// The connection of a line of the phone that libcurl has kept and does not use, with the watch that the client had for
    /// it: the client may use it from now on. Nil if libcurl has kept none.
    func borrow(line: Int, of phone: Int) -> (socket: Int32, watch: Watch?)? {
        for socket in self.liveSockets(of: phone) {
            guard let entry = self.entry(socket), case .libcurl(line) = entry.holder else { continue }
            self.entries[Int(socket)]?.holder = .borrowed(line: line)
            self.entries[Int(socket)]?.clientWatch = nil
            return (socket, entry.clientWatch)
        }
        return nil
    }

    /// Gives a borrowed socket back before libcurl uses it; false if libcurl does not have it any more.
    package func giveBack(_ socket: Int32, watch: Watch) -> Bool {
        guard case .borrowed(let line)? = self.entry(socket)?.holder else { return false }
        self.lend(socket, line: line, watch: watch)
        return true
    }

    // MARK: - For a client

    /// Begins to connect a socket of the client's own, or in place of a dead one, whose number it has then and whose line it is
    /// borrowed from: libcurl keeps one descriptor, not two.
    package func connect(
        for phone: Int, to host: String, port: UInt16, inPlaceOf dead: Int32?
    ) throws(SystemError) -> Int32 {
        do throws(SystemError) {
            if dead == nil, self.isFull {
                throw SystemError(call: "socket", code: SystemCode.descriptorsExhaustedInProcess)
            }
            let socket = try StreamSocket.connect(host: host, port: port, from: self.source(of: phone))
            StreamSocket.setNoDelay(socket.number)
            if let dead {
                try self.revive(dead, as: socket.number)
                return dead
            }
            let number = socket.release()
            self.enter(number, of: phone, .client)
            return number
        } catch {
            self.countShortage(error.code)
            throw error
        }
    }

    /// A dead socket of the phone's that libcurl still has among its idle connections, and its line.
    func deadSocket(of phone: Int) -> (socket: Int32, line: Int)? {
        for socket in self.socketsOfPhone[phone] {
            guard let entry = self.entry(socket), entry.isDead, case .libcurl(let line) = entry.holder else {
                continue
            }
            return (socket, line)
        }
        return nil
    }

    /// The dead socket's number names the other one from now on, too.
    private func revive(_ dead: Int32, as socket: Int32) throws(SystemError) {
        guard let entry = self.entry(dead), case .libcurl(let line) = entry.holder else { return }
        try SystemError.check("dup3", shim_duplicate_onto(socket, dead))
        self.counts.socketsOpened += 1
        self.entries[Int(dead)] = Entry(
            phone: entry.phone, holder: .borrowed(line: line), serial: self.counts.socketsOpened)
    }

    /// Closes a socket that the client has, and does not watch any more. One that is borrowed is left to libcurl as a dead
    /// one.
    package func closeOwn(_ socket: Int32) {
        guard case .borrowed(let line)? = self.entry(socket)?.holder else {
            return self.closeForgotten(socket)
        }
        self.entries[Int(socket)]?.holder = .libcurl(line: line)
        if !self.replaceWithClosed(socket) { shim_shut_down(socket) }
    }

    // MARK: - The entries

    private var isFull: Bool {
        self.counts.socketsOpenNow + self.counts.socketsParkedNow >= self.socketsMax
    }

    private func countShortage(_ code: Int32) {
        if SystemCode.isDescriptorShortage(code) { self.counts.descriptorsExhausted += 1 }
    }

    private func source(of phone: Int) -> String? {
        self.sourceAddresses.isEmpty ? nil : self.sourceAddresses[phone % self.sourceAddresses.count]
    }

    private func entry(_ socket: Int32) -> Entry? {
        self.entries.indices.contains(Int(socket)) ? self.entries[Int(socket)] : nil
    }

    private func enter(_ socket: Int32, of phone: Int, _ holder: Holder) {
        let slot = Int(socket)
        while slot >= self.entries.count { self.entries.append(nil) }
        // One that libcurl has closed since.
        self.forget(socket)
        self.counts.socketsOpenNow += 1
        self.counts.socketsOpened += 1
        self.entries[slot] = Entry(phone: phone, holder: holder, serial: self.counts.socketsOpened)
        self.socketsOfPhone[phone].append(socket)
    }

    private func forget(_ socket: Int32) {
        guard let entry = self.entry(socket) else { return }
        // Before the number can be closed or name something else.
        entry.watch?.cancel()
        entry.clientWatch?.cancel()
        self.entries[Int(socket)] = nil
        self.socketsOfPhone[entry.phone].removeAll { $0 == socket }
        self.counts.socketsOpenNow -= 1
    }

    private func closeForgotten(_ socket: Int32) {
        self.forget(socket)
        shim_close(socket)
    }

    private func keepParked(_ socket: Int32) {
        guard let phone = self.entry(socket)?.phone else { return }
        self.forget(socket)
        self.parkedOfPhone[phone].append(socket)
        self.counts.socketsParkedNow += 1
    }

    // MARK: - A phone's

    /// Keeps the phone's sockets open and unread, and leaves libcurl a dead one instead of each that it has. libcurl
    /// finds out when it next looks: a TLS close_notify or an HTTP/2 GOAWAY goes nowhere too.
    func park(_ phone: Int) {
        for socket in self.liveSockets(of: phone) {
            switch self.entry(socket)?.holder {
            case .client: self.keepParked(socket)
            case .libcurl, .borrowed: self.steal(socket, of: phone)
            case nil: break
            }
        }
    }

    private func steal(_ socket: Int32, of phone: Int) {
        let kept = shim_duplicate(socket, 0)
        guard kept >= 0, self.replaceWithClosed(socket) else {
            if kept >= 0 { shim_close(kept) }
            // No descriptor to spare. A socket in use can still be kept when libcurl lets go of it.
            self.entries[Int(socket)]?.isDiverted = true
            self.counts.parkingFailed += 1
            return
        }
        self.parkedOfPhone[phone].append(kept)
        self.counts.socketsParkedNow += 1
    }

    /// Ends parking: idle connections that could not be parked close as usual from now on.
    func parkingEnded(_ phone: Int) {
        for socket in self.socketsOfPhone[phone] { self.entries[Int(socket)]?.isDiverted = false }
    }

    /// Closes the phone's sockets now, those of idle connections too.
    func hangUp(_ phone: Int, by how: HangUp) {
        for socket in self.liveSockets(of: phone) {
            if how == .reset { StreamSocket.resetOnClose(socket) }
            switch self.entry(socket)?.holder {
            case .client, nil: self.closeForgotten(socket)
            case .libcurl, .borrowed: if !self.replaceWithClosed(socket) { shim_shut_down(socket) }
            }
        }
    }

    /// Closes what was parked, with RST.
    func unpark(_ phone: Int) {
        for socket in self.parkedOfPhone[phone] {
            StreamSocket.resetOnClose(socket)
            shim_close(socket)
        }
        self.counts.socketsParkedNow -= self.parkedOfPhone[phone].count
        self.parkedOfPhone[phone] = []
    }

    /// The socket's number names the dead socket from now on; what it named is closed if it has no other name.
    private func replaceWithClosed(_ socket: Int32) -> Bool {
        // The kernel's poll set knows the open socket, not the number: it must forget it while both still agree.
        self.entries[Int(socket)]?.watch?.cancel()
        self.entries[Int(socket)]?.clientWatch?.cancel()
        guard self.makeDead(), let dead = self.dead?.number else { return false }
        guard shim_duplicate_onto(dead, socket) >= 0 else { return false }
        self.entries[Int(socket)]?.isDead = true
        if case .borrowed(let line)? = self.entry(socket)?.holder {
            self.entries[Int(socket)]?.holder = .libcurl(line: line)
        }
        return true
    }

    private func liveSockets(of phone: Int) -> [Int32] {
        self.socketsOfPhone[phone].filter { self.entry($0)?.isDead == false }
    }

    private func makeDead() -> Bool {
        guard self.dead == nil else { return true }
        var ends: (Int32, Int32) = (-1, -1)
        guard unsafe shim_socket_pair(&ends.0, &ends.1) >= 0 else { return false }
        shim_close(ends.1)
        self.dead = Descriptor(owning: ends.0)
        return true
    }
}
