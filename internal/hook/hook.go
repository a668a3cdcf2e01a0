// Package hook reaches what package pgas does not export, for the packages of this module that are built on pgas:
// dsm, locks, containers and others need it, and programs have no use for it. (pgas/internal/private is the same for
// the packages below pgas/.)
//
// Package pgas sets the functions when it is initialized, and nothing else does. A world is a *pgas.World. Those that
// get one panic with *pgas.UsageError if it is nil or zero.
package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/gopgas/gopgas/internal/lockrecord"
	"github.com/gopgas/gopgas/pgas/boot"
)

// UsageError panics with the *pgas.UsageError of a call that the program misuses. op is the operation, as the program
// spells it, and msg what is wrong and what would be right. The error names the line of the program that made the
// call.
var UsageError func(op, msg string)

// Misuse is UsageError with a message that is formatted.
func Misuse(op, format string, args ...any) { UsageError(op, fmt.Sprintf(format, args...)) }

// MustBegin panics with *pgas.UsageError if the call op may not begin: if ctx is nil, or if on, a *pgas.World or a
// *pgas.Team, is nil, zero or destroyed.
var MustBegin func(op string, ctx context.Context, on any)

// MustBePlain panics with *pgas.UsageError if t holds a pointer at any depth: a pointer, string, slice, map, channel,
// func or interface means nothing on another PE. op is the operation that is called, as the program spells it.
var MustBePlain func(t reflect.Type, op string)

// Mismatch returns nil if all members of a team have said the same, and *pgas.MismatchError otherwise. said has the
// text of each member's call, in the order of the team; call is this PE's own.
var Mismatch func(call string, said []string) error

// Settings returns the settings of the environment for the job of a world.
var Settings func(world any) *boot.Settings

// An ImageFile is where package ckpt keeps images that PEs of the next term find.
type ImageFile struct {
	File  *os.File // the memory of this host
	Hosts []boot.Host
	Since int // the term in which the memory was made
	Term  int // how often the PEs of the job were started, this time included
	// ShareJournals says where in this PE's heap n journals of PEs of other hosts are, each of as many bytes. The agent
	// of the host keeps them when the PEs have ended.
	ShareJournals func(areas []byte, n int)
}

// Images returns the ImageFile of the job of a world, or nil if it has none. mine is true at the first call alone: one
// of a program's parts may use it.
var Images func(world any) (f *ImageFile, mine bool)

// Simulated reports whether the PE of a world runs in the simulator.
var Simulated func(world any) bool

// SyncOr is World.Sync and returns the bitwise or of the words of all PEs, in the time of Sync. Its errors are those
// of Sync. PEs that call SyncOr, and others that call Sync or Barrier at the same time, get *pgas.MismatchError.
var SyncOr func(ctx context.Context, world any, word uint64) (uint64, error)

// ErrStop is the error by which the body of pgas.Main says that it has saved the state of the job and ends because it
// was asked to. The PE leaves the job as after nil, and its process exits with boot.StopStatus.
var ErrStop = errors.New("the state is saved, and the job ends as it was asked to")

// StopLater has a first SIGTERM to a program of pgas.Main not end the context of its body. asked reports whether it has
// come.
var StopLater func(world any) (asked func() bool)

// Leaves reports whether a world ends by Close, and not because its PE has failed. Functions of World.AtClose may call
// it.
var Leaves func(world any) bool

// Settle completes the operations and the non-blocking collectives of all PEs, on all contexts, and returns the bitwise
// or of the words that PEs give. It is collective. It panics with *pgas.UsageError if the PE holds a lock, or has a
// notification that nobody has waited for. op is the call, as the program spells it.
var Settle func(ctx context.Context, world any, op string, word uint64) (uint64, error)

// RegisterCoherent makes operations copy a source or a destination that lies in memory, before or after they use the
// transport to other hosts, so that the transport never accesses memory itself. Package dsm registers the pages of a
// region for which a pager serves page faults. RegisterCoherent does not access memory, which must not be on a stack,
// and applies to operations that begin after it has returned. unregister ends it, when no operation uses memory any
// more; it may be called again.
//
// Operations on PEs of this host are copies by the calling goroutine in any case.
var RegisterCoherent func(world any, memory []byte) (unregister func())

// ExemptFromRaces has PGAS_CHECK=race not judge accesses to the memory of s on this PE, a pgas.Sym of bytes or
// of uint64, until s is freed. A protocol fetches a block while others write to it, and the program does not read what
// the protocol has not found to be whole. PEs call ExemptFromRaces before any of them accesses s.
var ExemptFromRaces func(s any)

// Outside opens a way to the symmetric heaps of all PEs of other hosts, for one thread that is not Go's, such as the
// pager of coherent memory. The thread must not wait for Go, because Go may wait for it. address is that of a struct
// outside, whose functions ucx/engine/outside.h describes. It is 0 if every PE is reached by memory that this PE
// maps. The first messages to all these PEs leave before Outside returns; Outside waits for no PE.
//
// close ends a call of the thread that is under way, and closes the way; it may be called again. Later calls of the
// thread return -1 until the world is closed. A world that closes closes the way too, so the thread must have ended
// by then: World.AtClose can end it. Outside returns an error if the transport has no such way (the simulator has
// none), if the way cannot be opened, or if the world is closed.
var Outside func(world any) (address uintptr, close func() error, err error)

// CoherentWait is what a wait of package dsm is part of.
type CoherentWait struct {
	Release  bool   // of blocks that this PE has written; false for a fetch
	Block    int    // the first block that is waited for
	PE       int    // the PE that is waited for, or -1 if it is not known
	Elements string // what the block holds
}

// WithCoherentWait returns a context derived from ctx. While a wait with it is blocked, reports show what why
// returns, or the wait itself where why returns false. why is called by the goroutine that waits, when the wait does
// not end at once, and must not block.
var WithCoherentWait func(ctx context.Context, why func() (CoherentWait, bool)) context.Context

// RecordPages adds to the counters of coherent memory in the PE's Stats: page faults, and pages or blocks fetched and
// released. It does nothing if nothing is recorded.
var RecordPages func(world any, faults, fetched, released uint64)

// LockUse returns the counters of locks of the PE of a world.
var LockUse func(world any) *lockrecord.Use

// TraceLock returns the trace of a lock of some kind. ref is a pgas.Ref of the element that the lock is a part of.
var TraceLock func(ref any, kind string) lockrecord.Trace

// An Order takes an order of PEs that is made by something else than symmetric memory to a detector of races.
type Order interface {
	// Release returns what comes before this moment of the PE. It is empty if there is no detector.
	Release() []byte
	// Acquire notes that what another PE has released comes before what this one does from now on.
	Acquire(released []byte)
}

// OrderOf returns the Order of the PE of a world.
var OrderOf func(world any) Order

// OrderIn returns the Order of the PE whose body got ctx or one that ctx is derived from, or nil if there is no
// detector or no PE.
var OrderIn func(ctx context.Context) Order

// YieldTo yields the CPU if pe is another PE of this host and PEs share CPUs; otherwise it does nothing. A PE calls
// it after it has handed a lock to pe: other PEs wait for pe, and pe may need this CPU to go on. YieldTo yields
// again, as often as PEs share a CPU at most, while more PEs wait in queues (WaitBehind, pgas.Lock) than can run at
// once.
var YieldTo func(world any, pe int)

// WaitBehind blocks until this PE's copy of a word is not waiting, and returns its value. word is a
// *pgas.Atomic[int64]. The PE stands in a queue behind PE pred, which still waits while its own copy is waiting; -1
// means that the predecessor is not known. The predecessor matters where PEs share CPUs: a waiter whose predecessor
// still waits yields the CPU at every poll, and the next one in turn polls for a moment first. The errors are those
// of pgas.Atomic.WaitUntil. WaitBehind panics with *pgas.UsageError also if pred is out of range.
var WaitBehind func(ctx context.Context, word any, waiting int64, pred int) (int64, error)
