// Package badcoherent is a case: what cannot live in coherent memory.
package badcoherent

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

//pgas:coherent
type Words struct {
	Count  int64 `pgas:"atomic"`
	Sum    int64 `pgas:"view"`
	Ready  pgas.Signal
	Guards [2]pgas.Lock
	Inside Marked
	Deep   [2]Holder
}

//pgas:symmetric
type Marked struct {
	N int64 `pgas:"atomic"`
}

type Holder struct{ A [3]Inner }

type Inner struct {
	X    int64
	Flag pgas.Signal
}

//pgas:coherent
type Pointers struct {
	P     *int
	S     string
	L     []int
	M     map[int]int
	C     chan int
	Fn    func()
	I     any
	When  time.Time
	Mu    sync.Mutex
	Word  atomic.Int64
	Empty [0]int
}

//pgas:coherent
type Number int

//pgas:coherent
type Empty struct{}

//pgas:coherent views
type Option struct{ X int64 }

// pgas:coherent
type Spaced struct{ X int64 }

//pgas:coherent
//pgas:coherent
type Twice struct{ X int64 }

//pgas:coherent
//pgas:symmetric
type Both struct{ X int64 }

//pgas:coherent
type Alias = Option

//pgas:coherent
type Clash struct {
	Pos    [3]float64
	SetPos int64
	PosAt  int64
}

//pgas:coherent
type Taken struct{ X int64 }

type TakenArray int

//pgas:coherent
var variable int

var _ = variable
