package main

// What measures one point: a bench is made ready as a task, which a runner of each PE carries out.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/pgas"
)

// A bench is one row of the table: an operation and the sizes it makes sense for.
type bench struct {
	name  string
	doc   string
	sizes sizes
	pair  bool // needs a partner
	task  func(r *runner, size int) task
}

// sizes says which operand sizes a bench has: multiples of unit.
type sizes struct{ least, most, unit int }

var (
	everySize = sizes{1, mostBytes, 1}
	sizeless  = sizes{0, 0, 1}
	oneWord   = sizes{8, 8, 1}
	words     = sizes{8, mostBytes, 8}
)

// of returns the wanted sizes that s has.
func (s sizes) of(wanted []int) []int {
	if s.least == s.most {
		return []int{s.least}
	}
	var have []int
	for _, size := range wanted {
		if size >= s.least && size <= s.most && size%s.unit == 0 {
			have = append(have, size)
		}
	}
	return have
}

// A task is one point made ready.
type task struct {
	// batch runs operations first … first+n-1 and consumes what they return.
	batch func(first, n int) error
	// verify runs on every PE after a barrier, and returns what is not as done operations leave it.
	verify  func(done int) error
	step    int             // the length of a batch is a multiple of step
	alone   bool            // PE 0 works, the others wait
	contest *result.Contest // what all PEs compete for, for a fixed time, instead of batch
	long    bool            // batches are long
	ways    float64         // how often an operation does what is counted
	via     string          // how the operation travels
	end     func()          // gives back what the task took; may be nil
}

// A runner is this PE's side of all benches.
type runner struct {
	ctx     context.Context
	w       *pgas.World
	partner int
	plan    result.Plan
	clock   func() time.Duration // the clock; nil: the real one
	ring    pgas.Slice[uint64]   // the words of a Ring
	board   BoardRef
	boards  BoardSym
	shares  ShareSym
	area    pgas.Sym[byte]
	blocks  pgas.Sym[int64] // the memory of collectives: see gather
	payload []byte          // private memory of this PE
	wrong   uint64          // bits in which what came back differed from what it had to be
	compute func() error    // what an overlap bench does while data travels
	costs   *costs          // what is measured besides time; nil: nothing
}

// ringBytes is what small operands walk through.
const ringBytes = 64 << 10

// newRunner allocates what the benches work on, for operands of up to most bytes. It is collective.
func newRunner(ctx context.Context, w *pgas.World, plan result.Plan, most int) (*runner, error) {
	r := &runner{ctx: ctx, w: w, partner: w.NPEs() - 1, plan: plan, payload: make([]byte, max(most, 8))}
	rings, err := AllocRing(ctx, w, 1)
	if err != nil {
		return nil, err
	}
	r.ring = rings.At(0).Words()
	if r.boards, err = AllocBoard(ctx, w, 1); err != nil {
		return nil, err
	}
	if r.area, err = pgas.AllocAligned[byte](ctx, w, max(most, ringBytes), 4096); err != nil {
		return nil, err
	}
	r.board = r.boards.At(0)
	if r.shares, err = AllocShare(ctx, w, w.NPEs()); err != nil {
		return nil, err
	}
	return r, nil
}

// agree returns PE 0's value on every PE.
func (r *runner) agree(value int) (int, error) {
	if r.w.PE() == 0 {
		for pe := range r.w.NPEs() {
			r.board.PutAgreed(pe, int64(value))
		}
	}
	if err := r.w.Barrier(r.ctx); err != nil {
		return 0, err
	}
	value = int(r.board.Local().Agreed)
	return value, r.w.Barrier(r.ctx)
}

// errGot reports a value that came back wrong.
var errGot = errors.New("a value that came back is wrong")

func (r *runner) checkGot(int) error {
	if r.wrong != 0 {
		return errGot
	}
	return nil
}

// costs is one PE's reading before a point.
type costs struct {
	simulated bool
	before    spending
	inBatches uint64 // bytes sent during PE 0's batches, if simulated
}

// oneSided makes a task of PE 0 alone.
//
// Its hot loops are functions of their own: the compiler does not inline accessors into a closure that
// it has itself inlined into another function.
func (r *runner) oneSided(batch func(first, n int) error, verify func(done int) error) task {
	return task{batch: batch, verify: verify, step: 1, alone: true, ways: 1, via: r.w.TransportTo(r.partner)}
}

func checkWord(got uint64, want int) error {
	if got != uint64(want) {
		return fmt.Errorf("a word is %d and should be %d", got, want)
	}
	return nil
}

// mostBytes is the largest operand.
const mostBytes = 4 << 20

// spending is what this PE has spent since its start.
type spending struct {
	cpu      uint64 // CPU time in ns
	switches uint64 // switches of a CPU from this PE to another thread
	wire     uint64 // bytes sent to other hosts, counted by the first PE of a host
}

// plays reports whether this PE is one of the two that play.
func (r *runner) plays() bool { return r.w.PE() == 0 || r.w.PE() == r.partner }
