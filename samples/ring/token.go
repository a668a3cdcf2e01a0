package main

//go:generate go tool pgasgen

import "github.com/gopgas/gopgas/pgas"

// tokenWords is the size of the token: 64 words are 512 bytes.
const tokenWords = 64

// Stop is the place of the token on each PE, with the signal of its arrival. There is one token,
// so the place is free whenever the token is on its way to it.
//
//pgas:symmetric
type Stop struct {
	Token   [tokenWords]uint64 // written by the PE before, with the signal; read by the owner
	Arrived pgas.Signal        // the number of the lap, from 1
}
