import JSON
import RunJudge
import SimBase

// The key `conditions` of `run.json`. Earlier versions did not write it.
extension RunConditions {
    var json: JSONValue {
        .object([
            "faults": .array(
                self.faults.map { fault in
                    var members: [String: JSONValue] = [
                        "id": .string(fault.id), "text": .string(fault.text),
                    ]
                    if let expected = fault.expected { members["expected"] = .integer(expected) }
                    if let window = fault.window { members.merge(window.json) { first, _ in first } }
                    return .object(members)
                }),
            "itineraries": .array(
                self.itineraries.map { itinerary in
                    .object([
                        "groups": .array(itinerary.groups.map { .string($0) }),
                        "phases": .array(
                            itinerary.phases.map { phase in
                                var members = phase.window.json
                                if let link = phase.link { members["link"] = .string(link) }
                                return .object(members)
                            }),
                    ])
                }),
        ])
    }

    /// Skips entries that cannot be read, because no verdict depends on the conditions.
    init(reading value: JSONNode?) {
        self.init(
            faults: (value?["faults"]?.elements ?? []).prefix(Self.entriesMax).compactMap { fault in
                guard let id = fault["id"]?.text, let text = fault["text"]?.text else { return nil }
                return Fault(
                    id: id, text: text, expected: fault["expected"]?.integer.flatMap { $0 < 0 ? nil : $0 },
                    window: Window(reading: fault))
            },
            itineraries: (value?["itineraries"]?.elements ?? []).prefix(Self.entriesMax).compactMap {
                itinerary in
                let phases = (itinerary["phases"]?.elements ?? []).prefix(Self.entriesMax).compactMap {
                    phase in
                    Window(reading: phase).map { Phase(link: phase["link"]?.text, window: $0) }
                }
                guard !phases.isEmpty else { return nil }
                return Itinerary(
                    groups: (itinerary["groups"]?.elements ?? []).compactMap(\.text), phases: phases)
            })
    }
}

extension RunConditions.Window {
    fileprivate var json: [String: JSONValue] {
        var members: [String: JSONValue] = ["from_ns": .integer(self.from.nanoseconds)]
        if let to { members["to_ns"] = .integer(to.nanoseconds) }
        return members
    }

    /// Is nil if the window has no start, or does not end after it.
    fileprivate init?(reading value: JSONNode) {
        guard let from = value["from_ns"]?.integer(Int64.self), from >= 0 else { return nil }
        let to = value["to_ns"]?.integer(Int64.self)
        guard to.map({ $0 > from }) ?? true else { return nil }
        self.init(from: Instant(nanoseconds: from), to: to.map { Instant(nanoseconds: $0) })
    }
}
