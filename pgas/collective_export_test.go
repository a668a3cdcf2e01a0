package pgas

// What tests of collectives choose: the algorithm, and how many CPUs and how much cache a PE believes its host to have.

import "github.com/gopgas/gopgas/pgas/internal/coll"

// Algorithm is how the hosts of a team talk to each other in a collective.
type Algorithm = coll.Algorithm

// The algorithms. Not every collective has all of them.
const (
	Auto              = coll.Auto
	Linear            = coll.Linear
	Tree              = coll.Tree
	RecursiveDoubling = coll.RecursiveDoubling
	Ring              = coll.Ring
)

// WithAlgorithm selects an algorithm. A collective that does not have it panics with *UsageError.
func WithAlgorithm(a Algorithm) CollectiveOption {
	return func(o *collectiveOptions) { o.Algorithm = a }
}

// NoHierarchy makes every member take part as if it were the only member on its host.
func NoHierarchy() CollectiveOption { return func(o *collectiveOptions) { o.Flat = true } }

// SetCrowded makes the PE behave as if its host had a CPU for each PE, or not. Every PE calls it between the same
// calls.
func SetCrowded(w *World, crowded bool) { w.n.Dedicated = !crowded }

// SetCacheBytes makes the PE behave as if the last cache had that size. Every PE calls it between the same calls.
func SetCacheBytes(w *World, n int) { w.n.CacheBytes = n }
