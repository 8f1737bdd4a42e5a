import Phone
import SimBase
import Talaria
import Testing

/// However the bytes of a stream are cut, the phone does the same.
struct SplitTests {
    private var text: [UInt8] {
        Array(
            ("\u{FEFF}: connection established\r\nretry: 1500\r\n\r\n: t=1000000\n" + Wording.progress("1-é📚")
                + Wording.event("ping", id: nil, "{}") + "event: odd\rid: 2\rdata: x\r\r"
                + "data: a\ndata: b\n\n: t=2000000 replayed\n"
                + Wording.event("progress", id: "3", "{broken") + Wording.progress("4")
                + Wording.completed(books: 3) + Wording.completed("10-final", books: 4)).utf8)
    }

    private func effects(cutting pieces: [ArraySlice<UInt8>]) -> [AppEffect] {
        var phone = TestPhone()
        phone.captureToStream()
        _ = phone.take()
        phone.now = .zero + .milliseconds(3)
        guard let request = phone.request(.stream) else { return [] }
        for piece in pieces { phone.handle(.replyBytes(request.id, Array(piece)[...])) }
        return phone.take()
    }

    @Test func `any cut in two gives the same effects`() {
        let bytes = text
        let whole = effects(cutting: [bytes[...]])
        #expect(whole.contains { if case .store(.book, _) = $0 { true } else { false } })
        for cut in 0...bytes.count {
            #expect(effects(cutting: [bytes[..<cut], bytes[cut...]]) == whole, "cut at \(cut)")
        }
    }

    @Test(arguments: 1...8)
    func `and so does any cut in many`(size: Int) {
        let bytes = text
        let pieces = stride(from: 0, to: bytes.count, by: size).map {
            bytes[$0..<min($0 + size, bytes.count)]
        }
        #expect(effects(cutting: pieces) == effects(cutting: [bytes[...]]))
    }
}
