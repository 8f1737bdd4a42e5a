package import JSON
import Observations
package import SimBase
import Talaria

/// OpenTelemetry's protocol as JSON (OTLP 1.x, "JSON Protobuf Encoding"): ids are lowercase hexadecimal digits, integers of 64 bits
/// are texts, and enums are numbers.
package struct OTLPWriter: Sendable {
    /// What sent it: `service.name` and others, in this order.
    private let resource: [(key: String, value: SpanAttribute.Value)]
    private let version: String
    let run: UInt64
    /// Nanoseconds since 1970 at the zero of the run.
    private let zero: Int64

    package static let serviceName = "swiftwing-sim"

    package init(
        run: UInt64, zero: Int64, version: String, resource: [(key: String, value: SpanAttribute.Value)]
    ) {
        self.run = run
        self.zero = zero
        self.version = version
        self.resource =
            [
                ("service.name", .text(Self.serviceName)), ("service.version", .text(version)),
                ("swiftwing.run", .text(Hexadecimal.text(run, digits: 16))),
            ] + resource
    }

    // MARK: Requests

    /// What comes before the spans of a request.
    package var head: [UInt8] { self.head(signal: "Spans") }
    /// What comes after them.
    package static let tail = Array("]}]}]}".utf8)

    /// `signal`: `Spans` or `Metrics`.
    private func head(signal: String) -> [UInt8] {
        var writer = JSONWriter(.standard, reserving: 1_024)
        writer.raw("{\"resource\(signal)\":[{\"resource\":{")
        writer.array("attributes", self.resource) { writer, attribute in
            writer.object { object in
                object.member("key", attribute.key)
                Self.write(attribute.value, to: &object)
            }
        }
        writer.raw("},\"scope\(signal)\":[{\"scope\":{\"name\":\"\(Self.serviceName)\",\"version\":")
        writer.text(self.version)
        writer.raw("},\"\(signal.lowercased())\":[")
        return writer.bytes
    }

    /// A whole request. `items`: the metrics, each an object.
    package func metrics(_ items: [[UInt8]]) -> [UInt8] {
        self.head(signal: "Metrics") + items.joined(separator: [UInt8(ascii: ",")]) + Self.tail
    }

    // MARK: Values

    /// Nanoseconds since 1970.
    package func time(_ moment: Instant) -> Int64 { max(0, self.zero &+ moment.nanoseconds) }

    package func write(_ span: Span, to writer: inout JSONWriter) {
        writer.openObject()
        writer.member("traceId") { TraceContext.appendTrace(self.run, span.device, span.scan, to: &$0) }
        writer.member("spanId") { Hexadecimal.append(span.id, digits: 16, to: &$0) }
        if let parent = span.parent {
            writer.member("parentSpanId") { Hexadecimal.append(parent, digits: 16, to: &$0) }
        }
        writer.member("name", span.name)
        writer.member("kind", span.kind.rawValue)
        writer.member("startTimeUnixNano") { Decimal.append(self.time(span.start), to: &$0) }
        writer.member("endTimeUnixNano") { Decimal.append(self.time(span.end), to: &$0) }
        let faults: [SpanAttribute] = span.faults.isEmpty ? [] : [.own("faults", .texts(span.faults))]
        Self.write(span.attributes + faults, to: &writer)
        if !span.events.isEmpty {
            writer.array("events", span.events) { writer, event in
                writer.openObject()
                writer.member("timeUnixNano") { Decimal.append(self.time(event.at), to: &$0) }
                writer.member("name", event.name)
                Self.write(event.attributes, to: &writer)
                writer.closeObject()
            }
        }
        if span.eventsDropped > 0 { writer.member("droppedEventsCount", span.eventsDropped) }
        if span.error != nil { writer.object("status") { $0.member("code", 2) } }
        writer.closeObject()
    }

    private static func write(_ attributes: [SpanAttribute], to writer: inout JSONWriter) {
        guard !attributes.isEmpty else { return }
        writer.array("attributes", attributes) { writer, attribute in
            writer.openObject()
            writer.member("key") { text in
                if attribute.isOwn { text.append(literal: "swiftwing.") }
                text.append(literal: attribute.key)
            }
            Self.write(attribute.value, to: &writer)
            writer.closeObject()
        }
    }

    private static func write(_ value: SpanAttribute.Value, to writer: inout JSONWriter) {
        writer.object("value") { object in
            switch value {
            case .text(let text): object.member("stringValue", text)
            case .number(let number): object.member("intValue") { Decimal.append(number, to: &$0) }
            case .flag(let flag): object.member("boolValue", flag)
            case .texts(let texts):
                object.object("arrayValue") { array in
                    array.array("values", texts) { writer, text in
                        writer.object { $0.member("stringValue", text) }
                    }
                }
            }
        }
    }
}
