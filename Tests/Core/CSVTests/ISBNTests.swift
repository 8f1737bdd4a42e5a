import CSV
import Testing

@Suite struct ISBNTests {
    @Test(arguments: [
        ("9780306406157", "9780306406157"), ("0306406152", "9780306406157"),
        ("978-0-306-40615-7", "9780306406157"), ("0-306-40615-2", "9780306406157"),
        ("080442957X", "9780804429573"), ("0 8044 2957 x", "9780804429573"),
        ("9791090636071", "9791090636071"),
    ]) func `a number of ten digits is the same book as one of thirteen`(text: String, digits: String) {
        #expect(ISBN(text)?.digits == digits)
    }

    @Test(arguments: [
        "", "9780306406158", "0306406153", "978030640615", "97803064061577", "9770306406157", "X306406152",
        "978030640615X", "９780306406157", "030640615x", "9771234567898",
    ]) func `anything else is no number`(text: String) {
        #expect(ISBN(text) == nil)
    }

    @Test func `a number is written with ten digits and read again`() {
        for number in stride(from: 0 as UInt64, through: 999_999_999, by: 7_654_321) {
            let isbn = ISBN(number: number)
            #expect(ISBN(isbn.digits) == isbn)
            #expect(isbn.tenDigits.flatMap { ISBN($0) } == isbn)
        }
        #expect(ISBN("9791090636071")?.tenDigits == nil)
        #expect(ISBN(number: 080_442_957).tenDigits == "080442957X")
    }
}
