/// Zsh, as a file `_swiftwing-sim` in a folder of `fpath`, or sourced after `compinit`.
enum ZshCompletion {
    static var text: String {
        """
        #compdef swiftwing-sim
        # zsh completion for swiftwing-sim, made by 'swiftwing-sim completion zsh'
        _swiftwing_sim_scenarios() {
            local -a names
            names=(${(f)"$(swiftwing-sim list --names 2>/dev/null)"})
            compadd -a names
            _files -g '*.(scenario|json)'
        }

        _swiftwing_sim() {
            local -a commands
            commands=(
        \(CommandWords.first.map { "        \(Self.described($0, CommandWords.summary(ofFirst: $0)))" }.joined(separator: "\n"))
            )
            if (( CURRENT == 2 )); then
                _describe -t commands command commands
                return
            fi
            local command=$words[2]
            shift words
            (( CURRENT-- ))
            case $command in
        \(CommandWords.twoWords.map(Self.secondWord).joined(separator: "\n"))
            esac
            case $command in
            help) _arguments '1:command or topic:(\(CommandWords.helpTopics.joined(separator: " ")))' ;;
        \(Command.all.map(Self.branch).joined(separator: "\n"))
            esac
        }

        if [[ $funcstack[1] == _swiftwing-sim ]]; then
            _swiftwing_sim "$@"
        else
            compdef _swiftwing_sim swiftwing-sim
        fi
        """
    }

    private static func described(_ word: String, _ text: String) -> String {
        "'\(word):\(Self.quoted(text))'"
    }

    private static func secondWord(_ first: String, _ seconds: [String]) -> String {
        """
            \(first))
                if (( CURRENT == 2 )); then
                    compadd \(seconds.joined(separator: " "))
                    return
                fi
                command="$command $words[2]"
                shift words
                (( CURRENT-- ))
                ;;
        """
    }

    private static func branch(_ command: Command) -> String {
        let specs = command.options.map(Self.spec) + ["'--help[show this help]'"] + Self.operand(command)
        let name = command.name.contains(" ") ? "'\(command.name)'" : command.name
        return
            (["    \(name))", "        _arguments \\"]
            + specs.dropLast().map { "            \($0) \\" } + specs.suffix(1).map { "            \($0)" }
            + ["        ;;"]).joined(separator: "\n")
    }

    /// `'*--set=[override one value]:PATH=VALUE: '`
    private static func spec(_ option: Option) -> String {
        let many = option.isRepeatable ? "*" : ""
        let text = Self.bracketed(option.help)
        guard let form = ValueForm(option), let placeholder = option.value else {
            return "'\(many)\(option.name)[\(text)]'"
        }
        let sign = option.isValueOptional ? "=-" : "="
        let colons = option.isValueOptional ? "::" : ":"
        return
            "'\(many)\(option.name)\(sign)[\(text)]\(colons)\(Self.bracketed(placeholder)):\(Self.action(form))'"
    }

    private static func operand(_ command: Command) -> [String] {
        guard command.positionalsMax > 0 else { return [] }
        return ["'*:\(Self.bracketed(command.usage)):\(Self.action(ValueForm(operandsOf: command)))'"]
    }

    private static func action(_ form: ValueForm) -> String {
        switch form {
        case .unknown: " "
        case .file: "_files"
        case .folder: "_files -/"
        case .scenario: "_swiftwing_sim_scenarios"
        case .words(let words): "(\(words.joined(separator: " ")))"
        }
    }

    /// Within single quotes.
    private static func quoted(_ text: String) -> String { text.replacing("'", with: "'\\''") }

    /// Within single quotes and brackets, where a colon ends a part.
    private static func bracketed(_ text: String) -> String {
        var result = ""
        for character in text {
            if "[]:\\".contains(character) { result.append("\\") }
            result.append(character)
        }
        return self.quoted(result)
    }
}
