// Package release knows the releases of UCX: which of them this module works with, and what is wrong with each.
//
// Packages ucx and ucx/engine ask it which defects the library has with which they run, and work around those. What
// depends on how the library has been compiled, they try at run time instead. The table is in defects.go.
//
//ci:norace nocgo=short ucx
package release

import (
	"fmt"
	"strings"
)

// A Version is that of a release of UCX.
type Version struct{ Major, Minor, Patch int }

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Before reports whether v is older than w.
func (v Version) Before(w Version) bool {
	switch {
	case v.Major != w.Major:
		return v.Major < w.Major
	case v.Minor != w.Minor:
		return v.Minor < w.Minor
	}
	return v.Patch < w.Patch
}

var (
	// Oldest is the oldest release that this module works with: older ones lack functions that it calls.
	Oldest = Version{1, 13, 0}
	// Newest is the newest release in whose sources the defects of the table have been looked up.
	Newest = Version{1, 22, 0}
	// Tested are the releases with which the tests of this module run.
	Tested = []Version{{1, 13, 1}, {1, 18, 1}}
)

// Check returns an error if a program that was compiled with the headers of release built cannot work with the library
// of release running. Releases of one major version are compatible.
func Check(built, running Version) error {
	const remedy = "install libucx-dev of one of these, and build the program again"
	switch {
	case running.Before(Oldest):
		return fmt.Errorf("UCX %v is too old: this needs %v or newer, below %d: %s", running, Oldest, Newest.Major+1, remedy)
	case running.Major > Newest.Major:
		return fmt.Errorf("UCX %v is not known: this works with releases from %v to below %d: %s", running, Oldest, Newest.Major+1, remedy)
	case built.Major != running.Major:
		return fmt.Errorf("this program was built with UCX %v and runs with UCX %v: build it where it runs, or install UCX %d there", built, running, built.Major)
	}
	return nil
}

// Warning returns a line about a release that is newer than those which this module knows, and otherwise nothing.
func Warning(running Version) string {
	if (Version{running.Major, running.Minor, 0}).Before(Version{Newest.Major, Newest.Minor + 1, 0}) {
		return ""
	}
	tested := make([]string, len(Tested))
	for i, v := range Tested {
		tested[i] = v.String()
	}
	return fmt.Sprintf("UCX %v is newer than this program knows: it was tested with %s, and nothing is known of the defects of releases after %d.%d",
		running, strings.Join(tested, " and "), Newest.Major, Newest.Minor)
}
