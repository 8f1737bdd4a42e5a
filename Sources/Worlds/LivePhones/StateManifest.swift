import JSON
package import SimBase
import SystemIO

/// The fleet whose phones a state folder has. In another one the same numbers are other phones.
package struct StateFleet: Equatable, Sendable {
    package struct Group: Equatable, Sendable {
        package var name: String
        package var devices: Int

        package init(name: String, devices: Int) {
            self.name = name
            self.devices = devices
        }
    }

    package var seed: UInt64
    package var groups: [Group]
    /// The part of the fleet.
    package var shard: FleetShard

    package init(seed: UInt64, groups: [Group], shard: FleetShard) {
        self.seed = seed
        self.groups = groups
        self.shard = shard
    }
}

/// What a state folder should have: `manifest.ndjson`, with the fleet in its first line, and a line of fixed length for the
/// journals of each thread of each layout, with the bytes that they had after their last flush.
///
/// The journals have numbers of their own, which go with them: that one of them is gone, or was cut off, only another file can say.
struct StateManifest {
    static func path(in folder: String) -> String { "\(folder)/manifest.ndjson" }

    /// The bytes of the journals of one thread.
    struct Sizes: Equatable {
        var devices: Int
        var library: Int
        var scans: Int

        func bytes(of kind: StateJournal.Kind) -> Int {
            switch kind {
            case .devices: self.devices
            case .library: self.library
            case .scans: self.scans
            }
        }
    }

    /// Nil in a folder without a run that claims it.
    let fleet: StateFleet?
    private(set) var lines: [(location: StateJournal.Location, sizes: Sizes)] = []
    private let headBytes: Int

    /// Reads the manifest of a folder. Nil if there is none; throws if it is damaged.
    init?(in folder: String) throws(StateFolder.Failure) {
        let path = Self.path(in: folder)
        guard FileTree.exists(path) else { return nil }
        let bytes = try? File.contents(of: path, bytesMax: Self.bytesMax)
        let lines = bytes?.split(separator: UInt8(ascii: "\n")) ?? []
        let nodes = lines.compactMap { JSONNode(Array($0)) }
        guard bytes?.last == UInt8(ascii: "\n"), let head = nodes.first, nodes.count == lines.count,
            lines.dropFirst().allSatisfy({ $0.count == Self.lineBytes - 1 })
        else { throw .damagedManifest(path) }
        self.headBytes = lines[0].count + 1
        do throws(JSONMismatch) {
            self.fleet = try head.optional("seed") { seed throws(JSONMismatch) in
                StateFleet(
                    seed: try head.required("seed") { $0.integer(UInt64.self) },
                    groups: try head.required("groups") { $0.elements }.map { group throws(JSONMismatch) in
                        StateFleet.Group(
                            name: try group.required("name") { $0.text },
                            devices: try group.required("devices") { $0.integer })
                    },
                    shard: try head.required("shard") { $0.text.flatMap { FleetShard($0) } })
            }
            for node in nodes.dropFirst() {
                let location = StateJournal.Location(
                    folder: folder, layout: try node.required("layout") { $0.integer },
                    thread: try node.required("thread") { $0.integer })
                let sizes = Sizes(
                    devices: try node.required("devices") { $0.integer },
                    library: try node.required("library") { $0.integer },
                    scans: try node.required("scans") { $0.integer })
                self.lines.append((location, sizes))
            }
        } catch { throw .damagedManifest(path) }
    }

    /// Adds lines for journals that have none, as they are now. Makes the manifest with the first.
    static func add(
        _ locations: [StateJournal.Location], of fleet: StateFleet?, in folder: String
    ) throws(StateFolder.Failure) {
        let manifest = try StateManifest(in: folder)
        let known = Set(manifest?.lines.map(\.location) ?? [])
        var missing: [StateJournal.Location] = []
        for location in locations where !known.contains(location) && !missing.contains(location) {
            missing.append(location)
        }
        guard manifest == nil || !missing.isEmpty else { return }
        do throws(SystemError) {
            var text = manifest == nil ? Self.head(fleet) : []
            for location in missing {
                text += Self.line(location, Self.sizes(at: location))
            }
            let path = Self.path(in: folder)
            guard manifest != nil else { return try File.save(text, to: path) }
            try File(path, .append).write(text)
        } catch { throw .system(error) }
    }

    /// As the files are; those that are not there have nothing.
    private static func sizes(at location: StateJournal.Location) -> Sizes {
        func bytes(_ kind: StateJournal.Kind) -> Int { Self.bytes(of: location.path(of: kind)) ?? 0 }
        return Sizes(devices: bytes(.devices), library: bytes(.library), scans: bytes(.scans))
    }

    private static func bytes(of path: String) -> Int? {
        guard case .file(let bytes) = FileTree.kind(of: path) else { return nil }
        return bytes
    }

    /// Journals that are missing or shorter than they were, with the bytes that they have and had.
    var shortfalls: [StateFolder.Shortfall] {
        self.lines.flatMap { line in
            StateJournal.Kind.allCases.compactMap { kind in
                let path = line.location.path(of: kind)
                let had = line.sizes.bytes(of: kind)
                let has = Self.bytes(of: path)
                guard has ?? 0 < had else { return nil }
                return StateFolder.Shortfall(
                    path: path, bytes: has, bytesBefore: had, hasScans: kind == .scans)
            }
        }
    }

    // MARK: Writing

    private static let bytesMax = 16 << 20
    /// The digits that a size has room for.
    private static let sizeDigits = 15
    private static let numberDigits = 6
    private static let lineBytes = Self.line(layout: 0, thread: 0, Sizes(devices: 0, library: 0, scans: 0))
        .count

    private static func head(_ fleet: StateFleet?) -> [UInt8] {
        var writer = JSONWriter(.standard, reserving: 512)
        writer.object { head in
            head.member("version", StateJournal.version)
            guard let fleet else { return }
            head.member("seed", fleet.seed)
            head.member("shard", fleet.shard.description)
            head.array("groups", fleet.groups) { writer, group in
                writer.object {
                    $0.member("name", group.name)
                    $0.member("devices", group.devices)
                }
            }
        }
        writer.newline()
        return writer.bytes
    }

    fileprivate static func line(_ location: StateJournal.Location, _ sizes: Sizes) -> [UInt8] {
        Self.line(layout: location.layout, thread: location.thread, sizes)
    }

    private static func line(layout: Int, thread: Int, _ sizes: Sizes) -> [UInt8] {
        ByteBuilder.bytes { line in
            func member(_ key: StaticString, _ number: Int, digits: Int) {
                line.append(literal: key)
                let text = String(number)
                for _ in 0..<max(0, digits - text.utf8.count) { line.append(UInt8(ascii: " ")) }
                line.append(text: text)
            }
            member("{\"layout\":", layout, digits: Self.numberDigits)
            member(",\"thread\":", thread, digits: Self.numberDigits)
            member(",\"devices\":", sizes.devices, digits: Self.sizeDigits)
            member(",\"library\":", sizes.library, digits: Self.sizeDigits)
            member(",\"scans\":", sizes.scans, digits: Self.sizeDigits)
            line.append(literal: "}\n")
        }
    }

    /// The line about the journals of one thread, which that thread writes again with each flush.
    struct Line {
        private let location: StateJournal.Location
        private let file: File
        private let place: Int

        /// Opens the manifest, which has a line for each journal that is written to. Nil in a folder without a manifest.
        init?(of location: StateJournal.Location) throws(SystemError) {
            let path = StateManifest.path(in: location.folder)
            guard FileTree.exists(path) else { return nil }
            let manifest = try? StateManifest(in: location.folder)
            guard let manifest, let index = manifest.lines.firstIndex(where: { $0.location == location })
            else {
                throw SystemError(call: "read \(path)", code: SystemCode.invalid)
            }
            self.location = location
            self.place = manifest.headBytes + index * StateManifest.lineBytes
            self.file = try File(path, .update)
        }

        func write(_ sizes: Sizes) throws(SystemError) {
            try self.file.write(StateManifest.line(self.location, sizes), at: self.place)
        }
    }
}
