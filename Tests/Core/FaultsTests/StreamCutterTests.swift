import Faults
import SimBase
import Testing

struct StreamCutterTests {
    private static let preamble = Array(": ready\nretry: 500\n\n".utf8)
    private static let ping = Array("event: ping\ndata: {}\n\n".utf8)
    private static let event = Array(": t=123\nid: 7\nevent: progress\ndata: {\"n\":1}\n\n".utf8)
    private static let books = Array(": t=9\nid: 8\ndata: 紅樓夢 🌲\n\n".utf8)

    private func cutter(_ cut: Cut, _ trigger: ArmedTrigger, draw: UInt64 = 0) -> StreamCutter {
        guard
            let cutter = StreamCutter(
                ArmedFault(fault: 4, kind: .reset(cut, .reply), trigger: trigger, draw: draw))
        else { preconditionFailure("a reset has a cutter") }
        return cutter
    }

    /// The verdicts on preamble, ping, replay, event, ping, event, books.
    private func verdicts(_ cut: Cut, _ trigger: ArmedTrigger, draw: UInt64 = 0) -> [CutVerdict] {
        var cutter = cutter(cut, trigger, draw: draw)
        return [
            cutter.admit(Self.preamble, .preamble), cutter.admit(Self.ping, .ping),
            cutter.admit(Self.event, .replay), cutter.admit(Self.event, .event),
            cutter.admit(Self.ping, .ping), cutter.admit(Self.event, .event),
            cutter.admit(Self.books, .event),
        ]
    }

    @Test func `between events is right after the n-th new event`() {
        let whole = CutVerdict.cut(bytes: Self.event.count)
        #expect(
            verdicts(.betweenEvents, .afterEvents(1)) == [.pass, .pass, .pass, whole, .pass, .pass, .pass])
        #expect(
            verdicts(.betweenEvents, .afterEvents(2)) == [.pass, .pass, .pass, .pass, .pass, whole, .pass])
        #expect(verdicts(.betweenEvents, .afterEvents(9)) == Array(repeating: .pass, count: 7))
    }

    @Test func `at once and between events is before the first byte`() {
        let first: [CutVerdict] = [.cut(bytes: 0)] + Array(repeating: .pass, count: 6)
        #expect(verdicts(.betweenEvents, .atOnce) == first)
        #expect(verdicts(.betweenEvents, .afterEvents(0)) == first)
        #expect(verdicts(.betweenEvents, .afterBytes(0)) == first)
        #expect(verdicts(.afterBytes(0), .atOnce) == first)
    }

    @Test func `inside an event is in the next one, after its stamp and before its last line end`() {
        let stamp = ": t=123\n".utf8.count
        var offsets: Set<Int> = []
        for step in UInt64(0)..<400 {
            let verdicts = verdicts(.insideEvent, .afterEvents(1), draw: step &* (.max / 400))
            guard case .cut(let offset) = verdicts[5] else { Issue.record("not cut"); return }
            #expect(verdicts.filter { $0 != .pass }.count == 1)
            offsets.insert(offset)
        }
        #expect(offsets == Set(stamp + 1...Self.event.count - 2))
    }

    @Test func `an event that was lost before may be cut again while it is replayed`() {
        let verdicts = verdicts(.insideEvent, .atOnce)
        #expect(verdicts[2] != .pass)
    }

    @Test func `inside UTF-8 waits for a piece with multi-byte text`() {
        var offsets: Set<Int> = []
        for step in UInt64(0)..<200 {
            let verdicts = verdicts(.insideUTF8, .afterEvents(1), draw: step &* (.max / 200))
            #expect(verdicts.dropLast() == Array(repeating: .pass, count: 6)[...])
            guard case .cut(let offset) = verdicts[6] else { Issue.record("not cut"); return }
            let head = Self.books.prefix(offset)
            #expect(String(validating: head, as: UTF8.self) == nil, "the head ends inside a sequence")
            offsets.insert(offset)
        }
        // Three characters of three bytes have two positions each, one of four bytes has three.
        #expect(offsets.count == 9)
    }

    @Test func `inside the line end is between the newlines`() {
        #expect(verdicts(.insideLineEnd, .afterEvents(1))[5] == .cut(bytes: Self.event.count - 1))
        let crlf = Array("data: x\r\n\r\n".utf8)
        var offsets: Set<CutVerdict> = []
        for step in UInt64(0)..<30 {
            var cutter = cutter(.insideLineEnd, .atOnce, draw: step &* (.max / 30))
            offsets.insert(cutter.admit(crlf, .event))
        }
        #expect(offsets == [.cut(bytes: 8), .cut(bytes: 9), .cut(bytes: 10)])
    }

    @Test func `after bytes counts payload of every sort of piece`() {
        let size = Self.preamble.count
        #expect(verdicts(.afterBytes(3), .atOnce)[0] == .cut(bytes: 3))
        #expect(verdicts(.afterBytes(size), .atOnce)[0] == .cut(bytes: size))
        #expect(verdicts(.afterBytes(size + 1), .atOnce)[1] == .cut(bytes: 1))
        #expect(verdicts(.afterBytes(0), .afterBytes(size + 1))[1] == .cut(bytes: 1))
        #expect(verdicts(.afterBytes(4), .afterBytes(size + 1))[1] == .cut(bytes: 5))
        #expect(verdicts(.afterBytes(Self.ping.count), .afterBytes(size + 1))[2] == .cut(bytes: 1))
        #expect(verdicts(.afterBytes(2), .afterEvents(1))[4] == .cut(bytes: 2))
        #expect(verdicts(.afterBytes(.max), .afterBytes(1)) == Array(repeating: .pass, count: 7))
    }

    @Test func `between events with a trigger of bytes is the end of the piece that holds the byte`() {
        #expect(
            verdicts(.betweenEvents, .afterBytes(Self.preamble.count + 1))[1] == .cut(bytes: Self.ping.count))
    }

    @Test func `a time trigger cuts at once between events, in the next event otherwise`() {
        var between = cutter(.betweenEvents, .afterTime(.seconds(2)))
        #expect(between.dueAfter == .seconds(2))
        #expect(between.admit(Self.event, .event) == .pass)
        let isCut = between.triggerTimePassed()
        #expect(isCut == true)
        let again = between.triggerTimePassed()
        #expect(again == false)
        #expect(between.admit(Self.event, .event) == .pass)

        var inside = cutter(.insideEvent, .afterTime(.seconds(2)))
        #expect(inside.admit(Self.event, .event) == .pass)
        let insideIsCut = inside.triggerTimePassed()
        #expect(insideIsCut == false)
        #expect(inside.dueAfter == nil)
        #expect(inside.admit(Self.ping, .ping) == .pass)
        #expect(inside.admit(Self.event, .event) != .pass)
    }

    @Test func `only what cuts a reply off has a cutter, with the ending of its kind`() {
        func ending(_ kind: FaultKind) -> CutEnding? {
            StreamCutter(ArmedFault(fault: 0, kind: kind, trigger: .atOnce, draw: 0))?.ending
        }
        #expect(ending(.expireToken) == nil)
        #expect(ending(.reset(.betweenEvents, .reply)) == .reset)
        #expect(ending(.close(.insideEvent, .reply)) == .close)
        #expect(ending(.silence(.insideUTF8, .reply)) == .silence)
        #expect(ending(.reset(.betweenEvents, .request)) == nil)
        #expect(cutter(.betweenEvents, .atOnce).fault == 4)
    }

    @Test func `hostile pieces do not trap`() {
        let pieces: [[UInt8]] = [
            [], [0x0A], [0x0A, 0x0A], Array(":".utf8), Array(": no end".utf8), [0x80, 0x80], [0xFF, 0x80],
            Array(repeating: 0x0D, count: 9), Array(": a\n".utf8), [0x78],
        ]
        for cut in [Cut.betweenEvents, .insideEvent, .insideUTF8, .insideLineEnd, .afterBytes(3)] {
            for draw in [0, UInt64.max / 2, .max] {
                for piece in pieces {
                    var cutter = cutter(cut, .atOnce, draw: draw)
                    guard case .cut(let offset) = cutter.admit(piece, .event) else { continue }
                    #expect((0...piece.count).contains(offset))
                }
            }
        }
    }
}
