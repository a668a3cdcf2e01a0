package join

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// TestParseHosts: what people and schedulers write of hosts means one thing, or is refused with what to write.
func TestParseHosts(t *testing.T) {
	tests := map[string]struct{ list, want, err string }{
		"name":               {"n1", "[n1:1]", ""},
		"number":             {" n1:2 , me@n2:3", "[n1:2 me@n2:3]", ""},
		"IPv4":               {"192.0.2.1:2", "[192.0.2.1:2]", ""},
		"IPv6":               {"[fd00::1]:2", "[[fd00::1]:2]", ""},
		"IPv6 alone":         {"[fd00::1],fd00::2,::1", "[[fd00::1]:1 [fd00::2]:1 [::1]:1]", ""},
		"IPv6, no brackets":  {"fd00::1:2", "[[fd00::1]:2]", ""},
		"eight groups":       {"fd00:0:0:0:0:0:0:1", "[[fd00::1]:1]", ""},
		"groups and number":  {"fd00:0:0:0:0:0:0:1:4", "[[fd00::1]:4]", ""},
		"one spelling":       {"FD00:0::1:2", "[[fd00::1]:2]", ""},
		"with an IPv4":       {"::ffff:192.0.2.1", "[[::ffff:192.0.2.1]:1]", ""},
		"interface":          {"fe80::1%eth0:2", "[[fe80::1%eth0]:2]", ""},
		"interface, alone":   {"[fe80::1%eth0.7]", "[[fe80::1%eth0.7]:1]", ""},
		"user at IPv6":       {"me@[fd00::1]:2,me@fd00::2", "[me@[fd00::1]:2 me@[fd00::2]:1]", ""},
		"blanks":             {"n1 2,fd00::1 3", "[n1:2 [fd00::1]:3]", ""},
		"Open MPI":           {"n1 slots=2,n2 slots = 3 max_slots=8,n3 cpu=4,n4 max-slots=2 count=2", "[n1:2 n2:3 n3:4 n4:2]", ""},
		"Grid Engine":        {"n1 2 all.q@n1 UNDEFINED", "[n1:2]", ""},
		"Slurm":              {"n[1-2,7]:2,m[01-02]", "[n1:2 n2:2 n7:2 m01:1 m02:1]", ""},
		"either":             {"fd00::1:a", "", `"fd00::1:a" may be an address, or one with a number of PEs: write [fd00::1:a], or [fd00::1]:2`},
		"zeros":              {"fd00::1:02", "", `write [fd00::1:02], or [fd00::1]:2`},
		"no address":         {"fd00:1:2", "", `"fd00:1:2" is not an address of IPv6: write [fd00::1]:2`},
		"no bracket":         {"[fd00::1", "", `is not an address of IPv6`},
		"behind the bracket": {"[fd00::1]2", "", `"[fd00::1]2" is not an address with a number of PEs: write [fd00::1]:2`},
		"no number":          {"[fd00::1]:", "", `write [fd00::1]:2`},
		"bad number":         {"[fd00::1]:x", "", `"x" is not a number of PEs for host fd00::1: write [fd00::1]:2`},
		"interface's name":   {"fe80::1%$(reboot):2", "", `is not an address of IPv6`},
		"interface's quote":  {"[fe80::1%'a]", "", `is not a host's name`},
		"none":               {"n1:0", "", `"0" is not a number of PEs for host n1: write n1:2`},
		"empty number":       {"n1:", "", `"" is not a number of PEs for host n1: write n1:2`},
		"too many":           {"n1:99999999999999999999", "", `is not a number of PEs for host n1`},
		"empty":              {"n1,,n2", "", "a host's name is empty"},
		"trailing comma":     {"n1,", "", "a host's name is empty"},
		"twice a number":     {"n1:2 slots=3", "", `"slots=3" behind host n1 is not understood: write n1:2`},
		"no value":           {"n1 slots=", "", `"slots=" behind host n1 is not understood: write n1:2`},
		"most alone":         {"n1 max_slots=4", "", "host n1 has 4 slots at most, and no number of them: write n1:2"},
		"other words":        {"n1:2 binding=user:0,n2", "", `"binding=user:0" behind host n1 is not understood: write n1:2`},
		"a pair in a line":   {"n1 2 n2 2", "", `"2" behind host n1 is not understood: write n1:2`},
		"excluded":           {"^n1", "", `"^n1" is not a host's name`},
		"an option":          {"-oProxyCommand=x:1", "", "is not a host's name"},
		"open range":         {"n[1-2", "", "has a bracket without its end"},
	}
	for name, tt := range tests {
		hosts, err := ParseHosts(tt.list)
		if err != nil && (tt.err == "" || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %s%s", name, err, tt.want, tt.err)
		}
		if got := entries(hosts); err == nil && got != tt.want {
			t.Errorf("%s: %s, want %s%s", name, got, tt.want, tt.err)
		}
	}
}

func entries(hosts []boot.Host) string {
	var all []string
	for _, h := range hosts {
		all = append(all, h.Entry())
	}
	return fmt.Sprint(all)
}

// TestMergeHosts: a host's entries add up, in the order of the first ones.
func TestMergeHosts(t *testing.T) {
	for list, want := range map[string]string{
		"a,a,b,b":       "[{a 0 2} {b 2 2}]",
		"a,b,a,b:2":     "[{a 0 2} {b 2 3}] a",
		"fd00::1,b,b:2": "[{fd00::1 0 1} {b 1 3}]",
	} {
		all, err := ParseHosts(list)
		if err != nil {
			t.Fatal(err)
		}
		hosts, apart := MergeHosts(all)
		if got := strings.TrimSpace(fmt.Sprint(hosts) + " " + apart); got != want {
			t.Errorf("%s: %s, want %s", list, got, want)
		}
	}
}

// TestThisHost: names and addresses of this host, and those that are not.
func TestThisHost(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	isHere := ThisHost()
	for name, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, own: true, strings.ToUpper(own): true,
		"192.0.2.1": false, "fd00::dead": false, "me@localhost": false, own + "x": false, "": false,
	} {
		if isHere(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
	addrs, err := LocalAddrs("1")
	if err != nil || len(addrs) == 0 {
		t.Fatalf("%q, %v", addrs, err)
	}
}

// FuzzHostFile: what is accepted names hosts that may go into a command line, with sane numbers, and means the same
// when written as a list; what is not is refused in one line that starts with the place.
func FuzzHostFile(f *testing.F) {
	for _, seed := range []string{"a:2\nb # comment\n\n", "a:2\na:3", "-x:1", "a:99999999999999999999", "[fd00::1]:2\nfe80::1%eth0:3", "n[1-3] slots=2", "a 2 q@a -"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hosts, err := ParseHostFile("hosts", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "hosts:") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for _, h := range hosts {
			if h.PEs < 1 || h.PEs > boot.MaxPEs || strings.HasPrefix(h.Name, "-") || strings.ContainsAny(h.Name, " ;|&$`'\"\\,/[]()") {
				t.Errorf("%q gives %+v", text, h)
			}
			again, err := ParseHosts(h.Entry())
			if err != nil || len(again) != 1 || again[0] != h {
				t.Errorf("%q gives %+v, and %s means %+v, %v", text, h, h.Entry(), again, err)
			}
		}
	})
}
