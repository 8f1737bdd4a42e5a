import ReportSamples
import Reports
import RunJudge
import SimBase
import Testing

@testable import RunArchive

@Suite struct PrintableTests {
    @Test func `controls and invisible signs are taken out, line breaks become spaces`() {
        #expect(Printable.line("a\u{1B}[2Jb\nc\td\u{7}e\u{9B}f") == "a[2Jb c def")
        #expect(Printable.line("left\u{202E}right\u{200B}\u{2066}\u{FEFF}") == "leftright")
        #expect(Printable.line("one\u{2028}two\u{2029}three") == "one two three")
    }

    @Test func `what is too long is cut between characters and marked`() {
        #expect(Printable.bounded("aé€😀b", bytesMax: 11) == "aé€😀b")
        #expect(Printable.bounded("aé€😀b", bytesMax: 10) == "aé€😀…")
        #expect(Printable.bounded("aé€😀b", bytesMax: 9) == "aé€…")
        #expect(Printable.line(String(repeating: "x", count: 100_000)).utf8.count == Printable.bytesMax + 3)
    }

    @Test func `wide and combining characters are counted in columns`() {
        #expect(Printable.width("abc") == 3)
        #expect(Printable.width("e\u{301}") == 1)
        #expect(Printable.width("書架") == 4)
        #expect(Printable.width("📚") == 2)
        #expect(Printable.fitted("書架書架", columns: 6, mark: "…") == "書架…")
        #expect(Printable.fitted("bookshelf", columns: 6, mark: "...") == "boo...")
        #expect(Printable.fitted("bookshelf", columns: 2, mark: "...") == "..")
    }

    @Test func `for a terminal that knows only ASCII nothing else is left`() {
        #expect(Printable.ascii("5µs × 2 · “a”…") == "5us x 2 - \"a\"...")
        #expect(Printable.ascii("書") == "?")
    }
}

@Suite struct SHA256Tests {
    /// FIPS 180-4's own examples, and lengths around the edge of a block.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 55),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"
        ),
        (
            String(repeating: "a", count: 56),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"
        ),
        (
            String(repeating: "a", count: 63),
            "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"
        ),
        (
            String(repeating: "a", count: 64),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
        ),
        (
            String(repeating: "a", count: 65),
            "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"
        ),
        (
            String(repeating: "a", count: 119),
            "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"
        ),
        (
            String(repeating: "a", count: 120),
            "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"
        ),
        (
            String(repeating: "a", count: 1000),
            "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
        ),
    ]) func `a digest is the published one`(message: String, digest: String) {
        #expect(SHA256.hexadecimal(of: Array(message.utf8)) == digest)
    }
}

@Suite struct RerunCommandTests {
    @Test func `no secret of the command line is handed around`() {
        let words = RerunCommand.words([
            "swiftwing-sim", "run", "x", "--header", "Authorization: Bearer abc", "--header=X-Key: k",
            "--target", "https://user:secret@host.example/a@b", "--set", "a@b://c",
        ])
        #expect(
            words == [
                "swiftwing-sim", "run", "x", "--header", "Authorization: (left-out)",
                "--header=X-Key: (left-out)", "--target", "https://(left-out)@host.example/a@b", "--set",
                "a@b://c",
            ])
        // Names of files and variables are none.
        let named = ["--header", "@gateway.txt", "--header", "X-Key: ${KEY}"]
        #expect(RerunCommand.words(named) == named)
        #expect(
            RerunCommand.words(["--header", "X-Key: ${KEY:-abc}", "--header", "X-Key: a${KEY}"])
                == ["--header", "X-Key: (left-out)", "--header", "X-Key: (left-out)"])
        var result = Samples.passed()
        #expect(result.command == ["swiftwing-sim", "run", "flaky-network.scenario", "--seed", "42"])
        result = Samples.passed(command: ["swiftwing-sim", "run", "x", "--header", "Cookie: abc"])
        #expect(!TerminalSummary.text(result, style: .plain).contains("abc"))
        #expect(!MarkdownReport.text(result).contains("abc"))
    }

    @Test func `a word that a shell would take apart is quoted`() {
        #expect(
            RerunCommand.line(["run", "a b", "it's", "", "--set=a=b"]) == #"run 'a b' 'it'\''s' '' --set=a=b"#
        )
    }
}
