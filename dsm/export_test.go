package dsm

// What tests see of the protocol's words.

// InQueue reports whether pe has asked for its turn at block b of r or has it. The answer may take a message.
func InQueue(r *Region, b, pe int) bool { return r.words.lock.At(b).Fetch(pe) == locked }
