package callsite

import (
	"runtime/debug"
	"strings"
	"sync"
)

// IsStandard reports whether a function is one of Go's own packages, or of those that stand for the system there. Their
// paths look like those of a program whose module has no dot in its name, so the modules of the program count.
func IsStandard(function string) bool {
	if strings.HasPrefix(function, "golang.org/x/sys/") {
		return true
	}
	first, _, _ := strings.Cut(function, "/")
	pkg, _, _ := strings.Cut(first, ".")
	if pkg == "main" || first != pkg && first != function { // a dot in the first element of a path
		return false
	}
	mods, known := modules()
	for _, m := range mods {
		if strings.HasPrefix(function, m+".") || strings.HasPrefix(function, m+"/") || strings.HasPrefix(function, m+"_test.") {
			return false
		}
	}
	return known
}

// modules returns the paths of the modules that the program was built of, if that is known.
var modules = sync.OnceValues(func() (paths []string, known bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, false
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != "" {
			paths = append(paths, m.Path)
		}
	}
	return paths, true
})
