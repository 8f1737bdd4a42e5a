import CSystem
import EventLoop
import SystemIO

/// All sockets of a pool, opened and closed by us on libcurl's behalf, so that a phone's connections can be taken
/// away from libcurl without a word to the peer.
final class SocketTable {
    private struct Entry {
        var phone: Int
        var watch: Watch?
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
    }

    var phones: Int { self.socketsOfPhone.count }

    // MARK: - On libcurl's behalf

    /// A new socket or minus errno.
    func open(for phone: Int, family: Int32, type: Int32, proto: Int32) -> Int32 {
        let isFull = self.counts.socketsOpenNow + self.counts.socketsParkedNow >= self.socketsMax
        let socket = isFull ? -SystemCode.descriptorsExhaustedInProcess : shim_socket(family, type, proto)
        guard socket >= 0 else {
            if SystemCode.isDescriptorShortage(-socket) { self.counts.descriptorsExhausted += 1 }
            return socket
        }
        if !self.sourceAddresses.isEmpty {
            let bound = unsafe shim_bind_source(
                socket, self.sourceAddresses[phone % self.sourceAddresses.count])
            guard bound >= 0 else {
                shim_close(socket)
                return bound
            }
        }
        self.enter(socket, of: phone)
        self.counts.socketsOpened += 1
        return socket
    }

    func close(_ socket: Int32) {
        let entry = self.forget(socket)
        if let entry, entry.isDiverted {
            self.parkedOfPhone[entry.phone].append(socket)
            self.counts.socketsParkedNow += 1
        } else {
            shim_close(socket)
        }
    }

    /// Watches a socket for what libcurl wants now; an empty interest stops watching.
    func watch(_ socket: Int32, _ interest: Readiness, make: () -> Watch) {
        let slot = Int(socket)
        guard self.entries.indices.contains(slot), self.entries[slot] != nil else { return }
        if let watch = self.entries[slot]?.watch {
            watch.interest = interest
        } else if !interest.isEmpty {
            let watch = make()
            self.entries[slot]?.watch = watch
            watch.interest = interest
        }
    }

    private func enter(_ socket: Int32, of phone: Int) {
        let slot = Int(socket)
        while slot >= self.entries.count { self.entries.append(nil) }
        self.entries[slot] = Entry(phone: phone)
        self.socketsOfPhone[phone].append(socket)
        self.counts.socketsOpenNow += 1
    }

    private func forget(_ socket: Int32) -> Entry? {
        let slot = Int(socket)
        guard self.entries.indices.contains(slot), let entry = self.entries[slot] else { return nil }
        // Before the number can be closed or name something else.
        entry.watch?.cancel()
        self.entries[slot] = nil
        self.socketsOfPhone[entry.phone].removeAll { $0 == socket }
        self.counts.socketsOpenNow -= 1
        return entry
    }

    // MARK: - Behind libcurl's back

    /// Keeps the phone's sockets open and unread, and leaves libcurl a dead one instead of each. libcurl
    /// finds out when it next looks: a TLS close_notify or an HTTP/2 GOAWAY goes nowhere too.
    func park(_ phone: Int) {
        for socket in self.liveSockets(of: phone) {
            let kept = shim_duplicate(socket, 0)
            guard kept >= 0, self.replaceWithClosed(socket) else {
                if kept >= 0 { shim_close(kept) }
                // No descriptor to spare. A socket in use can still be kept when libcurl lets go of it.
                self.entries[Int(socket)]?.isDiverted = true
                self.counts.parkingFailed += 1
                continue
            }
            self.parkedOfPhone[phone].append(kept)
            self.counts.socketsParkedNow += 1
        }
    }

    /// Ends parking: idle connections that could not be parked close as usual from now on.
    func parkingEnded(_ phone: Int) {
        for socket in self.socketsOfPhone[phone] { self.entries[Int(socket)]?.isDiverted = false }
    }

    /// Closes the phone's sockets now, those of idle connections too.
    func hangUp(_ phone: Int, by how: HangUp) {
        for socket in self.liveSockets(of: phone) {
            if how == .reset { StreamSocket.resetOnClose(socket) }
            if !self.replaceWithClosed(socket) { shim_shut_down(socket) }
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
        guard self.makeDead(), let dead = self.dead?.number else { return false }
        guard shim_duplicate_onto(dead, socket) >= 0 else { return false }
        self.entries[Int(socket)]?.isDead = true
        return true
    }

    private func liveSockets(of phone: Int) -> [Int32] {
        self.socketsOfPhone[phone].filter { self.entries[Int($0)]?.isDead == false }
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
