import Faults
import SimBase
import Testing

struct SlicerTests {
    private func slicer(_ bytes: ClosedRange<Int>, window: FaultWindow = .always, draw: UInt64 = 5) -> Slicer
    {
        let fault = ArmedFault(
            fault: 3, kind: .slice(bytes: bytes), trigger: .atOnce, window: window, draw: draw)
        guard let slicer = Slicer(fault) else { preconditionFailure("a slice has a slicer") }
        return slicer
    }

    @Test func `a small block is cut as finely as asked for`() {
        var slicer = slicer(1...1)
        let lengths = slicer.cut(300, at: .zero)
        #expect(lengths == Array(repeating: 1, count: 300))
        #expect(slicer.fault == 3)
    }

    @Test func `the lengths are drawn from the range, one for each piece, and add up`() throws {
        var slicer = slicer(2...6)
        let first = slicer.cut(200, at: .zero)
        let lengths = try #require(first)
        #expect(lengths.reduce(0, +) == 200)
        #expect(lengths.dropLast().allSatisfy { (2...6).contains($0) })
        #expect(Set(lengths.dropLast()) == [2, 3, 4, 5, 6])
        let second = slicer.cut(200, at: .zero)
        #expect(second != lengths, "the next block has draws of its own")
    }

    @Test func `the same draw cuts alike`() {
        var (one, same, other) = (slicer(1...7), slicer(1...7), slicer(1...7, draw: 6))
        let lengths = one.cut(150, at: .zero)
        let again = same.cut(150, at: .zero)
        let different = other.cut(150, at: .zero)
        #expect(lengths == again)
        #expect(lengths != different)
    }

    @Test(arguments: [513, 1_025, 60_000, 4_000_000])
    func `a large block comes in larger pieces instead of more`(bytes: Int) throws {
        var slicer = slicer(1...1)
        let cut = slicer.cut(bytes, at: .zero)
        let lengths = try #require(cut)
        #expect(lengths.reduce(0, +) == bytes)
        #expect(lengths.count <= Slicer.piecesMax && lengths.count > Slicer.piecesMax / 2)
    }

    @Test func `a block that fits into one piece stays whole, and so does one outside the window`() {
        var long = slicer(1_400...1_400)
        let whole = long.cut(1_400, at: .zero)
        #expect(whole == nil)
        var empty = slicer(1...1)
        let nothing = empty.cut(0, at: .zero)
        #expect(nothing == nil)
        var timed = slicer(1...1, window: FaultWindow(at: .seconds(2), length: .seconds(1)))
        let before = timed.cut(10, at: seconds(1))
        let inside = timed.cut(10, at: seconds(2))
        let after = timed.cut(10, at: seconds(3))
        #expect(before == nil)
        #expect(inside?.count == 10)
        #expect(after == nil)
    }

    @Test func `other kinds have none`() {
        #expect(Slicer(ArmedFault(fault: 0, kind: .refuse, trigger: .atOnce, draw: 0)) == nil)
    }
}
