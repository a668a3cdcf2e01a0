package main

// -x: variables of the environment of every PE.

import (
	"fmt"
	"os"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
)

// assignments are the values of -x, as NAME=value.
type assignments []string

// String is that of flag.Value.
func (a *assignments) String() string { return strings.Join(*a, " ") }

// Set adds NAME=value, or NAME with its value in this process's environment. It is that of flag.Value.
func (a *assignments) Set(text string) error {
	name, _, given := strings.Cut(text, "=")
	if name == "" || strings.ContainsAny(text, "\x00") || strings.ContainsAny(name, " \t\n") {
		return fmt.Errorf("it must be NAME or NAME=value")
	}
	if !given {
		value, set := os.LookupEnv(name)
		if !set {
			return fmt.Errorf("%s is not set here: export it, or give it a value, as in -x %s=value", name, name)
		}
		text += "=" + value
	}
	if len(boot.StripEnv([]string{text})) == 0 {
		return fmt.Errorf("%s is what the launcher tells each PE of its place: leave it out", name)
	}
	*a = append(*a, text)
	return nil
}
