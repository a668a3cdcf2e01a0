//go:build cgo && linux

package pager

// Readers and writers beside collections, in phases: in each phase every word has one writer, and what the phases
// before have written is checked.

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
)

var long = flag.Bool("long", false, "run what takes minutes too")

// hash is the value of word i after its last writer's phase.
func hash(i, phase int) uint64 {
	x := uint64(i)*0x9e3779b97f4a7c15 + uint64(phase)*0xbf58476d1ce4e5b9
	return x ^ x>>29 | 1
}

// collect runs collections until stop.
func collect() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				runtime.GC()
			}
		}
	}()
	return func() { close(done); <-ended }
}

// writePhase lets two goroutines of each PE go through random words: a goroutine writes the words that are its own in
// this phase, and checks words that have no writer in it against shadow. It brings shadow up to date.
func (j *job) writePhase(t *testing.T, phase int, shadow []uint64) {
	t.Helper()
	writer := func(i int) int { return int(hash(i, phase) >> 13 % uint64(4*j.pes)) } // 2*pes and above: none
	wrote := make([][]int, 2*j.pes)
	var group sync.WaitGroup
	for w := range wrote {
		group.Go(func() {
			p, r := j.pe[w/2], rand.New(rand.NewPCG(uint64(phase), uint64(w)))
			words := p.words()
			for range 1500 {
				i := r.IntN(len(words))
				if r.IntN(16) == 0 {
					p.fetch(int32(8 * i / j.block))
				}
				switch owner := writer(i); {
				case owner == w:
					words[i] = hash(i, phase)
					wrote[w] = append(wrote[w], i)
				case owner >= 2*j.pes:
					if got := words[i]; got != shadow[i] {
						t.Errorf("PE %d, phase %d: word %d of block %d is %#x, want %#x", p.me, phase, i, 8*i/j.block, got, shadow[i])
						return
					}
				}
			}
		})
	}
	group.Wait()
	for _, list := range wrote {
		for _, i := range list {
			shadow[i] = hash(i, phase)
		}
	}
}

// TestStress runs phases of random writes and checks every word from every PE.
func TestStress(t *testing.T) { inBothForms(t, testStress) }

func testStress(t *testing.T, faults Faults) {
	page := os.Getpagesize()
	phases := 6
	if *long {
		phases = 200
	}
	for _, s := range []setup{
		{pes: 2, block: page, blocks: 24},
		{pes: 3, block: 8 * page, blocks: 6, remote: true},
		{pes: 4, block: 2 * page, blocks: 9, userOnly: true},
		{pes: 2, block: 8 * page, blocks: 5, remote: true, userOnly: true},
		{pes: 2, block: page, blocks: 24, keep: 2},
		{pes: 3, block: 2 * page, blocks: 9, remote: true, keep: 2},
	} {
		t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
			s.faults = faults
			j := open(t, s)
			defer collect()()
			shadow := make([]uint64, s.block*s.blocks/8)
			for phase := 1; phase <= phases; phase++ {
				j.writePhase(t, phase, shadow)
				j.barrier(phase%2 == 0)
			}
			for b := range s.blocks { // the homes have it all
				for i := range s.block / 8 {
					at := b*s.block/8 + i
					home := j.pe[j.newest[b]]
					if got := binary.NativeEndian.Uint64(home.pub(int32(b))[8*i:]); got != shadow[at] {
						t.Fatalf("word %d of block %d at its home: %#x, want %#x", i, b, got, shadow[at])
					}
				}
			}
		})
	}
}
