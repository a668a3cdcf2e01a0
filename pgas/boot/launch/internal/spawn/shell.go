package spawn

// The command line of an agent on its host. A template may run a remote shell, which parses the words again
// (ssh), or execute them unchanged (ip netns exec, docker exec), and the launcher cannot tell which. So the
// words that it appends to a template mean the same to both: they have no character that is special to a shell.
// If the agent's own words have one, because pgasrun lies in a directory named "in j;touch x;", the command is
// /bin/sh, and what it is to execute is the first line of its standard input, quoted for it. All else that an
// agent needs (the program, its arguments, the working directory, variables) follows on standard input in
// frames, and no shell sees it.

import (
	"strings"
)

// Command says how agents are started.
type Command struct {
	Agent    []string // the words of an agent's command
	Template []string // the words of a command that runs a command on {host}
	Staging  *Staging // the files that other hosts get first; nil: none
}

// Here returns the command line of an agent on this host.
func (c Command) Here() Line { return Line{Argv: c.Agent} }

// On returns the command line of an agent on host, by the template.
func (c Command) On(host string) Line {
	words := WithHost(c.Template, host)
	if c.Staging != nil {
		return Line{append(words, "/bin/sh"), c.Staging.script()}
	}
	for _, word := range c.Agent {
		if !shellSafe(word) {
			return Line{append(words, "/bin/sh"), "exec " + ShellWords(c.Agent) + "\n"}
		}
	}
	return Line{Argv: append(words, c.Agent...)}
}

// Line is the command line of an agent.
type Line struct {
	Argv  []string
	Input string // what to write to its standard input before the first frame
}

// String returns the command in a form that a user can paste into a shell.
func (c Line) String() string {
	s := ShellWords(c.Argv)
	switch {
	case strings.Contains(c.Input, stageRequest[1:]):
		s += " <<< SCRIPT"
	case c.Input != "":
		s += " <<< " + shellQuote(strings.TrimSuffix(c.Input, "\n"))
	}
	return s
}

// HostPlace stands for the name of a host in the words of a command.
const HostPlace = "{host}"

// WithHost returns words with the name of a host. The agent's own words in it are shellSafe, so they name no place for
// one.
func WithHost(words []string, host string) []string {
	named := make([]string, len(words))
	for i, word := range words {
		named[i] = strings.ReplaceAll(word, HostPlace, host)
	}
	return named
}

// shellSafe reports whether word has no character that is special to a shell.
func shellSafe(word string) bool {
	for _, r := range word {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("/._-+:@%,", r) {
			return false
		}
	}
	return word != ""
}

// ShellWords returns words quoted so that a shell reads them back.
func ShellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if !shellSafe(word) {
			quoted[i] = shellQuote(word)
		}
	}
	return strings.Join(quoted, " ")
}

func shellQuote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
