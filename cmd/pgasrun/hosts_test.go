package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

func TestPlace(t *testing.T) {
	tests := map[string]struct {
		args []string
		want []boot.Host
	}{
		"this host":   {[]string{"-n", "3"}, []boot.Host{{Name: "localhost", PEs: 3}}},
		"every CPU":   {nil, []boot.Host{{Name: "localhost", PEs: boot.HostCores()}}},
		"slots":       {[]string{"-hosts", "a:2,b:3"}, []boot.Host{{Name: "a", PEs: 2}, {Name: "b", First: 2, PEs: 3}}},
		"one each":    {[]string{"-hosts", " a , b"}, []boot.Host{{Name: "a", PEs: 1}, {Name: "b", First: 1, PEs: 1}}},
		"with user":   {[]string{"-hosts", "me@a-1.example.org:2"}, []boot.Host{{Name: "me@a-1.example.org", PEs: 2}}},
		"confirmed n": {[]string{"-n", "5", "-hosts", "a:2,b:3"}, []boot.Host{{Name: "a", PEs: 2}, {Name: "b", First: 2, PEs: 3}}},
	}
	for name, tt := range tests {
		o, err := parse(append(tt.args, "program", "-n", "9"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := o.place()
		if err != nil || fmt.Sprint(got) != fmt.Sprint(tt.want) || len(o.args) != 2 {
			t.Errorf("%s: %v, %v; want %v", name, got, err, tt.want)
		}
	}
}

// FuzzHostfile: what is accepted names hosts that may go into a command line, with sane numbers; what
// is not is refused in one line that starts with the place.
func FuzzHostfile(f *testing.F) {
	f.Add("a:2\nb # comment\n\n")
	f.Add("a:2\na:3")
	f.Add("-x:1")
	f.Add("a:99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		hosts, err := parseHostfile("hosts", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "hosts:") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for _, h := range hosts {
			if h.PEs < 1 || h.PEs > boot.MaxPEs || strings.HasPrefix(h.Name, "-") || strings.ContainsAny(h.Name, " ;|&$`'\"\\,:/") {
				t.Errorf("%q gives %+v", text, h)
			}
		}
	})
}
