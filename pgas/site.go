package pgas

// The site of a call in the program, for reports: file and line of the program's own call. Only slow paths ask
// for it: a wait that has slept, a call that fails, an allocation, the end of the job.

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// module is the import path that the runtime's own functions start with.
const module = "github.com/gopgas/gopgas/"

// ownPackages are those whose frames a report leaves out.
var ownPackages = [...]string{"pgas.", "pgas/", "locks.", "notify.", "atomics."}

// library are Go packages with functions that may stand between the program and the runtime.
var library = [...]string{"runtime.", "sync.", "iter.", "slices.", "maps.", "testing.", "internal/"}

// callSite returns the file and line of the program's call that led to this one, such as "solver/main.go:40", or
// "" if no function of the program is on the stack.
func callSite() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && !isOwn(f.Function, f.File) {
			return filepath.Join(filepath.Base(filepath.Dir(f.File)), filepath.Base(f.File)) + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return ""
		}
	}
}

// atSite is the site of a call that has failed, for its error: " at solver/main.go:40", or "".
func atSite() string {
	if site := callSite(); site != "" {
		return " at " + site
	}
	return ""
}

// isOwn reports whether a function is the runtime's, or one that pgasgen has written.
func isOwn(function, file string) bool {
	if strings.HasSuffix(file, "_test.go") {
		return false
	}
	if strings.HasSuffix(file, "_pgas.go") {
		return true
	}
	for _, p := range library {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	rest, ours := strings.CutPrefix(function, module)
	if !ours {
		return false
	}
	for _, p := range ownPackages {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	return false
}
