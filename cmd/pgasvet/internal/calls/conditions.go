package calls

// Conditions of branches: which ones say the same about the PE number, or what follows from one for another.

import (
	"fmt"
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// A Condition is the condition of a branch. Two with the same name have the same value wherever a PE evaluates them,
// but for not.
type Condition struct {
	name string
	not  bool

	subject string // what is compared with a constant, or empty
	op      token.Token
	with    int64
}

// ConditionOf returns the condition that v is.
func ConditionOf(v ssa.Value) Condition {
	switch x := onlyValue(v).(type) {
	case *ssa.UnOp:
		if x.Op == token.NOT {
			c := ConditionOf(x.X)
			c.not = !c.not
			return c
		}
	case *ssa.BinOp:
		return comparison(x)
	}
	return Condition{name: NameOf(v)}
}

// comparison returns the condition of an operation on two values: a != b is not a == b, a >= b is not a < b.
func comparison(x *ssa.BinOp) Condition {
	c := Condition{op: x.Op}
	if n, ok := intOf(x.Y, 0); ok {
		c.subject, c.with = NameOf(x.X), n
	}
	switch x.Op {
	case token.NEQ:
		c.op, c.not = token.EQL, true
	case token.GEQ:
		c.op, c.not = token.LSS, true
	case token.GTR:
		c.op, c.not = token.LEQ, true
	}
	c.name = fmt.Sprintf("(%s %s %s)", NameOf(x.X), c.op, NameOf(x.Y))
	return c
}

// NameOf names a value as Path does, and the PE number of a team and what is computed from named values, too.
func NameOf(v ssa.Value) string {
	v = onlyValue(v)
	switch x := v.(type) {
	case *ssa.BinOp:
		return fmt.Sprintf("(%s %s %s)", NameOf(x.X), x.Op, NameOf(x.Y))
	case *ssa.Convert:
		return NameOf(x.X)
	case *ssa.Call:
		if c, ok := Of(x); ok && (isPE(c) || c.Name == "NPEs") {
			return c.Name + " of " + TeamPath(onlyValue(c.Recv))
		}
		if callee := x.Call.StaticCallee(); callee != nil && len(callee.Blocks) == 1 {
			name := callee.String() + "("
			for _, a := range x.Call.Args {
				name += NameOf(a) + ","
			}
			return name + ")"
		}
	}
	return Path(v)
}

// IsMembership reports whether v asks whether this PE is a member of a team.
func IsMembership(v ssa.Value) bool {
	c := ConditionOf(v)
	return c.op == token.EQL && c.with == -1 || c.op == token.LSS && c.with == 0 || c.op == token.LEQ && c.with == -1
}

// Follows returns the value of c, if it is known where the condition given is what is says.
func (c Condition) Follows(given Condition, is bool) (value, known bool) {
	if given.not {
		is = !is
	}
	switch {
	case c.name == given.name:
		value, known = is, true
	case c.subject == "" || c.subject != given.subject || given.op != token.EQL:
	case is:
		value, known = compare(given.with, c.op, c.with)
	case given.with == 0: // PE numbers that are not 0 are larger
		switch {
		case c.op == token.LSS && c.with <= 1, c.op == token.LEQ && c.with <= 0, c.op == token.EQL && c.with < 0:
			value, known = false, true
		}
	}
	return known && value != c.not, known
}

// compare evaluates a comparison of numbers.
func compare(a int64, op token.Token, b int64) (value, known bool) {
	switch op {
	case token.EQL:
		return a == b, true
	case token.LSS:
		return a < b, true
	case token.LEQ:
		return a <= b, true
	}
	return false, false
}
