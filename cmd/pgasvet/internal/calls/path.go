package calls

// Names of values, so that two loads of one place have one name.

import (
	"fmt"
	"go/constant"
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// Path names v: values that are loaded from one place through one chain of fields have one name.
func Path(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return "*" + Path(v.X)
		}
	case *ssa.FieldAddr:
		return fmt.Sprintf("%s.%d", Path(v.X), v.Field)
	case *ssa.Field:
		return fmt.Sprintf("%s.%d", Path(v.X), v.Field)
	case *ssa.IndexAddr:
		return Path(v.X) + "[" + Path(v.Index) + "]"
	case *ssa.ChangeType:
		return Path(v.X)
	case *ssa.Const:
		if v.Value != nil && (v.Value.Kind() == constant.Int || v.Value.Kind() == constant.String) {
			return v.Value.ExactString()
		}
	case *ssa.FreeVar:
		if outer := captured(v); outer != nil {
			return Path(outer)
		}
	case *ssa.Global:
		return v.String()
	}
	return fmt.Sprintf("%p", v)
}

// TeamPath names the PEs that a collective is of, or that a PE number counts: world for all PEs of the job.
func TeamPath(team ssa.Value) string {
	if team == nil || IsType(team.Type(), "World") {
		return World
	}
	if call, ok := team.(*ssa.Call); ok {
		if c, ok := Of(call); ok && c.Is("pgas", "World.Team") {
			return World
		}
	}
	if !IsType(team.Type(), "Team") && !isContainer(team.Type()) {
		return World // a dsm.Region, or a Member of it
	}
	return Path(team)
}

// World is the TeamPath of all PEs.
const World = "world"

// intOf returns the number that v is, or otherwise if v is nil.
func intOf(v ssa.Value, otherwise int64) (n int64, ok bool) {
	if v == nil {
		return otherwise, true
	}
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(c.Value)
}
