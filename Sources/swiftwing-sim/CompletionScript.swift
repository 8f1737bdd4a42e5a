/// What the shells do with an answer of `__complete`. If the program is not found, they complete nothing.
enum CompletionScript {
    /// Bash 3.2, which macOS has, and newer.
    static let bash = #"""
        # bash completion for swiftwing-sim, made by 'swiftwing-sim completion bash'
        _swiftwing_sim() {
            local current=${COMP_WORDS[COMP_CWORD]} line
            COMPREPLY=()
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(
                swiftwing-sim __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | {
                    read -r form
                    compgen -W "$(cut -f 1)" -- "$current"
                    case "$form" in
                    (files) compgen -f -- "$current" ;;
                    (folders) compgen -d -- "$current" ;;
                    (scenario)
                        compgen -f -X '!*.scenario' -- "$current"
                        compgen -f -X '!*.json' -- "$current"
                        compgen -d -- "$current"
                        ;;
                    esac
                }
            )
        }
        complete -o filenames -F _swiftwing_sim swiftwing-sim
        """#

    /// Zsh, as a file `_swiftwing-sim` in a folder of `fpath`, or sourced after `compinit`.
    static let zsh = #"""
        #compdef swiftwing-sim
        # zsh completion for swiftwing-sim, made by 'swiftwing-sim completion zsh'
        _swiftwing_sim() {
            local -a answer
            answer=("${(@f)$(swiftwing-sim __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
            local form=$answer[1]
            answer=(${answer[2,-1]/$'\t'/:})
            compset -P '--*='
            case $form in
            words) _describe -t values value answer ;;
            files) _files ;;
            folders) _files -/ ;;
            scenario)
                compadd -a answer
                _files -g '*.(scenario|json)'
                ;;
            esac
        }

        if [[ $funcstack[1] == _swiftwing-sim ]]; then
            _swiftwing_sim "$@"
        else
            compdef _swiftwing_sim swiftwing-sim
        fi
        """#

    /// Fish 3 and newer.
    static let fish = #"""
        # fish completion for swiftwing-sim, made by 'swiftwing-sim completion fish'
        function __swiftwing_sim
            command -q swiftwing-sim; or return
            set -l words (commandline -opc) (commandline -ct)
            set -l answer (swiftwing-sim __complete -- $words[2..-1] 2>/dev/null)
            # Of `--name=value` the whole is completed.
            set -l name (string match -r -- '^--[^=]*=' "$words[-1]"; or echo)
            set -l value (string replace -- "$name" '' "$words[-1]")
            switch "$answer[1]"
                case files
                    set -a answer (__fish_complete_path "$value")
                case folders
                    set -a answer (__fish_complete_directories "$value")
                case scenario
                    set -a answer (__fish_complete_suffix .scenario)
            end
            for line in $answer[2..-1]
                printf '%s\n' "$name$line"
            end
        end
        complete -c swiftwing-sim -f -a '(__swiftwing_sim)'
        """#
}
