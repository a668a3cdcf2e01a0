package boot

// The table of variables as users see it: one line each, and in each the name, the value and its origin as
// single words, so that awk, grep and sort can work on it.

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// PrintVariables writes every variable for users, with its value in environ and the value's origin:
// "default", "environment", the old name under which environ has it, or "flag" if it is in flags, the assignments of
// command-line flags, which take precedence. It quotes a value that a shell would not read as one word. Variables for
// developers are among them if they are set, or with all. It returns the error of w.
func PrintVariables(w io.Writer, environ, flags []string, all bool) error {
	env, _ := ourVariables(environ) // names that do not exist are not our business
	top, _ := ourVariables(flags)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "VARIABLE\tVALUE\tORIGIN\tMEANING")
	for _, v := range variables {
		if v.For == forLauncher {
			continue
		}
		value, origin, meaning := v.defaults()
		if given, from := effective(env, v.Name); given != "" {
			value, origin = shellQuoted(given), "environment"
			if from != v.Name {
				origin = from
			}
		}
		if given, _ := effective(top, v.Name); given != "" {
			value, origin = shellQuoted(given), "flag"
		}
		if v.For == forDevelopers && origin == "default" && !all {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", v.Name, value, origin, meaning)
	}
	return t.Flush()
}

// defaults returns the columns of a variable that is not set. A default that is no value becomes part of the meaning.
func (v variable) defaults() (value, origin, meaning string) {
	meaning = v.Meaning + " [" + v.Unit + "]"
	words, isWords := strings.CutPrefix(v.Default, "(")
	switch {
	case v.Default == notSet:
		return "-", "default", meaning
	case isWords:
		return "-", "default", meaning + " (default: " + words
	}
	return v.Default, "default", meaning
}

// shellQuoted returns v quoted so that a shell reads it as one word.
func shellQuoted(v string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.,:/+@%", r)
	}
	if strings.IndexFunc(v, func(r rune) bool { return !plain(r) }) < 0 {
		return v
	}
	if strings.ContainsFunc(v, unicode.IsControl) {
		return "$'" + strings.NewReplacer(`\"`, `"`, "'", `\'`).Replace(strings.Trim(strconv.Quote(v), `"`)) + "'"
	}
	return "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
}
