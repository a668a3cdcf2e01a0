package launch

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

// agentCommand says how agents are started.
type agentCommand struct {
	agent    []string // the words of an agent's command
	template []string // the words of a command that runs a command on {host}
	staging  *staging // the files that other hosts get first; nil: none
}

// here returns the command line of an agent on this host.
func (c agentCommand) here() commandLine { return commandLine{argv: c.agent} }

// on returns the command line of an agent on host, by the template.
func (c agentCommand) on(host string) commandLine {
	words := withHost(c.template, host)
	if c.staging != nil {
		return commandLine{append(words, "/bin/sh"), c.staging.script()}
	}
	for _, word := range c.agent {
		if !shellSafe(word) {
			return commandLine{append(words, "/bin/sh"), "exec " + shellWords(c.agent) + "\n"}
		}
	}
	return commandLine{argv: append(words, c.agent...)}
}

// commandLine is the command line of an agent.
type commandLine struct {
	argv  []string
	input string // what to write to its standard input before the first frame
}

// String returns the command in a form that a user can paste into a shell.
func (c commandLine) String() string {
	s := shellWords(c.argv)
	switch {
	case strings.Contains(c.input, stageRequest[1:]):
		s += " <<< SCRIPT"
	case c.input != "":
		s += " <<< " + shellQuote(strings.TrimSuffix(c.input, "\n"))
	}
	return s
}

// hostPlace stands for the name of a host in the words of a command.
const hostPlace = "{host}"

// withHost returns words with the name of a host. The agent's own words in it are shellSafe, so they name no place for one.
func withHost(words []string, host string) []string {
	named := make([]string, len(words))
	for i, word := range words {
		named[i] = strings.ReplaceAll(word, hostPlace, host)
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

// shellWords returns words quoted so that a shell reads them back.
func shellWords(words []string) string {
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
