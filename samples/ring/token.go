package main

//go:generate go tool pgasgen

import "github.com/gopgas/gopgas/pgas"

// tokenWords is the size of the token: 64 words are 512 bytes.
const tokenWords = 64

// Stop is what a PE has for the token: room for it, and the signal that it is there. There is one token,
// so the room is free whenever the token is on its way here.
//
//pgas:symmetric
type Stop struct {
	Token   [tokenWords]uint64 // written by the PE before, with the signal; read by the owner
	Arrived pgas.Signal        // the number of the lap, from 1
}
