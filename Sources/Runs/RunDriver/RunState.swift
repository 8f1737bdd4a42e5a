import EventLoop
import Ledger
import LivePhones
import Phone
import Plan
import RunArchive
import RunJudge
import SimBase
import SystemIO
import Talaria

/// The folder that keeps the phones' storage: the user's, or a temporary one that goes with the run.
package struct RunState {
    let path: String
    /// What is odd about the folder, and does not keep its phones from going on.
    let remarks: [Remark]
    /// Scans that are gone from the folder, although they were not settled.
    let lost: [StateFolder.LostScan]
    /// The phones whose device ids it had.
    let phonesKnown: Set<DeviceNumber>
    private let isTemporary: Bool
    /// Phones of two runs would continue from the same scans.
    private let lock: FolderLock

    /// Opens the folder once, so that what is wrong with it shows before anything runs.
    init(_ path: String?, threads: Int, _ plan: RunPlan) throws {
        if let path { try ShardedState.requireOne(path) }
        self.isTemporary = path == nil
        self.path = try path ?? Self.makeTemporaryFolder()
        do {
            self.lock = try Self.lock(self.path)
            let folder = try Self.open(self.path, threads: threads, StateFleet(plan), isKept: path != nil)
            try Self.checkPhones(folder, plan)
            self.remarks = path == nil ? [] : Self.remarks(folder, StateFleet(plan))
            self.lost = folder.lost
            self.phonesKnown = folder.phonesKnown
        } catch {
            if path == nil { Self.removeTemporaryFolder() }
            throw error
        }
    }

    private static func open(
        _ path: String, threads: Int, _ fleet: StateFleet, isKept: Bool
    ) throws -> StateFolder {
        do {
            var folder = try StateFolder(path: path)
            try Self.requireWhole(folder)
            try Self.requireFleet(folder, fleet)
            if folder.fleet == nil { folder.fleet = fleet }
            _ = try folder.journals(threads: threads, isKept: isKept)
            return folder
        } catch let error as StateFolder.Failure {
            switch error {
            case .system(let error):
                throw CommandFailure(.cannotWrite, "cannot use the state folder: \(error)")
            case .otherVersion(let text):
                throw CommandFailure(
                    .badData, text, hint: "use a new folder with --state, or remove this one")
            case .damagedManifest(let path):
                throw CommandFailure(
                    .badData, "\(path) is damaged: whether the state folder is whole cannot be told",
                    hint: "use a new folder with --state, or remove the file to go on with what is there")
            }
        }
    }

    /// Throws if a journal has lost what no other one knows of. Scans that are gone are known by the numbers of their phones.
    private static func requireWhole(_ folder: StateFolder) throws(CommandFailure) {
        guard let first = folder.shortfalls.first(where: { !$0.hasScans }) else { return }
        throw CommandFailure(
            .badData, "the state folder is not whole: \(first.text)",
            hint: "put the file back, or use a new folder with --state: what its phones had is gone")
    }

    /// Throws if the folder has the phones of another fleet: theirs are other phones, although they have the same numbers.
    private static func requireFleet(_ folder: StateFolder, _ fleet: StateFleet) throws(CommandFailure) {
        guard let other = folder.fleet, other.groups != fleet.groups || other.shard != fleet.shard else {
            return
        }
        throw CommandFailure(
            .badData,
            "the state folder \(folder.path) is that of another fleet: \(other.text), and this run has \(fleet.text)",
            hint:
                "continue it with the scenario and the --phones of that fleet, or use a new folder with --state"
        )
    }

    private static func remarks(_ folder: StateFolder, _ fleet: StateFleet) -> [Remark] {
        let seed = folder.fleet?.seed ?? fleet.seed
        let remarks: [(Remark, Bool)] = [
            (.start(.stateOfOtherSeed(seed, run: fleet.seed)), seed != fleet.seed),
            (.start(.stateWithoutManifest), !folder.hasManifest && !folder.phonesKnown.isEmpty),
            (.start(.stateLinesSkipped(folder.linesSkipped)), folder.linesSkipped > 0),
            // They are cut off as the folder is opened.
            (.start(.stateWritesTorn(folder.writesTorn)), folder.writesTorn > 0),
        ]
        return folder.shortfalls.map { .start(.stateShortfall($0.text)) } + remarks.filter(\.1).map(\.0)
    }

    /// What a phone left that is not in this run would be left out without a word. What an app of another kind left cannot be
    /// continued: it would be sent as something else.
    private static func checkPhones(_ folder: StateFolder, _ plan: RunPlan) throws {
        for (device, scan) in folder.unsettled() {
            guard let group = plan.groupIfAny(of: device) else {
                throw CommandFailure(
                    .badData,
                    "the state folder \(folder.path) has unfinished scans of phone \(device.raw), which is not in this run",
                    hint:
                        "continue it with the scenario and the --phones of its fleet, or use a new folder with --state"
                )
            }
            guard !group.profile.journey.isLike(scan.journey) else { continue }
            throw CommandFailure(
                .badData,
                "phone \(device.raw) has left something unfinished of the journey `\(scan.journey.rawValue)` in the "
                    + "state folder, but its group `\(group.spec.name)` has the journey "
                    + "`\(group.profile.journey.rawValue)`",
                hint: "finish it with the scenario that began it, or use a new folder with --state")
        }
    }

    private static func lock(_ path: String) throws -> FolderLock {
        do throws(SystemError) {
            try FileTree.makeFolder(path, mode: 0o700)
        } catch {
            throw CommandFailure(.cannotWrite, "cannot use the state folder: \(error)")
        }
        guard let lock = FolderLock(path) else {
            throw CommandFailure(
                .cannotWrite, "cannot use the state folder: another run is using \(path)",
                hint: "wait until it ends, or use another folder with --state")
        }
        return lock
    }

    /// Returns the records that fresh phones, loaded from the folder, report as waiting.
    func waiting(_ plan: RunPlan) throws -> [WaitingRecord] {
        let folder = try StateFolder(path: self.path)
        var records: [WaitingRecord] = []
        var device: DeviceNumber?
        var scans: [DurableScan] = []
        func report() {
            guard let device, let group = plan.groupIfAny(of: device) else { return }
            records += App.waiting(restoring: scans, profile: group.profile).map {
                WaitingRecord(device: device, scan: $0.0, cause: $0.1)
            }
        }
        for entry in folder.unsettled() {
            if entry.device != device {
                report()
                device = entry.device
                scans = []
            }
            scans.append(entry.scan)
        }
        report()
        return records
    }

    package func removeIfTemporary() {
        if self.isTemporary { Self.removeTemporaryFolder() }
    }

    // MARK: The temporary folder

    /// The one of this process, while there is one: also a run that is quit at once takes it away.
    private static let temporaryFolder = Guarded<String?>(nil)

    private static func makeTemporaryFolder() throws(SystemError) -> String {
        let path = try FileTree.makeTemporaryFolder(named: "swiftwing-sim")
        Self.temporaryFolder.withLock { $0 = path }
        return path
    }

    /// May be called on any thread, and more than once.
    static func removeTemporaryFolder() {
        let path = Self.temporaryFolder.withLock { path in
            defer { path = nil }
            return path
        }
        if let path { StateFolder.remove(path: path) }
    }
}

extension StateFleet {
    fileprivate init(_ plan: RunPlan) {
        self.init(
            seed: plan.scenario.seed,
            groups: plan.groups.map { Group(name: $0.spec.name, devices: $0.spec.devices) }, shard: plan.shard
        )
    }

    /// `commuters 6, shard 0/2`.
    fileprivate var text: String {
        let groups = self.groups.map { "\($0.name) \($0.devices)" }
        return Printable.line(
            (groups + (self.shard.isWhole ? [] : ["shard \(self.shard)"])).joined(separator: ", "))
    }
}

extension StateFolder.Shortfall {
    fileprivate var text: String {
        self.bytes.map { "\(self.path) has \($0) of \(self.bytesBefore) bytes" } ?? "\(self.path) is missing"
    }
}

extension Journey {
    /// Whether an app of this journey can finish what one of the other began.
    fileprivate func isLike(_ other: Journey) -> Bool {
        self.payload == other.payload && self.hasJobs == other.hasJobs
    }
}
