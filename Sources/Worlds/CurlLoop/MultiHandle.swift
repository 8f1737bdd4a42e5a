import CCurl
import CSystem
import EventLoop
import SimBase

/// libcurl's `CURLM` on the loop: it says which sockets and which time it wants, and is called when they are
/// ready.
@safe final class MultiHandle {
    private let raw: UnsafeMutableRawPointer
    private let loop: Loop
    private let sockets: SocketTable
    private var timer: LoopTimer?
    /// Calls libcurl at the end of the turn, where it wants to be called without waiting for anything.
    private var soon: LoopTask?
    private(set) var isDue = false
    /// Transfers whose socket libcurl has stopped watching while it acted.
    private var unwatched: [Transfer] = []
    /// Whether transfers may have finished since the pool asked for them.
    var isToBeRead = false
    /// Called after libcurl did something, outside of it.
    private let worked: (MultiHandle) -> Void

    init(loop: Loop, sockets: SocketTable, connectionsMax: Int, worked: @escaping (MultiHandle) -> Void) {
        guard let raw = unsafe curl_multi_init() else {
            preconditionFailure("libcurl has no memory for a multi")
        }
        unsafe self.raw = raw
        self.loop = loop
        self.sockets = sockets
        self.worked = worked
        self.timer = LoopTimer(loop: loop) { [unowned self] _ in self.act(on: CURL_SOCKET_TIMEOUT, 0) }
        self.soon = LoopTask(loop: loop) { [unowned self] in
            if self.isDue { self.act(on: CURL_SOCKET_TIMEOUT, 0) }
        }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe shim_multi_set_number(raw, CURLMOPT_MAXCONNECTS, connectionsMax)
        _ = unsafe shim_multi_set_socket(
            raw,
            { easy, socket, what, context, _ in
                guard let context = unsafe context else { return 0 }
                let multi = unsafe Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue()
                multi.wants(socket, what)
                if what == CURL_POLL_REMOVE, let transfer = unsafe Transfer.of(easy), transfer.isConnecting {
                    multi.unwatched.append(transfer)
                }
                return 0
            }, context)
        _ = unsafe shim_multi_set_timer(
            raw,
            { _, milliseconds, context in
                guard let context = unsafe context else { return 0 }
                let multi = unsafe Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue()
                multi.wants(milliseconds)
                return 0
            }, context)
    }

    deinit {
        // Every transfer has been removed; closing connections must not call into an object that is going away.
        _ = unsafe shim_multi_set_socket(self.raw, nil, nil)
        _ = unsafe shim_multi_set_timer(self.raw, nil, nil)
        unsafe curl_multi_cleanup(self.raw)
    }

    /// False when libcurl has no memory.
    func add(_ transfer: Transfer) -> Bool {
        unsafe curl_multi_add_handle(self.raw, transfer.easy.raw) == CURLM_OK
    }

    /// Closes the connection too when the exchange is under way.
    func remove(_ transfer: Transfer) {
        let code = unsafe curl_multi_remove_handle(self.raw, transfer.easy.raw)
        precondition(code == CURLM_OK, "a transfer was removed from a multi that does not have it")
    }

    /// The next transfer that is over.
    func nextFinished() -> (transfer: Transfer, result: CURLcode)? {
        var result = CURLE_OK
        guard let easy = unsafe shim_multi_next_finished(self.raw, &result),
            let transfer = unsafe Transfer.of(easy)
        else { return nil }
        return (transfer, result)
    }

    private func wants(_ socket: Int32, _ what: Int32) {
        let interest: Readiness
        switch what {
        case CURL_POLL_IN: interest = .read
        case CURL_POLL_OUT: interest = .write
        case CURL_POLL_INOUT: interest = .both
        default: interest = []  // CURL_POLL_NONE and CURL_POLL_REMOVE.
        }
        self.sockets.watch(socket, interest) {
            self.loop.watch(socket, []) { [unowned self] readiness in
                self.act(on: socket, readiness == .read ? CURL_CSELECT_IN : CURL_CSELECT_OUT)
            }
        }
    }

    private func wants(_ milliseconds: Int) {
        self.isDue = milliseconds == 0
        // Never acts from here, which is inside libcurl.
        switch milliseconds {
        case ..<0: self.timer?.disarm()
        case 0:
            self.timer?.disarm()
            self.soon?.schedule()
        default: self.timer?.arm(after: .milliseconds(Int64(milliseconds)))
        }
    }

    /// Runs pending work now. Not called from inside libcurl.
    func flushPending() { self.act(on: CURL_SOCKET_TIMEOUT, 0) }

    private func act(on socket: Int32, _ readiness: Int32) {
        var running: Int32 = 0
        if socket == CURL_SOCKET_TIMEOUT { self.isDue = false }
        _ = unsafe curl_multi_socket_action(self.raw, socket, readiness, &running)
        for transfer in self.unwatched where transfer.isConnecting { transfer.goOnConnecting() }
        self.unwatched.removeAll(keepingCapacity: true)
        self.worked(self)
    }
}
