package manual

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Usage are the lines about completion and manual for the help of a command.
func Usage(name string) string {
	line := func(args, text string) string { return fmt.Sprintf("  %-46s %s\n", name+" "+args, text) }
	return line("completion bash|zsh|fish", "a script that completes its flags and arguments in a shell") +
		line("manual | man -l -", "this text as a manual page; manual -o DIR writes all of them")
}

// Run does the subcommands completion and manual, if args begin with one of them. It returns the exit status and true
// then.
func (c *Command) Run(args []string, stdout, stderr io.Writer) (status int, done bool) {
	var err error
	switch {
	case len(args) == 0:
		return 0, false
	case args[0] == "completion":
		err = c.runCompletion(args[1:], stdout)
	case args[0] == "manual":
		err = c.runManual(args[1:], stdout)
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", c.Name, err)
		return 2, true
	}
	return 0, true
}

// completed is the command with the subcommands that every command has.
func (c *Command) completed() *Command {
	full := *c
	usage := func() string { return Usage(c.Name) }
	full.Sub = append(full.Sub[:len(full.Sub):len(full.Sub)],
		Command{Name: c.Name + " completion", Short: "print a script that completes in a shell", Help: usage, Words: shellNames},
		Command{Name: c.Name + " manual", Short: "print the manual page", Help: func() string { return "  -o dir  write all pages there\n" }})
	return &full
}

func (c *Command) runCompletion(args []string, stdout io.Writer) error {
	if len(args) > 1 && args[0] == "words" && args[1] == "--" {
		for _, l := range c.completed().Complete(args[2:]) {
			fmt.Fprintln(stdout, l)
		}
		return nil
	}
	if len(args) != 1 {
		return fmt.Errorf("completion: name one shell: %s completion bash, zsh or fish", c.Name)
	}
	text, err := c.script(args[0])
	if err == nil {
		_, err = io.WriteString(stdout, text)
	}
	return err
}

func (c *Command) runManual(args []string, stdout io.Writer) error {
	switch {
	case len(args) == 0:
		_, err := io.WriteString(stdout, c.Page())
		return err
	case len(args) == 2 && args[0] == "-o":
		return c.WritePages(args[1])
	case len(args) == 1:
		for i := range c.Sub {
			if c.Sub[i].word() == args[0] {
				return c.Sub[i].runManual(nil, stdout)
			}
		}
	}
	return errors.New("manual: it takes nothing, a subcommand, or -o DIR")
}

// WritePages writes the pages of the command and its subcommands to a directory, which it makes.
func (c *Command) WritePages(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("manual -o: %w", err)
	}
	for name, text := range c.Pages() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("manual -o: %w", err)
		}
	}
	return nil
}

// Pages returns the pages by their file names.
func (c *Command) Pages() map[string]string {
	pages := map[string]string{strings.ReplaceAll(c.Name, " ", "-") + ".1": c.Page()}
	for i := range c.Sub {
		for name, text := range c.Sub[i].Pages() {
			pages[name] = text
		}
	}
	return pages
}
