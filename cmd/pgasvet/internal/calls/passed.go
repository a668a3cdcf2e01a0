package calls

// What the calls of a package pass to its functions.

import "golang.org/x/tools/go/ssa"

// passedOf returns the arguments of all calls of those functions that this package alone can call, and that it does not
// use as values.
func passedOf(functions []*ssa.Function) map[*ssa.Parameter][]ssa.Value {
	passed := map[*ssa.Parameter][]ssa.Value{}
	unknown := map[*ssa.Function]bool{}
	invoked := map[string]bool{}
	for _, fn := range functions {
		eachInstr(fn, func(i ssa.Instruction) {
			called := noteCall(i, passed, invoked)
			for _, v := range i.Operands(nil) {
				if f, ok := (*v).(*ssa.Function); ok && f != called {
					unknown[f] = true
				}
			}
		})
	}
	for p := range passed {
		fn := p.Parent()
		o := fn.Object()
		if o == nil || o.Exported() || unknown[fn] || fn.Signature.Recv() != nil && invoked[o.Name()] || fn.Origin() != nil {
			delete(passed, p)
		}
	}
	return passed
}

// noteCall notes the arguments of i, if it is a call, and returns the function that it calls.
func noteCall(i ssa.Instruction, passed map[*ssa.Parameter][]ssa.Value, invoked map[string]bool) *ssa.Function {
	call, ok := i.(ssa.CallInstruction)
	if !ok {
		return nil
	}
	if call.Common().IsInvoke() {
		invoked[call.Common().Method.Name()] = true
		return nil
	}
	fn, ok := call.Common().Value.(*ssa.Function)
	if !ok {
		return nil
	}
	for n, p := range fn.Params {
		if n < len(call.Common().Args) {
			passed[p] = append(passed[p], call.Common().Args[n])
		}
	}
	return fn
}
