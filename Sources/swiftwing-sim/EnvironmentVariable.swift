/// The variables of the environment that change what the program prints. Scenarios read others by `${NAME}`.
struct EnvironmentVariable {
    var name: String
    var effect: String

    static let all: [EnvironmentVariable] = [
        .init(name: "COLUMNS", effect: "width of the output, before that of the terminal"),
        .init(name: "NO_COLOR", effect: "no colors, if it is not empty"),
        .init(name: "FORCE_COLOR", effect: "colors also without a terminal, unless it is 0"),
        .init(name: "TERM", effect: "dumb: no colors and no moving progress line"),
        .init(name: "CI", effect: "no moving progress line"),
        .init(name: "LC_ALL, LC_CTYPE, LANG", effect: "marks in ASCII, if the name has no UTF-8"),
    ]
}
