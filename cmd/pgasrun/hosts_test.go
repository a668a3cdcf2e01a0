package main

import (
	"fmt"
	"os"
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
		o, err := parseJob(append(tt.args, "program", "-n", "9"))
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

// TestPlaceHere: names of this host are one host, whose agent needs no ssh; a user's template may mean something
// else by them.
func TestPlaceHere(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ hosts, template, want string }{
		"repeats":           {"localhost,localhost,localhost", "", "[{localhost 0 3}]"},
		"loopback":          {"127.0.0.1:2", "", "[{127.0.0.1 0 2}]"},
		"loopback of IPv6":  {"[::1]:2", "", "[{::1 0 2}]"},
		"own name":          {own + ":2,localhost", "", "[{" + own + " 0 3}]"},
		"beside others":     {"elsewhere.invalid,localhost,127.0.0.1:2", "", "[{elsewhere.invalid 0 1} {localhost 1 3}]"},
		"template":          {"127.0.0.1:2,localhost", "env X={host}", "[{127.0.0.1 0 2} {localhost 2 1}]"},
		"others between":    {"a,b,a", "env X={host}", "[{a 0 2} {b 2 1}]"},
		"a user has an ssh": {"me@localhost,localhost", "", "[{me@localhost 0 1} {localhost 1 1}]"},
		"words of Open MPI": {"n1 slots=2,n2 slots=3 max_slots=4", "", "[{n1 0 2} {n2 2 3}]"},
		"spares":            {"n1:2,+n[8-9]:2,n2", "", "[{n1 0 2} {n2 2 1}]"},
		"ranges of Slurm":   {"n[1-2]:2,[fd00::1]:3", "", "[{n1 0 2} {n2 2 2} {fd00::1 4 3}]"},
	}
	for name, tt := range tests {
		args := []string{"-hosts", tt.hosts}
		if tt.template != "" {
			args = append(args, "-launch", tt.template)
		}
		o, err := parseJob(append(args, "program"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := o.place(); err != nil || fmt.Sprint(got) != tt.want {
			t.Errorf("%s: %v, %v; want %s", name, got, err, tt.want)
		}
	}
}
