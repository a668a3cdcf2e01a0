// Package callsite finds the file and line of the program's own call, for reports. Only slow paths ask for it: a wait
// that has slept, a call that fails, an allocation, the end of the job.
//
//ci:norace
package callsite

import (
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Module is the import path that the runtime's own functions start with.
const Module = "github.com/gopgas/gopgas/"

// generated is how the names of the files end that pgasgen writes.
const generated = "_pgas.go"

// ownPackages are those whose frames a report leaves out.
var ownPackages = [...]string{"pgas.", "pgas/", "arena.", "atomics.", "coherent.", "containers.", "dsm.", "dsm/", "input.", "internal/",
	"locks.", "notify.", "progress."}

// library are Go packages with functions that may stand between the program and the runtime.
var library = [...]string{"runtime.", "sync.", "iter.", "slices.", "maps.", "testing.", "internal/"}

// Program returns the file and line of the program's call that led to this one, such as "solver/main.go:40", or
// "" if no function of the program is on the stack.
func Program() string { return program(false) }

// OfPanic is Program for the call that has panicked. It is for a function that a deferred one calls, whose frames are
// on the stack above that call.
func OfPanic() string { return program(true) }

func program(behindPanic bool) string {
	var pcs [64]uintptr
	_, site := find(pcs[:runtime.Callers(3, pcs[:])], behindPanic)
	return site
}

// Stack is where a call was made, for a report that is seldom needed: to take it costs much less than to name it, and
// least if it is the same one again.
type Stack struct {
	path uint64 // Path at the call
	n    int
	pcs  [32]uintptr
}

// Take notes the stack of its caller.
func (s *Stack) Take() {
	if path := Path(); s.path != path || s.n == 0 {
		s.path = path
		s.n = runtime.Callers(2, s.pcs[:])
	}
}

// Program is the function of that name for the noted stack.
func (s *Stack) Program() string {
	_, site := s.Call()
	return site
}

// Call returns the name of the runtime's function that the program has called, such as "Queue.Push", and the site of
// that call. Both are "" if no function of the program is on the stack.
func (s *Stack) Call() (call, site string) { return find(s.pcs[:s.n], false) }

// Goroutine returns the number of the calling goroutine, as stack traces print it. It takes microseconds.
func Goroutine() (number uint64) {
	var text [40]byte
	for _, digit := range text[len("goroutine "):runtime.Stack(text[:], false)] {
		if digit < '0' || digit > '9' {
			break
		}
		number = 10*number + uint64(digit-'0')
	}
	return number
}

// find returns the name of the runtime's function that the program has called, such as "Queue.Push", and the site of
// that call. Both are "" if no function of the program is on the stack.
func find(pcs []uintptr, behindPanic bool) (call, site string) {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function == "runtime.gopanic" {
			behindPanic = false
		}
		if f.Function != "" && !behindPanic && !IsRuntime(f.Function, f.File) {
			return call, filepath.Join(filepath.Base(filepath.Dir(f.File)), filepath.Base(f.File)) + ":" + strconv.Itoa(f.Line)
		}
		if isCall(f.Function, f.File) {
			call = shortName(f.Function)
		}
		if !more {
			return "", ""
		}
	}
}

// isCall reports whether a function is one that programs call: of this module, or an accessor that pgasgen has written.
func isCall(function, file string) bool {
	return strings.HasPrefix(function, Module) || strings.HasSuffix(file, generated)
}

// shortName returns the name of a function without its package, its type arguments and what closures add: "Queue.Push"
// of "…/containers.(*Queue[...]).Push.func1".
func shortName(function string) string {
	name := strings.ReplaceAll(function[strings.LastIndexByte(function, '/')+1:], "[...]", "")
	_, name, _ = strings.Cut(name, ".")
	if receiver, method, ok := strings.Cut(name, ")."); ok {
		method, _, _ = strings.Cut(method, ".")
		method, _, _ = strings.Cut(method, "-") // the body of a loop over an iterator
		return strings.TrimPrefix(receiver, "(*") + "." + method
	}
	return name
}

// Call returns the name of the runtime's function that the program has called, such as "Queue.Push", or "" if no
// function of the program is on the stack.
func Call() string {
	var pcs [64]uintptr
	call, _ := find(pcs[:runtime.Callers(2, pcs[:])], false)
	return call
}

// At is the site of a call that has failed, for its error: " at solver/main.go:40", or "".
func At() string {
	if site := Program(); site != "" {
		return " at " + site
	}
	return ""
}

// checkout is the folder of this module where the program was built.
var checkout = func() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file))) + "/"
}()

// isOwnFile reports whether a file is of a package whose frames a report leaves out. It is asked because a function of
// the runtime that is inlined into the program, as iterators are, has the name of the program's function.
func isOwnFile(file string) bool {
	rest, ours := strings.CutPrefix(file, checkout)
	folder, _, _ := strings.Cut(rest, "/")
	return ours && (slices.Contains(ownPackages[:], folder+".") || slices.Contains(ownPackages[:], folder+"/"))
}

// IsRuntime reports whether a function is the runtime's, or one that pgasgen has written.
func IsRuntime(function, file string) bool {
	if strings.HasSuffix(file, "_test.go") {
		return false
	}
	if strings.HasSuffix(file, generated) || isOwnFile(file) {
		return true
	}
	for _, p := range library {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	rest, ours := strings.CutPrefix(function, Module)
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
