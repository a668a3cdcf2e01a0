package manual

import (
	"errors"
	"flag"
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

// Do does the subcommand that args begin with, and otherwise the command itself. It returns the exit status; done is
// false if there is nothing to call for args. Of a table of commands, the program calls Do of the first alone.
func (c *Command) Do(args []string, stdout, stderr io.Writer) (status int, done bool) {
	doer := c
	if len(args) > 0 {
		switch args[0] {
		case "completion":
			return c.report(2, c.runCompletion(args[1:], stdout), stderr), true
		case "manual":
			return c.report(2, c.runManual(args[1:], stdout), stderr), true
		}
		for i := range c.Sub {
			if c.Sub[i].word() == args[0] {
				doer, args = &c.Sub[i], args[1:]
				break
			}
		}
	}
	if doer.Run == nil {
		return 0, false
	}
	status, err := doer.Run(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(stdout, doer.Help())
		return c.report(1, err, stderr), true
	}
	if err == nil {
		return status, true
	}
	return c.report(status, err, stderr), true
}

// report prints an error, and returns status then; without an error it returns 0.
func (c *Command) report(status int, err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "%s: %v\n", c.Name, err)
	return status
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
		for _, sub := range c.Listed() {
			if sub.word() == args[0] {
				return sub.runManual(nil, stdout)
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
	for _, sub := range c.Listed() {
		for name, text := range sub.Pages() {
			pages[name] = text
		}
	}
	return pages
}
