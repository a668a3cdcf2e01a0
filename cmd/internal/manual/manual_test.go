package manual

import (
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// printed is a help text by package flag.
func printed() string {
	var b strings.Builder
	b.WriteString("tool does things.\n\nusage: tool [flags] FILE\n\n  tool -n 4 x     an example, and no flag\n  -x is prose\n\nflags to begin:\n")
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(&b)
	set.Int("n", 3, "`N` of them")
	set.Bool("v", false, "say more")
	set.PrintDefaults()
	b.WriteString("\nflags to end:\n")
	set = flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(&b)
	set.String("out", "", "write to this `file`,\nor to none")
	set.String("prof", "", "profiles go to this `directory`")
	set.PrintDefaults()
	b.WriteString("\nA last word.\n")
	return b.String()
}

func tool() *Command {
	return &Command{
		Name: "tool", Short: "do things", Help: printed, Args: Programs,
		Sub: []Command{{Name: "tool hidden"}, {Name: "tool sub", Short: "do less", Words: []string{"one", "two"}, Help: func() string {
			return "FLAGS\n  -check          write nothing\n  -tags list      build with them\n"
		}}},
	}
}

func TestParse(t *testing.T) {
	h := parse(printed())
	want := []Flag{
		{"n", "N", "N of them (default 3)", "flags to begin"},
		{"v", "", "say more", "flags to begin"},
		{"out", "file", "write to this file, or to none", "flags to end"},
		{"prof", "directory", "profiles go to this directory", "flags to end"},
	}
	if !slices.Equal(h.flags, want) {
		t.Errorf("flags %+v", h.flags)
	}
	if before, after := strings.Join(h.before, "\n"), strings.TrimSpace(strings.Join(h.after, "\n")); !strings.HasPrefix(before, "tool does things.") || !strings.Contains(before, "-x is prose") || strings.Contains(before, "flags to") || after != "A last word." {
		t.Errorf("before %q, after %q", before, after)
	}
	sub := parse(tool().Sub[1].Help()).flags
	if !slices.Equal(sub, []Flag{{"check", "", "write nothing", "FLAGS"}, {"tags", "list", "build with them", "FLAGS"}}) {
		t.Errorf("flags in columns %+v", sub)
	}
}

func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		"":                 "sub\tdo less|completion\tprint a script that completes in a shell|manual\tprint the manual page|:programs",
		"su":               "sub\tdo less|:programs",
		"-":                "-n\tN of them (default 3)|-v\tsay more|-out\twrite to this file, or to none|-prof\tprofiles go to this directory|-h\tsay how it is used",
		"--ou":             "-out\twrite to this file, or to none",
		"-n ":              "",
		"-v ":              ":programs",
		"-v su":            ":programs", // a subcommand comes first
		"-out ":            ":files",
		"-out = ":          ":files",
		"-out =":           ":files",
		"-out=x":           ":files",
		"-prof d":          ":dirs",
		"-n 4 program -":   ":files",
		"-- ":              ":files",
		"sub ":             "one|two",
		"sub t":            "two",
		"sub -check -t":    "-tags\tbuild with them",
		"completion z":     "zsh",
		"manual -o ":       ":dirs",
		"-nosuch=":         "",
		"-n=4 -v -nothing": "",
	} {
		if got := strings.Join(tool().completed().Complete(strings.Split(line, " ")), "|"); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestRun(t *testing.T) {
	for args, want := range map[string]struct {
		status int
		says   string
	}{
		"completion bash":         {0, "complete -F _tool tool"},
		"completion words -- -ou": {0, "-out\t"},
		"completion":              {2, "name one shell"},
		"completion ksh":          {2, "write tool completion bash, zsh or fish"},
		"manual":                  {0, ".TH TOOL 1"},
		"manual sub":              {0, ".TH TOOL\\-SUB 1"},
		"manual nosuch":           {2, "it takes nothing, a subcommand, or -o DIR"},
		"manual -o /proc/none/x":  {2, "/proc/none"},
	} {
		var out strings.Builder
		status, done := tool().Do(strings.Fields(args), &out, &out)
		if status != want.status || !done || !strings.Contains(out.String(), want.says) {
			t.Errorf("%s: %d, %v, %q", args, status, done, &out)
		}
	}
	for _, args := range [][]string{nil, {"sub"}, {"-v", "manual"}} {
		if _, done := tool().Do(args, nil, nil); done {
			t.Errorf("%q is taken for completion or manual", args)
		}
	}
}

// TestPages: every page has every flag, and formatters find nothing wrong with it.
func TestPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	if err := tool().WritePages(dir); err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string][]string{
		"tool.1":     {".SH FLAGS TO BEGIN", `.B \-out \fIfile\fR`, "N of them", "A last word.", `.BR tool\-sub (1)`, `tool \-n 4 x`},
		"tool-sub.1": {`.B \-check`, `.B \-tags \fIlist\fR`, `tool\-sub \- do less`},
	} {
		page, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if !strings.Contains(string(page), w) {
				t.Errorf("%s has no %q:\n%s", name, w, page)
			}
		}
		out, err := exec.Command("man", "--warnings", "-l", filepath.Join(dir, name)).CombinedOutput()
		switch {
		case errors.Is(err, exec.ErrNotFound):
			t.Log("there is no man to format pages with")
		case errors.As(err, new(*fs.PathError)), err != nil, strings.Contains(string(out), "warning"):
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		".nf":       `\&.nf`,
		"'quoted'":  `\(aqquoted\(aq`,
		`Ctrl-\ it`: `Ctrl\-\e it`,
		"`x` ~ ^":   `\(gax\(ga \(ti \(ha`,
	} {
		if got := line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestDo: a subcommand with Run does what is behind it, the command itself the rest; an error is one line, flag.ErrHelp
// the help.
func TestDo(t *testing.T) {
	c := tool()
	var said []string
	done := func(name string, status int, err error) func([]string, io.Writer) (int, error) {
		return func(args []string, _ io.Writer) (int, error) {
			said = append(said, name+" "+strings.Join(args, ","))
			if slices.Contains(args, "-h") {
				return 2, flag.ErrHelp
			}
			return status, err
		}
	}
	c.Run, c.Sub[0].Run, c.Sub[1].Run = done("tool", 3, nil), done("hidden", 4, nil), done("sub", 5, errors.New("wrong"))
	for args, want := range map[string]struct {
		status   int
		does     string
		out, err string
	}{
		"a sub":     {3, "tool a,sub", "", ""},
		"-- sub":    {3, "tool --,sub", "", ""},
		"hidden a":  {4, "hidden a", "", ""},
		"sub a -x":  {5, "sub a,-x", "", "tool: wrong\n"},
		"-h":        {0, "tool -h", printed(), ""},
		"sub -v -h": {0, "sub -v,-h", c.Sub[1].Help(), ""},
	} {
		said = nil
		var out, err strings.Builder
		status, does := c.Do(strings.Fields(args), &out, &err)
		if status != want.status || !does || strings.Join(said, "|") != want.does || out.String() != want.out || err.String() != want.err {
			t.Errorf("%s: status %d, %v, does %q, prints %q and %q", args, status, does, said, &out, &err)
		}
	}
	if _, listed := c.Pages()["tool-hidden.1"]; listed {
		t.Error("the hidden subcommand has a page")
	}
}
