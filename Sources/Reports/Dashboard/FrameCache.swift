import Reports
import SimBase
import Wire

/// The newest frame, with the version in which each part changed. A new reader gets all parts, a reader that reconnects only
/// the parts that changed.
struct FrameCache {
    /// The prefix of event ids. A reader that comes from an earlier run on the same port is recognized by it.
    private let run: String
    private var title = ""
    private var parts: [(part: LiveFrame.Part, since: Int)] = []
    /// Counts frames; 0 before the first.
    private(set) var version = 0

    /// `run`: identifies this run; letters and digits.
    init(run: String) { self.run = run }

    mutating func take(_ frame: LiveFrame) {
        self.version += 1
        self.title = frame.title
        for part in frame.parts {
            guard let index = self.parts.firstIndex(where: { $0.part.id == part.id }) else {
                self.parts.append((part, self.version))
                continue
            }
            if self.parts[index].part != part { self.parts[index] = (part, self.version) }
        }
    }

    /// The events that bring a reader from that version to the present one; empty when it has it. Only the last of them
    /// has an id: a reader that lost its connection within a frame gets all of it again.
    func events(after version: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        guard version < self.version else { return bytes }
        for entry in self.parts where entry.since > version {
            SSEWriter.event(
                id: nil, type: "part", data: "\(entry.part.id)\n\(entry.part.html.text)", into: &bytes)
        }
        SSEWriter.event(id: "\(self.run)-\(self.version)", type: "frame", data: self.title, into: &bytes)
        return bytes
    }

    /// The version of a reader's last event; 0 for one that this run never sent.
    func version(ofLast id: String?) -> Int {
        guard let id, id.hasPrefix("\(self.run)-"), let version = Int(id.dropFirst(self.run.count + 1)),
            (1...max(1, self.version)).contains(version)
        else { return 0 }
        return version
    }
}
