// Package manual makes shell completion and manual pages of what a command prints with -h.
//
// That text is the only description of a command: its prose, and its flags as package flag or pgasgen print them, under
// headings. So a flag that -h shows is completed and in the manual page, with the same words.
//
//	manual.go    a command, and the flags in its help
//	complete.go  what may stand where the user is typing
//	shells.go    the scripts that ask for it in bash, zsh and fish
//	man.go       the manual page
//	run.go       the subcommands: those of the table, and completion and manual, which every command has
package manual

import (
	"io"
	"regexp"
	"strings"
)

// A Kind says what an argument or a value is, for the shell to complete it.
type Kind string

// The kinds; the scripts of shells.go know these words.
const (
	Nothing     Kind = ""
	Files       Kind = ":files"
	Directories Kind = ":dirs"
	Programs    Kind = ":programs" // files and commands on PATH
)

// A Command is a program, or a subcommand of one.
type Command struct {
	Name  string // as it is typed, such as pgasrun doctor
	Short string // what it does, in a line; a subcommand without is for the program itself, and in no list
	Help  func() string
	Args  Kind
	Words []string // that its first argument may be, besides subcommands
	Sub   []Command

	// Run does it, and returns the exit status. Do prints the error, or the help if the error is flag.ErrHelp. nil:
	// the program does it by itself.
	Run func(args []string, stdout io.Writer) (status int, err error)
}

// Listed returns the subcommands that users type.
func (c *Command) Listed() (list []*Command) {
	for i := range c.Sub {
		if c.Sub[i].Short != "" {
			list = append(list, &c.Sub[i])
		}
	}
	return list
}

// word returns the last word of the name.
func (c *Command) word() string { return c.Name[strings.LastIndexByte(c.Name, ' ')+1:] }

// A Flag is one of a help text.
type Flag struct {
	Name    string
	Value   string // what the help calls its value; a truth value has none
	Usage   string
	Heading string // above it
}

// kind returns what the value of f is, by what the help calls it.
func (f *Flag) kind() Kind {
	switch f.Value {
	case "file", "path":
		return Files
	case "directory", "dir":
		return Directories
	}
	return Nothing
}

// flagLine matches a flag in a help text: "  -name value" on a line. Its description stands in indented lines below, or
// behind it after a tab or two blanks.
var flagLine = regexp.MustCompile(`^  -([a-zA-Z][\w-]*)(?: (\S+))?(?:(?:\t| {2,})(\S.*))?$`)

// describe is what the lines of a description begin with.
const describe = "    \t"

// help is a help text in its parts.
type help struct {
	before []string // lines of prose before the flags, without the heading
	flags  []Flag
	after  []string
}

// parse divides a help text.
func parse(text string) (h help) {
	heading, inFlags := "", false
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		m := flagLine.FindStringSubmatch(line)
		described := i+1 < len(lines) && strings.HasPrefix(lines[i+1], describe)
		switch {
		case m != nil && (m[3] != "" || described):
			f := Flag{Name: m[1], Value: m[2], Usage: m[3], Heading: heading}
			for ; i+1 < len(lines) && strings.HasPrefix(lines[i+1], describe); i++ {
				f.Usage = strings.TrimSpace(f.Usage + " " + strings.TrimPrefix(lines[i+1], describe))
			}
			h.flags, inFlags = append(h.flags, f), true
			h.after = nil
		case isHeading(line) && leadsToFlags(lines[i+1:]):
			heading, inFlags = strings.Trim(line, ":"), true
		case inFlags:
			h.after = append(h.after, line)
		default:
			h.before = append(h.before, line)
		}
	}
	return h
}

func isHeading(line string) bool {
	return line != "" && line[0] != ' ' && (strings.HasSuffix(line, ":") || line == strings.ToUpper(line))
}

// leadsToFlags reports whether the first line that is not empty is a flag.
func leadsToFlags(lines []string) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			return flagLine.MatchString(line)
		}
	}
	return false
}
