// Package badtags has tags that say nothing, or nonsense.
package badtags

import "github.com/gopgas/gopgas/pgas"

type point struct{ X, Y int64 }

type tagged struct {
	X int64 `pgas:"atomic"`
}

//pgas:symmetric
type Marked struct {
	N int64 `pgas:"atomic"`
}

//pgas:symmetric
type Bad struct {
	Unknown    int64       `pgas:"atomc"`
	Nothing    int64       `pgas:""`
	Twice      int64       `pgas:"atomic,atomic"`
	Repeated   int64       `pgas:"atomic" pgas:"atomic"`
	Spaced     int64       `pgas: "atomic"`
	Bare       int64       `pgas`
	Upper      int64       `PGAS:"atomic"`
	Flag       string      `pgas:"atomic"`
	Small      int16       `pgas:"atomic"`
	Complex    complex128  `pgas:"atomic"`
	Point      point       `pgas:"atomic"`
	Points     [4]point    `pgas:"atomic"`
	Inner      Marked      `pgas:"atomic"`
	Ready      pgas.Signal `pgas:"atomic"`
	_          int64       `pgas:"atomic"`
	Unmarked   tagged
	Fine       int64 `json:"fine" xml:broken`
	AlsoFine   int64 `json:"pg"`
	WithOption int64 `pgas:"atomic,"`

	ViewTwice   int64        `pgas:"view,atomic,view"`
	Views       int64        `pgas:"views"`
	ViewSignal  pgas.Signal  `pgas:"view"`
	ViewLock    [2]pgas.Lock `pgas:"view"`
	ViewInner   [2]Marked    `pgas:"view"`
	ViewString  string       `pgas:"view"`
	ViewOfByte  byte         `pgas:"atomic,view"`
	_           int64        `pgas:"view"`
	_           int64        `pgas:"atomic,view"`
	FineView    int64        `pgas:"view"`
	FineSlice   [4]int64     `pgas:"view"`
	FineAtomics [4]int64     `pgas:"view,atomic"`
}

//pgas:symmetric views
type Views struct {
	Again int64 `pgas:"atomic,view"`
	Only  int64 `pgas:"view"`
	Fine  int64 `pgas:"atomic"`
}

type state uint8

//pgas:symmetric
type Crowded struct {
	Count  int64
	Done   bool `pgas:"atomic"`
	Open   bool
	States [3]state `pgas:"atomic"`
	Name   [6]byte
	Alone  bool `pgas:"atomic"`
}

//pgas:symmetric
type Narrow struct {
	Done bool `pgas:"atomic"`
	_    [3]byte
}
