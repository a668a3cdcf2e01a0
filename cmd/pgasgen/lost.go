package main

// What a new generation takes away. If a field loses its tag, or its name, its methods go, and the compiler then knows
// no more than that a call names no method. So pgasgen says which methods of which type are gone, and what brings them
// back.

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// declared matches a method of generated code: its type and its name.
var declared = regexp.MustCompile(`(?m)^func \(\w+ (\w+)\) (\w+)\(`)

// lost returns the methods of a file's old content that the new one lacks, by type, for the types that both declare.
func lost(old, now []byte) (types []string, methods map[string][]string) {
	has := map[string]bool{}
	for _, m := range declared.FindAllSubmatch(now, -1) {
		has[string(m[1])], has[string(m[1])+"."+string(m[2])] = true, true
	}
	methods = map[string][]string{}
	for _, m := range declared.FindAllSubmatch(old, -1) {
		typ, name := string(m[1]), string(m[2])
		if !has[typ] || has[typ+"."+name] {
			continue
		}
		if methods[typ] == nil {
			types = append(types, typ)
		}
		methods[typ] = append(methods[typ], name)
	}
	return types, methods
}

// lostShown is how many methods of a type are named.
const lostShown = 4

// describeLost returns a line for each type that loses methods, or "".
func describeLost(source string, old, now []byte) string {
	var b bytes.Buffer
	types, methods := lost(old, now)
	for _, typ := range types {
		names := methods[typ]
		slices.Sort(names)
		shown := strings.Join(names[:min(len(names), lostShown)], ", ")
		if more := len(names) - lostShown; more > 0 {
			shown += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintf(&b, "%s: %s has no longer the methods %s: the tag or the name of a field has changed; change it back if they are called\n", source, typ, shown)
	}
	return b.String()
}
