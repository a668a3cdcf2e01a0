// Package views has records of which only the views are generated, and one with views of some fields.
package views

import "github.com/gopgas/gopgas/pgas"

// Queue has nothing but views.
//
//pgas:symmetric views
type Queue struct {
	Tail  int64 `pgas:"atomic"`
	_     [56]byte
	Next  [2]int64   `pgas:"atomic"`
	Load  float64    `pgas:"atomic"`
	Slots [4]float64 // a slice, and a reference to the whole
	Rows  [2][3]int32
	Owner int64
	Ready pgas.Signal
	Guard pgas.Lock
	Span  Span
	Spans [2]Span
}

// Span moves as a whole, through Ref only.
//
//pgas:symmetric views
type Span struct{ Lo, Hi int64 }

// Some has views of the tagged fields, and all accessors of the others.
//
//pgas:symmetric
type Some struct {
	Count int64    `pgas:"atomic,view"`
	Sum   float64  `pgas:"view"`
	Halo  [2]int64 `json:"halo" pgas:"view"`
	Pair  Whole    `pgas:"view"`
	Pairs [3]Whole `pgas:"view"`
	Plain int64
}

// Whole has all accessors; a field of it may be tagged.
//
//pgas:symmetric
type Whole struct{ A, B int64 }
