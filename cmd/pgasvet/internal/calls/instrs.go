package calls

// The instructions of a function.

import "golang.org/x/tools/go/ssa"

// eachInstr calls f with the instructions of fn.
func eachInstr(fn *ssa.Function, f func(ssa.Instruction)) {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			f(i)
		}
	}
}
