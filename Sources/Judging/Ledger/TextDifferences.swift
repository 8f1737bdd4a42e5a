package import Metrics
package import SimBase
package import Talaria

/// Where what a phone has read and what the backend has found are different texts: how often, with what outcome, and the first
/// of them by phone, scan and field. Which text is right is known where the backend is observed.
package struct TextDifferences: Hashable, Sendable {
    /// Which of both texts is that of the book.
    package enum Right: String, CaseIterable, Hashable, Sendable {
        case talaria
        case foundationModels = "foundation-models"
        case neither
    }

    package struct Kind: CaseIterable, Hashable, Sendable {
        package let field: Reconciliation.Field
        /// Whose text the library has.
        package let chosen: Reconciliation.Source
        package let right: Right

        package init(field: Reconciliation.Field, chosen: Reconciliation.Source, right: Right) {
            self.field = field
            self.chosen = chosen
            self.right = right
        }

        package static let allCases: [Self] = Reconciliation.Field.allCases.flatMap { field in
            Reconciliation.Source.allCases.flatMap { chosen in
                Right.allCases.map { Self(field: field, chosen: chosen, right: $0) }
            }
        }
    }

    package struct Example: Hashable, Sendable {
        package let device: DeviceNumber
        package let scan: ScanNumber
        package let kind: Kind
        /// The text of the phone, and that of the backend.
        package let read: String
        package let verified: String

        package init(
            device: DeviceNumber, scan: ScanNumber, kind: Kind, read: String, verified: String
        ) {
            self.device = device
            self.scan = scan
            self.kind = kind
            self.read = read.bounded
            self.verified = verified.bounded
        }

        /// A scan has one of each field at most.
        fileprivate func comes(before other: Self) -> Bool {
            if self.device != other.device { return self.device < other.device }
            if self.scan != other.scan { return self.scan < other.scan }
            return self.kind.field == .title && other.kind.field == .author
        }
    }

    package static let firstMax = 20

    package var counts = EnumCounts<Kind>()
    package private(set) var first: [Example] = []

    package init() {}

    /// Keeps an example without counting it.
    package mutating func keep(_ example: Example) {
        let index = self.first.firstIndex { example.comes(before: $0) } ?? self.first.count
        guard index < Self.firstMax else { return }
        self.first.insert(example, at: index)
        if self.first.count > Self.firstMax { self.first.removeLast() }
    }

    package mutating func add(_ other: Self) {
        self.counts.add(other.counts)
        for example in other.first { self.keep(example) }
    }
}
