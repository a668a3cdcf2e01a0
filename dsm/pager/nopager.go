//go:build !cgo || !linux

// Package pager needs Linux and cgo. Without them Available says so.
//
//ci:nocgo=short
package pager

import "errors"

// Pager does not exist in this build.
type Pager struct{}

var errNone = errors.New("page faults need Linux and a build with cgo")

// Available returns why this build cannot serve page faults.
func Available() error { return errNone }

// Open returns why there is no Pager in this build.
func Open(Config) (*Pager, error) { return nil, errNone }

// None of the methods is called: there is no Pager.

func (p *Pager) Close() error                                      { return errNone }
func (p *Pager) Memory() []byte                                    { return nil }
func (p *Pager) Alias() []byte                                     { return nil }
func (p *Pager) Written(into []int32) []int32                      { return into }
func (p *Pager) Unwritten() bool                                   { return true }
func (p *Pager) Merge(int32, []byte, int32, uint64) (int, int)     { return -1, -1 }
func (p *Pager) Changes(int32, []byte, []byte) bool                { return false }
func (p *Pager) Settle(int32)                                      {}
func (p *Pager) Drop(int32, int32, uint64)                         {}
func (p *Pager) Current() bool                                     { return true }
func (p *Pager) Expire(uint64)                                     {}
func (p *Pager) DropAll([]uint64)                                  {}
func (p *Pager) Known(int32) Known                                 { return Known{} }
func (p *Pager) Zeros(int32)                                       {}
func (p *Pager) Install(int32, uint32, []byte, int32, uint64) bool { return false }
func (p *Pager) Has(int32, int32, bool) bool                       { return false }
func (p *Pager) Ready(int32, int32, bool)                          {}
func (p *Pager) Overwritten(int32, int32)                          {}
func (p *Pager) Pin(int32, int32, bool)                            {}
func (p *Pager) Resident() int                                     { return 0 }
func (p *Pager) Lost() int                                         { return -1 }
func (p *Pager) Stats() Stats                                      { return Stats{} }
func (p *Pager) HandlerLost() bool                                 { return false }
