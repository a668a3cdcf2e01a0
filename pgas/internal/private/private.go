// Package private reaches what package pgas does not export, for packages below pgas: the simulator and pgastest open
// Worlds in ways that programs have no use for, and tests look inside.
//
// Package pgas sets the functions when it is initialized, and nothing else does.
package private

import (
	"context"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/topo"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Options change how a World is put together. The zero value is what programs want.
type Options struct {
	// Goroutines: the PEs of the job are goroutines of this process.
	Goroutines bool
	// NoFastPath sends every access through a transport, where it can be seen.
	NoFastPath bool
	// Check checks every access, as PGAS_CHECK=1 does.
	Check bool
	// Strands shows operations between the PEs of this process to the race detector as work that goes on after their
	// calls. Without the detector it changes nothing.
	Strands bool
	// Races looks for races between PEs, as PGAS_CHECK=race does. PEs of one process share it. nil: nothing does.
	Races *racecheck.Job
	// Remote opens the transport to PEs that this host's memory does not reach; required when the
	// job has several hosts.
	Remote func(ctx context.Context, job *boot.Job) (transport.Transport, error)
	// Tree is the topology if it is known beforehand.
	Tree *topo.Tree
	// Common is shared by the PEs of a process that are each alone on their hosts, as the job says.
	Common *coll.Common
}

// Open joins the job described by job and returns the *pgas.World. Every PE must call it; it returns when all have.
var Open func(ctx context.Context, job *boot.Job, opts Options) (any, error)

// Group returns the group of a *pgas.Team.
var Group func(team any) *coll.Group

// HotLines returns the addresses of the cache lines, each of 64 bytes, that every operation of a *pgas.World's default
// context reads besides the World's own first ones, and the channel to other hosts that it goes through.
var HotLines func(world any) ([]uintptr, transport.Channel)

// Node returns the node of a *pgas.World.
var Node func(world any) *node.Node
