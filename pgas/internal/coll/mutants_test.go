package coll_test

// Planted bugs of joint copies and of reductions through staging areas. Each is an edit of the source, which is
// compiled in its place (go test -overlay) and must be found by the tests of every order, or by adversaries. The first
// of each is always tried, the others with -long.

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

const (
	byJointOrders = "^TestJointEveryOrder$"
	byExploration = "^TestStagedLinearExplored$"
	byAdversaries = "^TestStagedLinearAdversaries$"
)

var jointMutants = []mutant.Bug{
	mutant.New("a call's tasks are not opened anew", "joint.go", byJointOrders,
		"\tt.taken.Store(0)\n", ""),
	mutant.New("what is finished is counted over all calls", "joint.go", byJointOrders,
		"\tt.finished.Store(t.call << taskBits)\n", ""),
	mutant.New("nobody takes the first task", "joint.go", byJointOrders,
		"t.taken.Add(one) - one", "t.taken.Add(one)"),
	mutant.New("two members take the same task", "joint.go", byJointOrders,
		"t.taken.Add(one) - one", "t.taken.Load()"),
	mutant.New("tasks are taken from both ends until each end has had all", "joint.go", byJointOrders,
		"fromFront+fromBack < n", "fromFront < n && fromBack < n"),
	mutant.New("the last task is nobody's", "joint.go", byJointOrders,
		"fromFront+fromBack < n", "fromFront+fromBack < n-1"),
	mutant.New("the last task is not waited for", "joint.go", byJointOrders,
		"return t.call<<taskBits + uint64(n) }", "return t.call<<taskBits + uint64(n) - 1 }"),
	mutant.New("tasks of an earlier call count", "joint.go", byJointOrders,
		"return t.call<<taskBits + uint64(n) }", "return uint64(n) }"),
}

var stagedLinearMutants = []mutant.Bug{
	mutant.New("a part is combined before it has arrived", "reduce_staged_linear.go", byExploration,
		"\t\t\tif err := g.awaitMailbox(ctx, parts+mailbox(h), l.hosts[h][0]); err != nil {\n\t\t\t\treturn err\n\t\t\t}\n", ""),
	mutant.New("the result is sent before it is there", "reduce_staged_linear.go", byExploration,
		"\tif err := r.combineParts(ctx, parts); err != nil {\n\t\treturn err\n\t}\n\tlo, hi", "\tlo, hi",
		"r.offset(lo), AsBytes(mine[lo:hi]))\n\t}\n", "r.offset(lo), AsBytes(mine[lo:hi]))\n\t}\n\tif err := r.combineParts(ctx, parts); err != nil {\n\t\treturn err\n\t}\n"),
	mutant.New("a leader leaves before a result is there", "reduce_staged_linear.go", byExploration,
		"\t\th := (me - d + n) % n\n", "\t\th := (me - d + n) % n\n\t\tif d == n-1 {\n\t\t\tbreak\n\t\t}\n"),
	mutant.New("a part is taken for a result", "reduce_staged_linear.go", byExploration,
		"parts, results := g.takeMailboxes(n), g.takeMailboxes(n)", "parts := g.takeMailboxes(n)\n\tresults := parts"),
	mutant.New("a leader signals the mailbox of the part's host", "reduce_staged_linear.go", byExploration,
		"g.putThenSignal(l.hosts[h][0], parts+mailbox(me), ", "g.putThenSignal(l.hosts[h][0], parts+mailbox(h), "),
	mutant.New("the leader's own part comes first", "reduce_staged_linear.go", byExploration,
		"\tfor h := range l.hosts {\n\t\tv := mine", "\tcopy(acc, mine)\n\tfor h := range l.hosts {\n\t\tif h == me {\n\t\t\tcontinue\n\t\t}\n\t\tv := mine",
		"\t\tif h == 0 {\n\t\t\tcopy(acc, v)\n\t\t} else {\n\t\t\tr.f.into(acc, acc, v)\n\t\t}\n", "\t\tr.f.into(acc, acc, v)\n"),
	mutant.New("the parts of two hosts come to the same place", "reduce_staged_linear.go", byAdversaries,
		"place := (from-host+n)%n - 1", "place := (from - host + n) % n / n"),
}

//ci:weekly
func TestJointMutants(t *testing.T) { mutant.Plant(t, jointMutants, *long) }

//ci:weekly
func TestStagedLinearMutants(t *testing.T) { mutant.Plant(t, stagedLinearMutants, *long) }
