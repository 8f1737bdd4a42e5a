import SimBase
import Talaria

/// The requests of one phone that have been sent and have not ended.
struct OpenRequests: Sendable {
    /// More DELETEs of one scan are never open.
    private static let cleanupsMax: UInt32 = 10
    private static let interruptedMax = 64

    /// Without a response.
    private var open: [RequestKey] = []
    /// The requests whose head has arrived and whose body may still be lost, or which may have ended with
    /// the path or the app without an observation.
    private var loose: [RequestKey] = []
    /// The DELETEs among these without a response: the background leaves them their time, in which many scans may end.
    private var interruptedDeletes: [RequestKey] = []
    /// The next requests that the server has set the time of, by a 429 with its wait. They are not the phone's haste.
    private var invited: [(operation: Talaria.Operation, scan: ScanNumber)] = []
    /// The other requests of this second, by the number of the second.
    private var second: Int64 = -1
    private(set) var sentThisSecond = 0
    /// The scans that they were for.
    private var scansThisSecond = NumberRanges<UInt32>()

    var remembered: Int {
        self.open.count + self.loose.count + self.interruptedDeletes.count + self.invited.count
    }

    /// How many requests of this second were for how many scans.
    var scansOfThisSecond: Int { self.scansThisSecond.count }

    /// The number of open requests that are not for the server's sake alone.
    var inSlots: Int { self.open.count { $0.operation.holdsSlot } }

    /// Returns whether the previous request of its kind is still open.
    mutating func sent(_ request: RequestKey, at moment: Instant) -> Bool {
        let isCleanup = request.operation.isDelete
        let isRepeated =
            !isCleanup && self.open.contains { $0.operation == request.operation && $0.scan == request.scan }
        // DELETEs of several jobs of a scan may be open at once, and outlive the background.
        let most: UInt32 = isCleanup ? Self.cleanupsMax : 0
        self.loose.removeAll {
            $0.operation == request.operation && $0.scan == request.scan
                && $0.attempt + most <= request.attempt
        }
        self.open.append(request)
        let second = moment.nanoseconds / 1_000_000_000
        if second != self.second {
            self.second = second
            self.sentThisSecond = 0
            self.scansThisSecond = NumberRanges()
        }
        if let invited = self.invited.firstIndex(where: {
            $0.operation == request.operation && $0.scan == request.scan
        }) {
            self.invited.remove(at: invited)
        } else {
            self.sentThisSecond += 1
        }
        _ = self.scansThisSecond.insert(request.scan.raw)
        return isRepeated
    }

    /// The server has answered a request with 429, and the time of the next one.
    mutating func invite(_ operation: Talaria.Operation, of scan: ScanNumber) {
        self.invited.removeAll { $0.operation == operation && $0.scan == scan }
        self.invited.append((operation, scan))
    }

    /// Returns false if the request was not open.
    mutating func ended(_ request: RequestKey, isAnswer: Bool) -> Bool {
        if let index = self.open.firstIndex(of: request) {
            self.open.remove(at: index)
            if isAnswer { self.loose.append(request) }
        } else if let index = self.interruptedDeletes.firstIndex(of: request) {
            self.interruptedDeletes.remove(at: index)
            if isAnswer { self.loose.append(request) }
        } else if let index = self.loose.firstIndex(of: request) {
            if !isAnswer { self.loose.remove(at: index) }
        } else {
            return false
        }
        return true
    }

    /// What was under way may end without a word, with the path or with the app's time on the screen.
    mutating func interrupted() {
        for request in self.open {
            guard request.operation.isDelete else {
                self.loose.append(request)
                continue
            }
            self.interruptedDeletes.append(request, max: Self.interruptedMax)
        }
        self.open = []
    }

    /// The app's process is gone, and its requests with it.
    mutating func killed() {
        self.open = []
        self.loose = []
        self.interruptedDeletes = []
        self.invited = []
    }

    /// The scan has ended. A DELETE of its jobs may still be under way.
    mutating func settled(_ scan: ScanNumber) {
        self.loose.removeAll { $0.scan == scan && !$0.operation.isDelete }
        self.invited.removeAll { $0.scan == scan }
    }

    /// The user cancels the scan: what was under way for it is given up without a word.
    mutating func canceled(_ scan: ScanNumber) {
        self.open.removeAll { $0.scan == scan && !$0.operation.isDelete }
        self.loose.removeAll { $0.scan == scan && !$0.operation.isDelete }
    }

    mutating func forget(_ scan: ScanNumber) { self.loose.removeAll { $0.scan == scan } }
}
