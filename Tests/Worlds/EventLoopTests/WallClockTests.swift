import EventLoop
import Testing

@Suite struct WallClockTests {
    private static let second: Int64 = 1_000_000_000

    @Test func `a live run needs a clock between 1970 and 2249`() {
        #expect(WallClock.flaw(of: -1) == "a time before 1970")
        #expect(WallClock.flaw(of: -315_619_200 * Self.second) == "a time before 1970")
        #expect(WallClock.flaw(of: 0) == nil)
        #expect(WallClock.flaw(of: 8_835_955_199 * Self.second) == nil)
        #expect(WallClock.flaw(of: 8_835_955_200 * Self.second) == "a time after 2249")
        #expect(WallClock.flaw(of: WallClock.now()) == nil)
    }
}
