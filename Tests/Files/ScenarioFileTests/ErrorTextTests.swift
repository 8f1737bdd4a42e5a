import Testing

@testable import ScenarioFile

/// What people read when they got something wrong, byte for byte.
struct ErrorTextTests {
    @Test func `a misspelled key names the nearest one`() {
        #expect(
            rendered(
                """
                scenario: 1
                fleet:
                  phones:
                    phoens: 40
                    arrivals: 6/s
                """) == """
                    test.scenario:4:5: unknown key `phoens` in a group
                            phoens: 40
                            ^^^^^^
                    help: did you mean `phones`?
                    """)
    }

    @Test func `a missing unit says which there are`() {
        #expect(
            rendered(minimal + "server: {ping: 400}\n") == """
                test.scenario:6:16: a duration needs a unit
                    server: {ping: 400}
                                   ^^^
                help: write `400ms` or `400s`
                """)
    }

    @Test func `all errors come at once, in the order of the file`() {
        #expect(
            rendered(
                """
                scenario: 2
                seed: minus
                fleet:
                  phones: {phones: 0, arrivals: 6, spacing: possion}
                faults:
                  - {do: reset, chance: 0.3}
                  - {do: slience, on: stream}
                slo:
                  sse.conect.time: p(95) < 400ms
                  sse.connect.time: p95 < 400
                """) == """
                    test.scenario:1:11: unknown version `2`
                        scenario: 2
                                  ^
                    help: this program reads version 1

                    test.scenario:2:7: a seed must be a whole number from 0 to 18446744073709551615
                        seed: minus
                              ^^^^^

                    test.scenario:4:20: the number of phones must be a number from 1 to 1000000, not 0
                          phones: {phones: 0, arrivals: 6, spacing: possion}
                                           ^

                    test.scenario:4:33: a rate needs a unit
                          phones: {phones: 0, arrivals: 6, spacing: possion}
                                                        ^
                    help: write `6/s` or `6/m`

                    test.scenario:4:45: `spacing` must be `uniform`, `poisson` or `burst(n)`, not `possion`
                          phones: {phones: 0, arrivals: 6, spacing: possion}
                                                                    ^^^^^^^
                    help: did you mean `poisson`?

                    test.scenario:6:25: a share needs a unit
                          - {do: reset, chance: 0.3}
                                                ^^^
                    help: write `0.3%` or `30%`

                    test.scenario:7:10: unknown fault `slience`
                          - {do: slience, on: stream}
                                 ^^^^^^^
                    help: did you mean `silence`?

                    test.scenario:9:3: unknown metric `sse.conect.time`
                          sse.conect.time: p(95) < 400ms
                          ^^^^^^^^^^^^^^^
                    help: did you mean `sse.connect.time`?

                    test.scenario:10:21: unknown aggregation `p95`
                          sse.connect.time: p95 < 400
                                            ^^^
                    help: did you mean `p(95)`?
                    """)
    }

    @Test func `an error inside a value points at the part that is wrong`() {
        #expect(
            rendered(minimal + "server:\n  job-time: \"1s..3 sec\"\n  links: https://a.example/\n") == """
                test.scenario:7:13: a duration needs a unit
                      job-time: "1s..3 sec"
                                ^^^^^^^^^^^
                help: write `3ms` or `3s`

                test.scenario:8:10: `links` must be `relative`, `absolute` or a base URL such as `https://api.example`, without a trailing slash
                      links: https://a.example/
                             ^^^^^^^^^^^^^^^^^^
                """)
        #expect(
            rendered(minimal + "server: {ping: 2sec}\n") == """
                test.scenario:6:17: unknown unit `sec`: the units of a duration are ns, us, ms, s, m and h
                    server: {ping: 2sec}
                                    ^^^
                help: did you mean `2s`?
                """)
        #expect(
            rendered(minimal + "slo:\n  \"scans.lost\": 'count = 0'\n") == """
                test.scenario:7:24: unknown operator `=`
                      "scans.lost": 'count = 0'
                                           ^
                help: did you mean `==`?
                """)
    }

    @Test(arguments: ["0", "6", "0..3", "4..6"])
    func `a scan has one to five photos`(photos: String) {
        let text = rendered(minimal, set: ["fleet.phones.photos-per-scan=\(photos)"])
        #expect(text.contains("the number of photos of a scan must be a number from 1 to 5, not"), "\(text)")
    }

    @Test func `a cancel has a chance, and a time with a unit`() {
        func told(_ cancel: String) -> String { rendered(minimal, set: ["fleet.phones.cancel=\(cancel)"]) }
        #expect(told("{after: 1s}").contains("a cancel needs `chance`"))
        #expect(told("{chance: 0%}").contains("a user who cancels nothing has no `cancel`"))
        #expect(told("{chance: 10}").contains("--set fleet.phones.cancel"))
        #expect(told("{chance: 10%, at: 1s}").contains("unknown key `at` in a cancel"))
        #expect(told("{chance: 10%, after: 5s..1s}") != "")
        #expect(told("10%").contains("a cancel must be a map"))
        #expect(told("{chance: 10%}") == "no errors")
    }

    @Test func `an override is named by the option`() {
        #expect(
            rendered(minimal, set: ["fleet.phones.phones=many"]) == """
                --set fleet.phones.phones=many: the number of phones must be a whole number
                    fleet.phones.phones=many
                                        ^^^^
                """)
        #expect(
            rendered(minimal, set: ["fleet.fones.phones=4"]) == """
                --set fleet.fones.phones=4: there is no `fones` to change
                    fleet.fones.phones=4
                    ^^^^^^^^^^^^^^^^^^
                help: did you mean `phones`?
                """)
        #expect(
            rendered(minimal, set: ["fleet.phones.resme=off"]) == """
                --set fleet.phones.resme=off: unknown key `resme` in a group
                    fleet.phones.resme=off
                    ^^^^^^^^^^^^^^^^^^
                help: did you mean `resume`?
                """)
        #expect(
            rendered(minimal, set: ["seed"]) == """
                --set seed: an override must have the form path=value
                    seed
                    ^^^^
                help: for example `--set fleet.commuters.phones=80`
                """)
    }

    @Test func `broken YAML is told with its location`() {
        #expect(
            rendered("scenario: 1\nfleet:\n\tphones: 1\n") == """
                test.scenario:3:1: invalid YAML: found character that cannot start any token while scanning for the next token
                    \tphones: 1
                    ^
                help: indent with spaces: YAML does not allow tabs here
                """)
        #expect(
            rendered("scenario: 1\nfleet: {a: 1\n") == """
                test.scenario:3:1: invalid YAML: did not find expected ',' or '}' while parsing a flow mapping
                help: the `{` in line 2 is not closed
                """)
    }

    @Test func `an indentation that may be wrong is named, in whichever line the parser noticed it`() {
        #expect(
            rendered("scenario: 1\nfleet:\n  a:\n    phones: 2\n   arrivals: 1/s\n") == """
                test.scenario:5:4: invalid YAML: did not find expected key while parsing a block mapping
                       arrivals: 1/s
                       ^
                help: the indentation of this line or of the line above may be wrong: what belongs together begins in one column
                """)
        let indentation = "the indentation of this line or of the line above may be wrong"
        let cases = [
            ("faults:\n  - {do: reset}\n    - {do: offline}\n", 8, indentation + ": what belongs together"),
            ("server:\n  ping: 1s\n    books: 3\n", 8, indentation + ", or the key above lacks a colon"),
            ("server:\n  ping:1s\n  books: 3\n", 8, indentation + ", or the key above lacks a colon"),
            ("description: one: two\n", 6, "quote a value that contains a colon and a blank"),
            ("faults: - {do: reset}\n", 6, "begin the list in the line below its key"),
            ("slo\n  scan.time: p(95) < 1s\n", 7, "the key in line 6 lacks its colon"),
        ]
        for (text, line, help) in cases {
            let found = errors(minimal + text)
            #expect(found.map(\.line) == [line], "\(text)")
            #expect(found.first?.help?.hasPrefix(help) == true, "\(text): \(found.first?.help ?? "no help")")
        }
    }

    @Test func `a run that can never succeed is told where`() {
        #expect(
            rendered(
                minimal + "faults:\n  - {do: reset, on: stream, count: each-attempt}\n  - {do: offline}\n")
                    == """
                    test.scenario:7:36: every attempt is cut off before an event can arrive, so no stream can make progress
                          - {do: reset, on: stream, count: each-attempt}
                                                           ^^^^^^^^^^^^
                    help: leave out `count` (default: once per scan), or let some events pass with `after: 1..4 events`

                    test.scenario:8:10: `offline` without an end: an affected phone cannot finish its scans
                          - {do: offline}
                                 ^^^^^^^
                    help: add a duration, for example `for: 4s`
                    """)
    }

    @Test func `colors are the only difference that color makes`() {
        guard let error = errors(minimal + "sed: 1\n").first else { Issue.record("no error"); return }
        #expect(
            error.render(color: true)
                == "\u{1B}[1mtest.scenario:6:1:\u{1B}[0m unknown key `sed` in a scenario\n    sed: 1\n    \u{1B}[31m^^^\u{1B}[0m\n\u{1B}[32mhelp:\u{1B}[0m did you mean `seed`?"
        )
    }

    @Test func `twenty errors are shown and the others counted`() {
        let text = minimal + (1...33).map { "wrong-\($0): 1\n" }.joined()
        #expect(errors(text).count == 33)
        #expect(rendered(text).hasSuffix("\n\nand 13 more"))
    }

    @Test func `a caret stands under its column, in any script and after tabs`() {
        let error = errors(minimal + "description: {日本: 1,\tb: 2}\n").first
        #expect(error?.column == 14)
        #expect(
            errors("scenario: 1\n日本語: 1\n\"\\u00e9t\\u00e9\": 2\n" + minimal.dropFirst(12)).map(\.column) == [
                1, 1,
            ])
        #expect(errors("scenario: 1\n日本語: 1\n" + minimal.dropFirst(12)).map(\.caretLength) == [3])
    }

    @Test func `of a very long line only the part around the location is shown`() {
        let long = minimal + "name: " + String(repeating: "x", count: 5_000) + "!\n"
        guard let error = errors(long).first else { Issue.record("no error"); return }
        #expect(error.sourceLine.count <= 140)
        #expect(error.caretOffset + error.caretLength <= 140)
        #expect(!error.message.contains("xxxxx"))
    }
}
