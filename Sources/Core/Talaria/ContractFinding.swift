import JSON
import SimBase

/// Something in a server's answer or event that the contract does not foresee (Docs/design.md section 11.9):
/// neither an error nor silence.
package struct ContractFinding: Hashable, Sendable {
    package var operation: Operation
    /// Which answer or event of the operation: `202`, `completed`.
    package var part: String
    /// The location: a JSON path (`data.sseUrl`), `header Retry-After`, `body` or `event`.
    package var path: String
    /// The kind that the contract requires: `a string`.
    package var expected: String
    /// The kind that was found: `missing`, `a number`.
    package var seen: String
    /// An excerpt of what was there, as the server wrote it; bounded, and never fit to print as it is.
    package var excerpt: String?
    /// Whether the answer or the event could not be used because of it.
    package var isDecisive: Bool
    /// The number of occurrences in this one response.
    package var count: Int

    package static let textBytesMax = 80

    package init(
        operation: Operation, part: String, path: String, expected: String, seen: String, excerpt: String?,
        isDecisive: Bool, count: Int
    ) {
        self.operation = operation
        self.part = part
        self.path = path
        self.expected = expected
        self.seen = seen
        self.excerpt = excerpt
        self.isDecisive = isDecisive
        self.count = count
    }
}

extension ContractFinding {
    /// The part of the findings about requests. Others are about answers and events.
    package static let requestPart = "request"

    /// What is expected where something is there that the contract does not have.
    static let member = "a field of the contract"
    package static let event = "an event of the contract"
    package static let dottedEvent = "an event with a dotted name"

    /// Whether it is something in addition to the contract, which breaks no client: a member, an event or a
    /// code that the contract does not have, a `completed` of v2 without its job, what it leaves
    /// open, or a rule that the scenario does not insist on.
    package var isAdditional: Bool {
        [Self.member, Self.event, Self.dottedEvent].contains(self.expected)
            || self.path == "code" || self.path.hasSuffix(".code")
            || self.path == "jobId" && self.seen == "missing"
            || self.path.hasPrefix(TargetNote.prefix) || self.path.hasPrefix(TargetRule.prefix)
    }

    package enum Side: Hashable, Sendable {
        /// The phone, or another client.
        case client
        case target
    }

    /// Whose deviation it is.
    package var side: Side { self.part == Self.requestPart ? .client : .target }
}

/// The findings of a reader in one response or event. An empty value allocates no memory.
package struct ContractNotes: Sendable {
    package struct Note: Hashable, Sendable {
        package var path: String
        package var expected: String
        package var seen: String
        package var excerpt: String?
        package var isDecisive: Bool
        package var count = 1
    }

    /// Different ones of one answer; what is beyond them is not noted.
    private static let notesMax = 16

    package private(set) var notes: [Note] = []

    package init() {}

    package var isEmpty: Bool { self.notes.isEmpty }

    package mutating func add(
        _ path: String, expected: String, seen: String, excerpt: String? = nil, isDecisive: Bool = false
    ) {
        let index = self.notes.firstIndex {
            $0.path == path && $0.expected == expected && $0.seen == seen && $0.isDecisive == isDecisive
        }
        if let index {
            self.notes[index].count += 1
        } else if self.notes.count < Self.notesMax || isDecisive {
            self.notes.append(
                Note(
                    path: path, expected: expected, seen: seen,
                    excerpt: excerpt.map(\.bounded), isDecisive: isDecisive))
        }
    }

    package func findings(_ operation: Operation, _ part: String) -> [ContractFinding] {
        self.notes.map {
            ContractFinding(
                operation: operation, part: part, path: $0.path, expected: $0.expected, seen: $0.seen,
                excerpt: $0.excerpt, isDecisive: $0.isDecisive, count: $0.count)
        }
    }
}
