// Package badtypes has everything that cannot live in symmetric memory.
package badtypes

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/badtypes/deep"
)

type level2 struct {
	Fine int64
	Bad  [4]struct{ Text string }
}

type level1 struct {
	Inner level2
	More  error
}

// Generic is given a pointer.
type Generic[T any] struct{ Value T }

//pgas:symmetric
type Bad struct {
	Pointer   *int64
	Text      string
	Slice     []float64
	Map       map[string]int
	Chan      chan int
	Func      func(int) error
	Iface     interface{ M() }
	Err       error
	Any       any
	Raw       unsafe.Pointer
	When      time.Time
	Deep      level1
	Abroad    deep.Outer
	Pointers  [2][3]*int64
	Empty     [0]int64
	InnerZero [4][0]byte
	Nothing   struct{}
	Nameless  struct{ X int64 }
	Nameless4 [4]struct{ X int64 }
	Mutex     sync.Mutex
	Word      atomic.Int64
	Instance  Generic[*int64]
	Good      int64
	_         *int64
}

//pgas:symmetric
type Vacant struct{}
