package tests

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// licences are the licences that a dependency may have, and what its text says. All of them let a program
// under the Apache License 2.0 link the dependency; a new one is a decision.
var licences = map[string]*regexp.Regexp{
	"BSD-3-Clause": regexp.MustCompile(`(?s)Redistribution and use in source and binary forms.*Neither the name`),
	"MIT":          regexp.MustCompile(`Permission is hereby granted, free of charge`),
	"Apache-2.0":   regexp.MustCompile(`(?s)Apache License\s+Version 2\.0`),
	"OFL-1.1":      regexp.MustCompile(`(?i)SIL Open Font License,? Version 1\.1`),
	"CC-BY-4.0":    regexp.MustCompile(`Creative Commons Attribution 4\.0 International`),
	"FTL":          regexp.MustCompile(`The FreeType\s+Project LICENSE`),
}

// A licensed is a row of THIRD_PARTY_LICENSES.md: a module, and a licence of it with the file of its text.
type licensed struct{ module, version, licence, file, linked string }

var licenceRow = regexp.MustCompile("^\\| `([^`]+)` \\| ([^|]+) \\| ([^|]+) \\| `([^`]+)` \\| ([^|]*) \\|$")

func licencesListed(t *testing.T) (rows []licensed) {
	t.Helper()
	f, err := os.Open("../THIRD_PARTY_LICENSES.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if m := licenceRow.FindStringSubmatch(lines.Text()); m != nil {
			rows = append(rows, licensed{m[1], m[2], m[3], m[4], m[5]})
		}
	}
	return rows
}

// linkedModules returns the modules whose code is in the packages and commands, tests apart: by module
// and version its folder and the commands that have it. What package pgas has is in every program.
func linkedModules(t *testing.T) map[[2]string]*linkedModule {
	t.Helper()
	linked := map[[2]string]*linkedModule{}
	for _, part := range []struct{ name, packages string }{
		{"every program", everyProgram(t)}, {"every program", module + "/ucx/..."}, {"every program", module + "/locks"},
		{"every program", module + "/notify"}, {"every program", module + "/atomics"}, {"programs with the collector", module + "/pgas/metrics/collector"},
		{"pgasrun", module + "/cmd/pgasrun"}, {"pgasgen", module + "/cmd/pgasgen"}, {"pgasvet", module + "/cmd/pgasvet"}, {"pgasbench", module + "/cmd/pgasbench"},
	} {
		out, err := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}"}, strings.Fields(part.packages)...)...).Output()
		if err != nil {
			t.Fatalf("go list -deps %s: %v", part.packages, err)
		}
		for line := range strings.Lines(string(out)) {
			w := strings.Fields(line)
			if len(w) != 3 {
				continue
			}
			key := [2]string{w[0], w[1]}
			if linked[key] == nil {
				linked[key] = &linkedModule{dir: w[2], into: part.name}
			} else if into := linked[key]; into.into != "every program" && !strings.Contains(into.into, part.name) {
				into.into += ", " + part.name
			}
		}
	}
	return linked
}

// everyProgram lists containers, coherent, arena and the packages below pgas, but the collector of metrics, which is a
// module of its own.
func everyProgram(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", module+"/pgas/...", module+"/containers", module+"/coherent", module+"/arena").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.Replace(string(out), module+"/pgas/metrics/collector\n", "", 1)
}

type linkedModule struct {
	dir, into string
	listed    bool
}

// TestThirdPartyLicences: THIRD_PARTY_LICENSES.md lists each module that is linked, at its version, with
// a licence that its file of this name really has, and nothing else.
func TestThirdPartyLicences(t *testing.T) {
	linked := linkedModules(t)
	for _, row := range licencesListed(t) {
		m := linked[[2]string{row.module, row.version}]
		if m == nil {
			t.Errorf("THIRD_PARTY_LICENSES.md lists %s %s, which is not linked", row.module, row.version)
			continue
		}
		m.listed = true
		if row.linked != m.into {
			t.Errorf("%s is linked into %s, and THIRD_PARTY_LICENSES.md says %q", row.module, m.into, row.linked)
		}
		text, err := os.ReadFile(filepath.Join(m.dir, row.file))
		if err != nil {
			t.Errorf("the text of the licence of %s: %v", row.module, err)
			continue
		}
		if mark := licences[row.licence]; mark == nil || !mark.Match(text) {
			t.Errorf("%s of %s is not the licence %s, or that is none of those that a dependency may have", row.file, row.module, row.licence)
		}
	}
	for key, m := range linked {
		if !m.listed {
			t.Errorf("%s %s is linked into %s and not listed in THIRD_PARTY_LICENSES.md", key[0], key[1], m.into)
		}
	}
}
