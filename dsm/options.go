package dsm

// What all PEs choose alike when they open a region.

import (
	"fmt"
	"math/bits"
	"os"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/plural"
)

// Options describe a region. They are the same on all PEs. The zero value of each field but Bytes is a default.
type Options struct {
	Bytes   uint64 // the bytes of the region, rounded up to blocks; address space, not memory
	Block   int    // bytes that move together, a power of two; 0: 32 KiB
	Notices int    // write notices that travel with one synchronization; 0: 1024; -1: none
	Lease   uint64 // logical time that a copy stays valid without a notice; 0: 10
	Mode    Mode   // how accesses reach the protocol
	// CacheMax bounds the bytes of copies that a PE keeps in mode Paged, besides those that it has changed since its
	// last release and those that Pin keeps: at least two blocks; 0: all copies. Other modes keep all.
	CacheMax uint64
	Check    bool // an access to the result of a View, an Update or an Overwrite after a fence panics; slow
}

// Mode is how an access to a region reaches the protocol.
type Mode int

const (
	Auto   Mode = iota // Shared if all PEs are on one host; else Paged where the machine permits it; else Soft
	Shared             // all PEs access one shared mapping: no protocol, no copies
	Paged              // page faults fetch copies and notice first writes (Linux, cgo, userfaultfd)
	Soft               // View, Update, At, Set and the like check a byte for each block
)

func (m Mode) String() string { return nameOf([]string{"auto", "shared", "paged", "soft"}, int(m)) }

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%d", i)
	}
	return names[i]
}

const (
	defaultBlock   = 32 << 10
	defaultNotices = 1024
	defaultLease   = 10
	maxBlock       = 1 << 20
	maxBlocks      = 1 << 31
	maxLease       = 1 << 40 // so that logical times stay far below the flags of version words
)

// EnvMode is the environment variable that overrides Auto.
const EnvMode = "PGAS_DSM"

// completed returns o with defaults filled in. It panics with *pgas.UsageError if a field has no meaning.
func (o Options) completed() Options {
	if o.Block == 0 {
		o.Block = defaultBlock
	}
	switch o.Notices {
	case 0:
		o.Notices = defaultNotices
	case -1:
		o.Notices = 0
	}
	if o.Lease == 0 {
		o.Lease = defaultLease
	}
	switch {
	case o.Bytes == 0:
		misuse("Open", "a region of 0 bytes: Options.Bytes is the sum of its arrays, each rounded up to blocks")
	case bits.OnesCount(uint(o.Block)) != 1 || o.Block < 0 || o.Block > maxBlock:
		misuse("Open", "blocks of %d bytes: Options.Block is a power of two up to 1 MiB", o.Block)
	case o.Notices < 0:
		misuse("Open", "%s: Options.Notices is positive, 0 for the default, or -1 for none", plural.Count(o.Notices, "notice"))
	case o.Lease > maxLease:
		misuse("Open", "a lease of %d: Options.Lease is at most 2^40", o.Lease)
	case o.CacheMax > 0 && o.CacheMax < 2*uint64(o.Block):
		misuse("Open", "copies of %d bytes: Options.CacheMax is two blocks of %d or more, or 0 for all", o.CacheMax, o.Block)
	case o.CacheMax > 0 && o.Mode == Soft:
		misuse("Open", "Options.CacheMax in mode Soft, which keeps all copies: leave it 0, or use Mode Auto or Paged")
	case o.Mode < Auto || o.Mode > Soft:
		misuse("Open", "mode %d: there are Auto, Shared, Paged and Soft", o.Mode)
	}
	o.Bytes = (o.Bytes + uint64(o.Block) - 1) / uint64(o.Block) * uint64(o.Block)
	if o.Bytes/uint64(o.Block) >= maxBlocks {
		misuse("Open", "%s: a region has fewer than 2^31; use larger blocks", plural.Count(o.Bytes/uint64(o.Block), "block"))
	}
	return o
}

// modeFromEnv returns the mode that PGAS_DSM names, or m if it is unset.
func modeFromEnv(m Mode) (Mode, error) {
	name := os.Getenv(EnvMode)
	if name == "" || m != Auto {
		return m, nil
	}
	for _, choice := range []Mode{Auto, Shared, Paged, Soft} {
		if name == choice.String() {
			return choice, nil
		}
	}
	return m, fmt.Errorf("pgas: %s=%q: it is auto, shared, paged or soft", EnvMode, name)
}

func misuse(op, format string, args ...any) {
	hook.Misuse("dsm."+op, format, args...)
}
