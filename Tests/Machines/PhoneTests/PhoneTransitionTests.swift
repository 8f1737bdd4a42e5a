import SimTestSupport
import Testing

/// The transitions of the phone's machines: each input is applied in each state, and `Docs/machines` is made from what
/// follows.
@Suite struct PhoneTransitionTests {
    @Test(arguments: ScanState.allCases)
    func `a state of a scan is reached`(state: ScanState) {
        #expect(state.reached().scanState == state)
    }

    @Test(arguments: ProcessState.allCases)
    func `a state of the process is reached`(state: ProcessState) {
        #expect(state.reached().processState == state)
    }

    @Test func `every state of a scan but the first is left and entered`() {
        let table = TransitionTable.scan
        for state in ScanState.allCases {
            #expect(state == .waiting || table.contains { $0.to == state.rawValue })
            #expect(state == .settled || table.contains { $0.from == state.rawValue })
        }
    }

    @Test func `the pages of the machines are what the code does`() throws {
        #expect(try MachinePage("scan", TransitionTable.scanPage).difference() == nil)
        #expect(try MachinePage("process", TransitionTable.processPage).difference() == nil)
    }
}
