package topo

// The user's description of the topology, in PGAS_TOPO:
//
//	list  = level { "," level } [ "," "machine" ]
//	level = name [ ":" count ]
//
// Levels are written from the PEs outwards. With a count, an element of the level holds that many of the
// level before it in the list, or that many PEs if it is the first. Without one, it is as found: host is
// the hosts of the job; core, cache, numa and socket are those of Linux; switch, switch2 and block are
// those of Slurm.
//
//	host,rack:2               racks of two hosts
//	numa:4,socket:2,host      inside of each host: NUMA nodes of 4 PEs, sockets of two of these
//	core,numa,host,rack:8     of the levels of Linux, core and NUMA only; racks of 8 hosts
//	numa:4,host:2,rack:16     every host has two NUMA nodes of 4 PEs: a machine that need not exist
//
// Counting begins anew in each host of the job, so no element of a level up to the host spans two hosts. The last
// element is smaller if the numbers do not divide. If the list names only levels inside the host, or only levels
// outside, the other side stays as found; host without a count is then optional at the end. A list that ends with
// machine has no other level outside of its hosts.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Spec is the user's description of the topology. The zero Spec is empty: everything is as found.
type Spec struct {
	inside          []rule // inside of a host, from the PEs outwards; none: as found
	perHost         int    // how many of the level before, a host holds; 0: as found
	outside         []rule // outside of the hosts, outwards; none: as found, unless closed
	endsWithMachine bool   // the list ends with machine
}

// rule is one level of the list.
type rule struct {
	name string
	per  int // how many of the level before, an element holds; 0: as found
}

// Bounds of what a list may say.
const (
	maxRules = 16
	maxCount = 1 << 20
)

// Parse parses a list of levels. An empty list is the zero Spec. The error says which level is wrong and how to write
// it.
func Parse(list string) (Spec, error) {
	if strings.TrimSpace(list) == "" {
		return Spec{}, nil
	}
	rules, err := parseRules(list)
	if err != nil {
		return Spec{}, err
	}
	var s Spec
	if last := len(rules) - 1; rules[last] == (rule{name: Machine}) {
		s.endsWithMachine, rules = true, rules[:last]
	}
	if at := slices.IndexFunc(rules, func(r rule) bool { return r.name == Host }); at >= 0 {
		s.inside, s.perHost, s.outside = rules[:at], rules[at].per, rules[at+1:]
	} else if err := insideOnly(rules); err != nil {
		return Spec{}, err
	} else {
		s.inside = rules
	}
	if err := s.check(); err != nil {
		return Spec{}, err
	}
	return s, nil
}

// insideOnly returns an error for a list without host that has levels other than those inside one.
func insideOnly(rules []rule) error {
	for i, r := range rules {
		if !slices.Contains(insideNames[:], r.name) {
			return fmt.Errorf("is a %s made of hosts, or a part of one? write host before it (%s) or after it (%s)", r.name,
				listOf(slices.Insert(slices.Clone(rules), i, rule{name: Host})), listOf(append(slices.Clone(rules), rule{name: Host})))
		}
	}
	return nil
}

func parseRules(list string) ([]rule, error) {
	var rules []rule
	for entry := range strings.SplitSeq(list, ",") {
		r, err := parseRule(strings.TrimSpace(entry))
		switch {
		case err != nil:
			return nil, err
		case slices.ContainsFunc(rules, func(o rule) bool { return o.name == r.name }):
			return nil, fmt.Errorf("%s is there twice: a level has one place between its parts and its whole", r.name)
		case len(rules) == maxRules:
			return nil, fmt.Errorf("there are more than %d levels", maxRules)
		case len(rules) > 0 && rules[len(rules)-1].name == Machine:
			return nil, fmt.Errorf("machine is all PEs and can only be last: write the levels from the PEs outwards, as in numa:4,host,rack:2")
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// parseRule reads "name" or "name:count".
func parseRule(entry string) (rule, error) {
	name, count, counted := strings.Cut(entry, ":")
	if !isName(name) {
		return rule{}, fmt.Errorf("%q is not the name of a level: write small letters and digits, as in host,rack:2", name)
	}
	if !counted {
		return rule{name: name}, nil
	}
	if name == Machine {
		return rule{}, fmt.Errorf("machine is all PEs, however many they are: write it without a number")
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > maxCount || strconv.Itoa(n) != count {
		return rule{}, fmt.Errorf("%q is not a number of parts from 1 to %d: %s:2 has two of the level before it", count, maxCount, name)
	}
	return rule{name: name, per: n}, nil
}

func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '_') {
			return false
		}
	}
	return s != "" && len(s) <= 32
}

// check returns an error for a level that cannot be where it is, or without a count if it cannot be found.
func (s Spec) check() error {
	for i, r := range s.inside {
		switch known := slices.Contains(insideNames[:], r.name); {
		case r.name == Core && i > 0:
			return fmt.Errorf("a core does not hold a %s: write the levels from the PEs outwards, core first", s.inside[i-1].name)
		case isOutside(r.name):
			return fmt.Errorf("a %s is outside of the hosts: write it after host", r.name)
		case r.per == 0 && !known:
			return fmt.Errorf("neither Linux nor Slurm describes a %s: say how many of the level before one holds, as in %s:2", r.name, r.name)
		}
	}
	for _, r := range s.outside {
		switch {
		case slices.Contains(insideNames[:], r.name):
			return fmt.Errorf("a %s is a part of a host: write it before host", r.name)
		case r.per == 0 && !isOutside(r.name):
			return fmt.Errorf("neither Linux nor Slurm describes a %s: say how many of the level before one holds, as in %s:2", r.name, r.name)
		}
	}
	return nil
}

// isOutside reports whether a level of this name may come from Slurm: switch, switch2, block and so on.
func isOutside(name string) bool {
	number, ok := strings.CutPrefix(name, Switch)
	if !ok {
		number, ok = strings.CutPrefix(name, Block)
	}
	n, err := strconv.Atoi(number)
	return ok && (number == "" || err == nil && n >= 2 && n <= maxOutside)
}

// String returns the list that Parse reads as s.
func (s Spec) String() string {
	rules := append(slices.Clone(s.inside), rule{Host, s.perHost})
	rules = append(rules, s.outside...)
	if s.endsWithMachine {
		rules = append(rules, rule{name: Machine})
	}
	return listOf(rules)
}

func listOf(rules []rule) string {
	parts := make([]string, len(rules))
	for i, r := range rules {
		parts[i] = r.name
		if r.per > 0 {
			parts[i] += ":" + strconv.Itoa(r.per)
		}
	}
	return strings.Join(parts, ",")
}
