import Manual

/// Bash 3.2, which macOS has, and newer.
enum BashCompletion {
    static var text: String {
        """
        # bash completion for swiftwing-sim, made by 'swiftwing-sim completion bash'
        _swiftwing_sim() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
            local command=${COMP_WORDS[1]-} first=2 options='' form='' words='' line
            local operands='' operand_words=''
            COMPREPLY=()
            if [ "$COMP_CWORD" -eq 1 ]; then
                words='\(CommandWords.first.joined(separator: " "))'
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -W "$words" -- "$current")
                return
            fi
            case "$command" in
        \(CommandWords.twoWords.map(Self.secondWord).joined(separator: "\n"))
            esac
            case "$command" in
            help) form=words words='\(CommandWords.helpTopics.joined(separator: " "))' ;;
        \(Command.all.map(Self.branch).joined(separator: "\n"))
            esac
            if [ -z "$form" ] && [ "${current:0:1}" = - ]; then
                form=words words=$options
            elif [ -z "$form" ] && [ "$COMP_CWORD" -ge "$first" ]; then
                form=$operands words=$operand_words
            fi
            case "$form" in
            folder) while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current") ;;
            file) while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current") ;;
            scenario)
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(
                    compgen -W "$(swiftwing-sim list --names 2>/dev/null)" -- "$current"
                    compgen -f -X '!*.scenario' -- "$current"
                    compgen -f -X '!*.json' -- "$current"
                    compgen -d -- "$current"
                )
                ;;
            words) while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -W "$words" -- "$current") ;;
            esac
        }
        complete -o filenames -F _swiftwing_sim swiftwing-sim
        """
    }

    private static func secondWord(_ first: String, _ seconds: [String]) -> String {
        """
            \(first))
                if [ "$COMP_CWORD" -eq 2 ]; then
                    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -W '\(seconds.joined(separator: " "))' -- "$current")
                    return
                fi
                command="$command ${COMP_WORDS[2]}" first=3
                ;;
        """
    }

    private static func branch(_ command: Command) -> String {
        let values = command.options.compactMap { option -> String? in
            // An optional value follows a `=` only.
            guard let form = ValueForm(option), !option.isValueOptional else { return nil }
            return "            \(option.name)) \(Self.assignment(form, to: "form", "words")) ;;"
        }
        let name = command.name.contains(" ") ? "'\(command.name)'" : command.name
        let options = (command.options.map(\.name) + ["--help"]).joined(separator: " ")
        let operands = Self.assignment(ValueForm(operandsOf: command), to: "operands", "operand_words")
        let cases = values.isEmpty ? [] : ["        case \"$previous\" in"] + values + ["        esac"]
        return
            (["    \(name))", "        options='\(options)'", "        \(operands)"] + cases + [
                "        ;;"
            ])
            .joined(separator: "\n")
    }

    private static func assignment(_ form: ValueForm, to name: String, _ words: String) -> String {
        switch form {
        case .unknown: "\(name)=none \(words)=''"
        case .file: "\(name)=file \(words)=''"
        case .folder: "\(name)=folder \(words)=''"
        case .scenario: "\(name)=scenario \(words)=''"
        case .words(let list): "\(name)=words \(words)='\(list.joined(separator: " "))'"
        }
    }
}
