//go:build cgo

package engine

import (
	"fmt"
	"os"
)

// LostError reports that operations to a PE could not be completed, and will not be.
type LostError struct {
	PE     int
	Reason Reason
	Status string // UCX's name of what it saw
	Way    string // what the job knows of the network, for Unreachable
}

// Reason is why operations are lost.
type Reason uint8

// The reasons.
const (
	Gone        Reason = iota // a connection to it has ended
	Cut                       // there is no way to it any more
	Silent                    // it has not answered for too long
	Unreachable               // UCX finds no way to its address
	Unknown                   // its address could not be had
	Spent                     // no lane number to it is left
	Refused                   // it lives, and could not apply an operation
	Broken                    // anything else
)

func (e *LostError) Error() string {
	switch e.Reason {
	case Gone:
		return "its connection is gone: its process has ended, or something between the hosts has reset it (" + e.Status + ")"
	case Cut:
		return "it can no longer be reached: its process has ended, or its host or the network between is down (" + e.Status + ")"
	case Silent:
		return "it has not answered for too long: it is stopped, or its host or the network between is down; a longer PGAS_PEER_TIMEOUT waits longer"
	case Unreachable:
		say, way := "UCX has no transport that reaches it", e.Way
		for _, name := range []string{"UCX_TLS", "UCX_NET_DEVICES", "UCX_TCP_AF_PRIO"} {
			if os.Getenv(name) != "" {
				say += ": unset UCX_TLS, UCX_NET_DEVICES and UCX_TCP_AF_PRIO, or let them name one that does, such as tcp"
				break
			}
		}
		if way != "" {
			say += "; " + way
		}
		return say + " (" + e.Status + ")"
	case Unknown:
		return "its address is not known: the exchange of the job no longer answers (" + e.Status + ")"
	case Spent:
		return "this PE has opened 4,294,967,295 connections to it, which is all that a job has: keep contexts and use them again"
	case Refused:
		return "it has refused an operation of this PE on a place outside its heap, or on a word that is not aligned, and nothing that is issued to it on this context arrives any more: take offsets from what Alloc and pgasgen give"
	}
	return fmt.Sprintf("UCX could not carry out an operation (%s)", e.Status)
}
