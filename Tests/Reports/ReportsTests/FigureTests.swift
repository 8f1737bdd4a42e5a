import Testing

@testable import Reports

@Suite struct FigureTests {
    @Test(
        arguments: [
            (0, "0ns"), (999, "999ns"), (1_000, "1.00µs"), (48_249, "48.2µs"), (812_400, "812µs"),
            (999_499, "999µs"), (999_500, "1.00ms"), (48_200_000, "48.2ms"), (9_995_000, "10.0ms"),
            (1_210_000_000, "1.21s"), (12_400_000_000, "12.4s"), (312_000_000_000, "312s"),
            (-1_500_000, "-1.50ms"), (599_999_000_000, "600s"),
            (602_000_000_000, "10\u{A0}min\u{A0}2\u{A0}s"),
            (18_602_000_000_000, "5\u{A0}h\u{A0}10\u{A0}min"),
        ] as [(Int64, String)]) func `a time has three digits and a unit`(nanoseconds: Int64, text: String)
    {
        #expect(Figures.time(nanoseconds) == text)
    }

    @Test func `counts are grouped by thousands`() {
        #expect(
            [0, 999, 1_000, 1_234_567, -12_345].map { Figures.count($0) } == [
                "0", "999", "1,000", "1,234,567", "-12,345",
            ])
        #expect(Figures.count(1, "book", "books") == "1 book")
        #expect(Figures.count(0, "book", "books") == "0 books")
    }

    @Test func `lengths grow from seconds to hours`() {
        #expect(Figures.length(.milliseconds(34_210)) == "34.2 s")
        #expect(Figures.length(.seconds(724)) == "12 min 4 s")
        #expect(Figures.length(.minutes(125)) == "2 h 5 min")
    }
}
