package main

// The benches, and how one point of one of them is run: a barrier, the work, which is measured,
// a barrier, and every PE checks its memory against what must have arrived. A figure without that check is
// not printed.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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

// benches is the table, in the order in which they run.
var benches = slices.Concat(benchesOfOperations, benchesOfNotes, benchesOfLocks())

var benchesOfOperations = []bench{
	{"put", "put to one PE, quiet at the end", everySize, false, putTask},
	{"put-quiet", "put and wait until it is complete there", everySize, false, putQuietTask},
	{"get", "blocking get", everySize, false, getTask},
	{"rate", "non-blocking puts, a quiet every 64", sizes{1, 1024, 1}, false, rateTask},
	{"bandwidth", "non-blocking puts, a quiet every 64", everySize, false, bandwidthTask},
	{"signal-pingpong", "put with signal there and back, one way", sizes{8, mostBytes, 1}, true, signalTask},
	{"flag-pingpong", "put, fence, flag there and back, one way; 8 bytes are the flag itself", sizes{8, mostBytes, 1}, true, flagTask},
	{"call", "a word to the partner and its answer, by a goroutine of each PE, while another serves the partner", oneWord, true, callTask},
	{"fetch-add", "atomic add that returns the old value", oneWord, false, fetchAddTask},
	{"compare-swap", "atomic compare-and-swap that happens", oneWord, false, compareSwapTask},
	{"swap", "atomic swap", oneWord, false, swapTask},
	{"fetch", "atomic read", oneWord, false, fetchTask},
	{"barrier", "barrier of all PEs", sizeless, false, barrierTask},
	{"broadcast", "broadcast of a message to all PEs, from each PE in turn", words, false, broadcastTask},
	{"fcollect", "collect a block of each PE, all of one length", words, false, fcollectTask},
	{"collect", "collect where lengths may differ", words, false, collectTask},
	{"alltoall", "send each PE a block of its own", words, false, alltoallTask},
	{"sum", "sum of a vector of 64-bit integers of each PE", words, false, sumTask},
	{"copy", "copy from one mapping of shared memory to another, without pgas: the floor of put", everySize, false, copyTask},
	{"idle", "memory of a PE that does nothing (only when asked for by name)", sizeless, false, nil},
}

func benchNames() []string {
	names := make([]string, len(benches))
	for i, b := range benches {
		names[i] = b.name
	}
	return names
}

// list returns a line for each bench.
func list() string {
	text := ""
	for _, b := range benches {
		text += fmt.Sprintf("%-16s %s\n", b.name, b.doc)
	}
	return text
}

// A task is one point made ready.
type task struct {
	// batch runs operations first … first+n-1 and consumes what they return.
	batch func(first, n int) error
	// verify runs on every PE after a barrier, and returns what is not as done operations leave it.
	verify  func(done int) error
	step    int             // batches are a multiple of it
	alone   bool            // PE 0 works, the others wait
	contest *result.Contest // instead of batch: what all PEs compete for, for a fixed time
	long    bool            // long batches
	ways    float64         // of what is counted, in one operation
	via     string          // how it travels
	end     func()          // gives back what the task took; may be nil
}

// A runner is this PE's side of all benches.
type runner struct {
	ctx     context.Context
	w       *pgas.World
	partner int
	plan    result.Plan
	clock   func() time.Duration // nil: the real one
	ring    pgas.Slice[uint64]   // the words of a Ring
	board   BoardRef
	boards  BoardSym
	shares  ShareSym
	area    pgas.Sym[byte]
	blocks  pgas.Sym[int64] // of collectives: see gather
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

// point measures b at one size and checks what it left behind.
func (r *runner) point(b bench, size int) (result.Result, error) {
	r.wrong = 0
	t := b.task(r, size)
	if err := r.startCosts(); err != nil {
		return result.Result{}, err
	}
	if t.end != nil {
		defer t.end()
	}
	res, done, err := r.figures(b, size, t)
	if err == nil && r.costs != nil {
		err = r.addCosts(&res, done)
	}
	if err == nil {
		err = t.verify(done)
	}
	if err == nil {
		err = r.w.Barrier(r.ctx) // no PE starts the next before all have looked
	}
	if err != nil {
		return result.Result{}, fmt.Errorf("%s of %d bytes: %w", b.name, size, err)
	}
	return res, nil
}

// figures measures t. The result is PE 0's alone; how many operations were done is known to every PE.
func (r *runner) figures(b bench, size int, t task) (res result.Result, done int, err error) {
	if t.contest != nil {
		shares, done, err := r.contend(t)
		if err != nil || r.w.PE() != 0 {
			return res, done, err
		}
		return result.OfShares(b.name, size, t.via, shares), done, nil
	}
	s, err := r.measure(t)
	if err != nil || r.w.PE() != 0 {
		return res, s.Done, err
	}
	return result.Of(b.name, size, r.w.NPEs(), t.via, s, t.ways), s.Done, nil
}

// measure runs t on all PEs. The number of operations is known to every PE afterwards, the samples to
// the PEs that took part.
func (r *runner) measure(t task) (s result.Series, err error) {
	if err := r.w.Barrier(r.ctx); err != nil {
		return s, err
	}
	w := result.Work{Batch: r.watched(t.batch), Step: t.step, Long: t.long, Clock: r.clock}
	if !t.alone {
		w.Agree = r.agree
	}
	if !t.alone || r.w.PE() == 0 {
		if s, err = r.plan.Measure(w); err != nil {
			return s, err
		}
	}
	if err := r.w.Quiet(r.ctx); err != nil {
		return s, err
	}
	s.Done, err = r.agree(s.Done)
	return s, err
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

// run measures everything that o asks for. PE 0 prints.
func run(ctx context.Context, w *pgas.World, o *options, stdout, stderr io.Writer) error {
	if o.bench.String() == "idle" || o.bench.String() == "^idle$" {
		return runIdle(ctx, w, o, stdout)
	}
	if o.beside > 0 && w.PE() == 0 {
		stop, err := startBeside(o.beside)
		if err != nil {
			return err
		}
		defer stop()
	}
	points := choose(o, w.NPEs())
	r, err := newRunner(ctx, w, o.plan, largest(points))
	if err != nil {
		return err
	}
	if o.costs {
		r.costs = &costs{simulated: o.simulated}
	}
	if o.simulated {
		r.clock = w.Now
	}
	out := newOutput(o, w.PE() == 0, stdout)
	news := newProgress(stderr, w.PE() == 0 && !o.simulated, len(points), time.Now)
	if len(points) == 0 && w.PE() == 0 {
		return fmt.Errorf("nothing to measure: ping-pongs need two PEs (pgasrun -n 2 pgasbench), and each bench has sizes of its own (pgasbench -list)")
	}
	for _, p := range points {
		news.at(p.b.name, p.size)
		res, err := r.point(p.b, p.size)
		if err != nil {
			return err
		}
		res.Beside = o.beside
		if err := out.add(res); err != nil {
			return err
		}
	}
	return out.close()
}

// largest returns the size of the largest operand.
func largest(points []point) (most int) {
	for _, p := range points {
		most = max(most, p.size)
	}
	return most
}

type point struct {
	b    bench
	size int
}

// choose lists the points in the order of the table. Idle memory is another kind of figure.
func choose(o *options, npes int) []point {
	var points []point
	for _, b := range benches {
		if !o.bench.MatchString(b.name) || b.task == nil || b.pair && npes < 2 {
			continue
		}
		for _, size := range b.sizes.of(o.sizes) {
			points = append(points, point{b, size})
		}
	}
	return points
}
