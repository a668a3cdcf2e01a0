// Package collisions has accessors and names that would be declared twice.
package collisions

import "github.com/gopgas/gopgas/pgas"

//pgas:symmetric
type Cell struct {
	Sum       int64
	SumSignal int64       // PutSumSignal is a put of this, or a put of Sum with a signal
	NB        int64       // PutNB is the put of the whole record
	Count     int64       `pgas:"atomic"`
	Inc       [4]int64    // Inc is a view
	On        [4]int64    // On is a method of every reference
	Ready     pgas.Signal // fine
	FetchAdd  [2]int64    // PutFetchAdd, fine
	AddCount  pgas.Signal // AddCount adds to Count
}

//pgas:symmetric
type Whole struct {
	NB    int64
	Local int64
	Ref   [4]int64
}

// PutSum is what pgasgen generates.
func (r CellRef) PutSum(pe int, v int64) {}

// At is what pgasgen generates.
func (s *CellSym) At(i int) {}

// Mine is not.
func (r CellRef) Mine() {}

//pgas:symmetric
type Node struct{ Key int64 }

// NodeRef is what pgasgen generates for Node.
type NodeRef struct{}

// AllocNode too.
func AllocNode() {}

// NodeRefOf too.
const NodeRefOf = 1

//pgas:symmetric
type Same struct{ X int64 }

// SameSym has the name of Same's allocation, and is marked itself.
//
//pgas:symmetric
type SameSym struct{ X int64 }

//pgas:symmetric
type AllocB struct{ X int64 }

// BSym generates AllocBSym, and so does AllocB.
//
//pgas:symmetric
type BSym struct{ X int64 }
