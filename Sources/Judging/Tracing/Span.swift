import Observations
package import SimBase
import Talaria

/// One span of a scan's trace: the scan, the preparation of its photo, or one request. Times are of the run's clock.
package struct Span: Sendable {
    /// The numbers of OTLP.
    package enum Kind: Int64, Sendable {
        case `internal` = 1
        case client = 3
    }

    package struct Event: Sendable {
        package var at: Instant
        package var name: StaticString
        package var attributes: [SpanAttribute]
    }

    /// More events of one span are counted and left out.
    package static let eventsMax = 48

    package let device: DeviceNumber
    package let scan: ScanNumber
    /// As `TraceContext.span` has it.
    package let id: UInt64
    /// Nil for the span of the scan.
    package let parent: UInt64?
    package let name: String
    package let kind: Kind
    package var start: Instant
    package var end: Instant
    package var attributes: [SpanAttribute]
    /// Ids of the faults that have fired, each once.
    package var faults: [String] = []
    package var events: [Event] = []
    package var eventsDropped = 0
    /// What OpenTelemetry calls `error.type`; nil without an error.
    package private(set) var error: String?

    init(
        _ device: DeviceNumber, _ scan: ScanNumber, id: UInt64, isRoot: Bool, _ name: String, _ kind: Kind,
        from start: Instant, _ attributes: [SpanAttribute]
    ) {
        self.device = device
        self.scan = scan
        self.id = id
        self.parent = isRoot ? nil : TraceContext.span(ownNumber: 1)
        self.name = name
        self.kind = kind
        self.start = start
        self.end = start
        self.attributes = attributes
    }

    mutating func add(_ attribute: SpanAttribute) { self.attributes.append(attribute) }

    /// Notes what an observation says, with its own name and fields.
    mutating func note(_ payload: PhoneObservation, at moment: Instant) {
        guard self.events.count < Self.eventsMax else {
            self.eventsDropped += 1
            return
        }
        var codec = EventCodec()
        ObservationPayload.phone(payload).write(to: &codec)
        self.events.append(Event(at: moment, name: codec.name, attributes: codec.attributes))
    }

    mutating func fired(_ fault: String) {
        if !self.faults.contains(fault) { self.faults.append(fault) }
    }

    /// The first error counts. `cause`: who is to blame for it, where that is known.
    mutating func fail(_ error: String, _ cause: Cause?) {
        guard self.error == nil else { return }
        self.error = error
        self.add(.standard("error.type", .text(error)))
        guard let cause else { return }
        self.add(.own("cause", .text(cause.by)))
        guard let fault = cause.fault else { return }
        self.add(.own("cause.fault", .text(fault)))
        // Live, an error may be observed before the fault that has caused it.
        self.fired(fault)
    }
}

/// A key with a value. Keys of OpenTelemetry's conventions are written as they are, and own ones behind `swiftwing.`.
package struct SpanAttribute: Sendable {
    package enum Value: Hashable, Sendable {
        case text(String)
        case number(Int64)
        case flag(Bool)
        case texts([String])
    }

    package let key: StaticString
    package let isOwn: Bool
    package let value: Value

    package static func own(_ key: StaticString, _ value: Value) -> Self {
        Self(key: key, isOwn: true, value: value)
    }

    package static func standard(_ key: StaticString, _ value: Value) -> Self {
        Self(key: key, isOwn: false, value: value)
    }
}

/// Makes attributes of the fields of an observation.
private struct EventCodec: FieldCodec {
    private static let textBytesMax = 128

    var name: StaticString = ""
    var attributes: [SpanAttribute] = []

    var isReader: Bool { false }

    mutating func begin(_ side: Side, _ name: StaticString) { self.name = name }

    mutating func number(_ key: StaticString, _ value: Int64?) -> Int64? {
        if let value { self.attributes.append(.own(key, .number(value))) }
        return value
    }

    mutating func identifier(_ key: StaticString, _ value: UInt64) -> UInt64 {
        self.attributes.append(.own(key, .text(Hexadecimal.text(value, digits: 16))))
        return value
    }

    mutating func flag(_ key: StaticString, _ value: Bool?) -> Bool? {
        if let value { self.attributes.append(.own(key, .flag(value))) }
        return value
    }

    mutating func text(_ key: StaticString, _ value: String?) -> String? {
        if let value {
            self.attributes.append(.own(key, .text(Printable.bounded(value, bytesMax: Self.textBytesMax))))
        }
        return value
    }
}
