package pgas

// What other packages of this module may do with a World, and programs may not: pgas/internal/private and
// internal/hook say what the functions are for.

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/lockrecord"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/transport"
)

func init() {
	private.Open = func(ctx context.Context, job *boot.Job, opts private.Options) (any, error) {
		return openWith(ctx, job, opts)
	}
	private.Group = func(team any) *coll.Group { return team.(*Team).g }
	private.Node = func(world any) *node.Node { return &world.(*World).n }
	private.HotLines = func(world any) ([]uintptr, transport.Channel) { return world.(*World).hotLines() }

	hook.UsageError = func(op, msg string) { panic(&UsageError{Op: op, Msg: msg, At: callsite.Program()}) }
	hook.MustBegin = mustBegin
	hook.MustBePlain = func(t reflect.Type, op string) { mustBePlain(t, op) }
	hook.Mismatch = mismatch
	hook.Settings = func(world any) *boot.Settings { return &opened(world, "Settings").n.Job.Settings }
	hook.Images = func(world any) (*hook.ImageFile, bool) { return opened(world, "Images").images() }
	hook.Simulated = func(world any) bool { return opened(world, "Simulated").n.Sched != nil }
	hook.Settle = func(ctx context.Context, world any, op string, word uint64) (uint64, error) {
		return opened(world, op).settle(ctx, op, word)
	}
	hook.Leaves = func(world any) bool { return world.(*World).leaves.Load() }
	hook.StopLater = func(world any) (asked func() bool) { return opened(world, "StopLater").stopLater() }
	setCoherentHooks()
	setLockHooks()
}

// setCoherentHooks sets what package dsm calls.
func setCoherentHooks() {
	hook.SyncOr = func(ctx context.Context, world any, word uint64) (uint64, error) {
		return opened(world, "SyncOr").syncOr(ctx, word)
	}
	hook.RegisterCoherent = func(world any, memory []byte) (unregister func()) {
		return opened(world, "RegisterCoherent").coherent.Add(memory)
	}
	hook.ExemptFromRaces = func(s any) {
		switch m := s.(type) {
		case Sym[byte]:
			exemptFromRaces(m)
		case Sym[uint64]:
			exemptFromRaces(m)
		default:
			panic(fmt.Sprintf("pgas: ExemptFromRaces of a %T", s))
		}
	}
	hook.Outside = func(world any) (uintptr, func() error, error) { return opened(world, "Outside").outside() }
	hook.WithCoherentWait = withCoherentWait
	hook.RecordPages = func(world any, faults, fetched, released uint64) {
		opened(world, "RecordPages").recordPages(faults, fetched, released)
	}
}

// images is hook.Images.
func (w *World) images() (f *hook.ImageFile, mine bool) {
	job := w.n.Job
	if job.Images == nil {
		return nil, false
	}
	f = &hook.ImageFile{File: job.Images, Hosts: job.Hosts, Since: job.ImagesTerm, Term: job.Term, ShareJournals: w.shareJournals}
	return f, w.keeps.CompareAndSwap(false, true)
}

// shareJournals is hook.ImageFile.ShareJournals.
func (w *World) shareJournals(areas []byte, n int) {
	j := &w.n.Job.State().Journals
	j.At.Store(uint64(uintptr(unsafe.Pointer(unsafe.SliceData(areas))) - uintptr(w.n.HeapBase.P)))
	j.Bytes.Store(uint64(len(areas) / n))
	j.Count.Store(uint64(n))
}

func exemptFromRaces[T any](s Sym[T]) {
	if s.Len() > 0 {
		s.ctx.w.n.Races.Exempt(s.blk.off, s.blk.off+s.blk.bytes)
	}
}

// setLockHooks sets what package locks calls.
func setLockHooks() {
	hook.LockUse = func(world any) *lockrecord.Use { return &opened(world, "LockUse").lockUse }
	hook.TraceLock = func(ref any, kind string) lockrecord.Trace {
		return ref.(interface {
			traceLock(kind string) lockrecord.Trace
		}).traceLock(kind)
	}
	hook.OrderOf = func(world any) hook.Order { return opened(world, "OrderOf").n.Races }
	hook.OrderIn = func(ctx context.Context) hook.Order {
		if p := racecheck.Of(ctx); p != nil {
			return p
		}
		return nil
	}
	hook.YieldTo = func(world any, pe int) { opened(world, "YieldTo").n.YieldTo(pe) }
	hook.WaitBehind = func(ctx context.Context, word any, waiting int64, pred int) (int64, error) {
		return word.(*Atomic[int64]).waitUntilPred(ctx, NE, waiting, pred, waiting)
	}
}

// traceLock returns the trace of a lock of some kind that r refers to a part of.
func (r Ref[T]) traceLock(kind string) lockrecord.Trace {
	w := r.ctx.world("TraceLock")
	var held lockrecord.Holders
	if w.check != nil {
		held = &w.check.locks
	}
	return lockrecord.NewTrace(w.n.Rec, held, uint64(r.off&offsetMask), kind)
}

// lineBytes is the size of a cache line.
const lineBytes = 64

// hotLines returns the addresses of the cache lines that an operation reads of the objects of its PE, and the channel
// of the default context. The simulator runs thousands of PEs in turn, and nothing of a PE is in a cache when it goes
// on, so the simulator prefetches these lines. Reading them one after the other, each at the end of a chain of
// pointers, would take longer than all else that an operation does.
func (w *World) hotLines() (lines []uintptr, remote transport.Channel) {
	c := w.defaultCtx
	add := func(p unsafe.Pointer, bytes uintptr) {
		end := uintptr(p) + bytes
		for at := uintptr(p) &^ (lineBytes - 1); at < end; at += lineBytes {
			lines = append(lines, at)
		}
	}
	add(unsafe.Pointer(c), unsafe.Sizeof(*c))
	add(unsafe.Pointer(c.team), unsafe.Sizeof(c.team.w)+unsafe.Sizeof(c.team.g))
	add(unsafe.Pointer(c.team.g), unsafe.Offsetof(coll.Group{}.Me))
	add(unsafe.Pointer(&w.coherent), unsafe.Sizeof(w.coherent))
	if c.remote == nil {
		return lines, nil
	}
	add(unsafe.Pointer(c.remote), unsafe.Offsetof(c.remote.landings))
	return lines, c.remote.unrecorded
}
