package manual

// The scripts of the shells. Each calls `COMMAND completion words -- WORD…` for the line at hand, so a script that was
// installed once knows the flags of every later version.

import (
	"fmt"
	"slices"
	"strings"
)

// shells are the scripts; COMMAND stands for the command's name.
var shells = map[string]string{
	"bash": `# bash completion for COMMAND: eval "$(COMMAND completion bash)", or put it in
# ~/.local/share/bash-completion/completions/COMMAND
_COMMAND() {
	local cur=${COMP_WORDS[COMP_CWORD]} line
	[[ $cur == '=' ]] && cur=
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$cur")) ;;
		:dirs) compopt -o filenames; COMPREPLY+=($(compgen -d -- "$cur")) ;;
		:programs) compopt -o filenames; COMPREPLY+=($(compgen -f -c -- "$cur")) ;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done < <(COMMAND completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _COMMAND COMMAND
`,
	"zsh": `#compdef COMMAND
# zsh completion for COMMAND: source <(COMMAND completion zsh), after compinit; or put it in a directory of $fpath as _COMMAND
_COMMAND() {
	local line
	local -a found
	for line in "${(@f)$(COMMAND completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		'') ;;
		:files) _files ;;
		:dirs) _files -/ ;;
		:programs) _files; _command_names -e ;;
		*$'\t'*) found+=("${line%%$'\t'*}:${line#*$'\t'}") ;;
		*) found+=("$line") ;;
		esac
	done
	if (( $#found )); then
		_describe COMMAND found
	fi
}
if [[ $funcstack[1] == _COMMAND ]]; then
	_COMMAND "$@"
else
	compdef _COMMAND COMMAND
fi
`,
	"fish": `# fish completion for COMMAND: COMMAND completion fish | source, or put it in ~/.config/fish/completions/COMMAND.fish
function __COMMAND_words
	set -l words (commandline -opc) (commandline -ct)
	for line in (COMMAND completion words -- $words[2..-1] 2>/dev/null)
		switch $line
			case :files
				__fish_complete_path (commandline -ct)
			case :dirs
				__fish_complete_directories (commandline -ct)
			case :programs
				__fish_complete_path (commandline -ct)
				__fish_complete_command
			case '*'
				echo $line
		end
	end
end
complete -c COMMAND -f -a '(__COMMAND_words)'
`,
}

// shellNames are the shells that there are scripts for.
var shellNames = []string{"bash", "zsh", "fish"}

// script returns the script of a shell.
func (c *Command) script(shell string) (string, error) {
	if !slices.Contains(shellNames, shell) {
		return "", fmt.Errorf("completion %s: write %s completion bash, zsh or fish", shell, c.Name)
	}
	return strings.ReplaceAll(shells[shell], "COMMAND", c.Name), nil
}
