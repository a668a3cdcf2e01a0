package flow

import "golang.org/x/tools/go/ssa"

// Paths visits what paths behind a call come to, each block once, where the call has not failed. A path ends where end
// says so.
func Paths(from *ssa.Call, end func(ssa.Instruction) bool) {
	seen := map[*ssa.BasicBlock]bool{}
	var visit func(b *ssa.BasicBlock, instrs []ssa.Instruction)
	visit = func(b *ssa.BasicBlock, instrs []ssa.Instruction) {
		for _, i := range instrs {
			if end(i) {
				return
			}
		}
		for _, to := range b.Succs {
			if !seen[to] && !Fails(from, b, to) {
				seen[to] = true
				visit(to, to.Instrs)
			}
		}
	}
	for n, i := range from.Block().Instrs {
		if i == ssa.Instruction(from) {
			visit(from.Block(), from.Block().Instrs[n+1:])
		}
	}
}
