package overwrite

// Written by hand.
const byHand = true

var _ = byHand
