//go:build cgo

// Package outsidetest has a thread of C for tests of what an engine gives to threads that are not Go's (outside.h of
// package engine): it reads the heap of another PE, changes a word there, and checks every result.
package outsidetest

/*
#include <stdlib.h>
#include "thread.h"

static struct work work_of(uintptr_t way)
{
    return (struct work){.way = (struct outside *)way};
}
*/
import "C"

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"
	"unsafe"
)

// Work is what a thread does: in each round it gets a part of the data of PE, and raises a word there.
type Work struct {
	Address     uintptr // of the struct outside
	PE          int
	Data, Bytes uint64 // offset and size of the data, which Fill has filled
	Word        uint64 // offset of an aligned 64-bit word that is 0 and that this thread alone changes
	Rounds      uint64 // rounds to do; 0: until a call fails or Stop
	Whole       bool   // a round gets all of the data, else most get a small part
	Impatient   bool   // a call that takes long is given up, and its round is repeated
}

// Result is what a thread has done.
type Result struct {
	Rounds uint64 // rounds without an error
	Wrong  uint64 // rounds with wrong data or a wrong old value
	Lost   bool   // a call has failed
}

// Thread is a thread that is not Go's.
type Thread struct{ c *C.struct_thread }

// Start starts a thread. It fails without memory or without a thread.
func Start(w Work) (*Thread, error) {
	work := C.work_of(C.uintptr_t(w.Address))
	work.pe, work.data, work.bytes = C.int(w.PE), C.uint64_t(w.Data), C.uint64_t(w.Bytes)
	work.word, work.rounds = C.uint64_t(w.Word), C.uint64_t(w.Rounds)
	if w.Whole {
		work.whole = 1
	}
	if w.Impatient {
		work.impatient = 1
	}
	t := C.thread_start(&work)
	if t == nil {
		return nil, errors.New("the thread cannot be started")
	}
	return &Thread{t}, nil
}

// Fill fills the data of pe, whose size is a multiple of 8.
func Fill(data []byte, pe int) {
	for i := range len(data) / 8 {
		binary.NativeEndian.PutUint64(data[8*i:], uint64(C.pattern(C.int(pe), C.uint64_t(i))))
	}
}

// Rounds returns how many rounds the thread has done so far.
func (t *Thread) Rounds() uint64 { return atomic.LoadUint64((*uint64)(&t.c.done)) }

// GivenUp returns how many calls the thread has given up so far.
func (t *Thread) GivenUp() uint64 { return atomic.LoadUint64((*uint64)(&t.c.given_up)) }

// Stop makes the thread end after the round under way.
func (t *Thread) Stop() { atomic.StoreUint32((*uint32)(&t.c.stop), 1) }

// Ended reports whether the thread has ended.
func (t *Thread) Ended() bool { return atomic.LoadUint32((*uint32)(&t.c.finished)) != 0 }

// Wait waits for the end of the thread, and returns what it has done. It fails with the cause of ctx. The thread cannot
// be used after that.
func (t *Thread) Wait(ctx context.Context) (Result, error) {
	for !t.Ended() {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx) // the thread keeps its memory
		}
		time.Sleep(time.Millisecond)
	}
	C.thread_join(t.c)
	r := Result{Rounds: uint64(t.c.done), Wrong: uint64(t.c.wrong), Lost: t.c.lost != 0}
	C.free(unsafe.Pointer(t.c))
	return r, nil
}
