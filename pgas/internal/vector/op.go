package vector

// An Op is an operator of a reduction.
type Op uint8

// The operators that loops exist for.
const (
	And Op = iota
	Or
	Xor
	Min
	Max
	Sum
	Prod
	ops
)

const (
	vectorBytes = 32
	// Least is from how many bytes on vectors are worth the choice of a loop.
	Least = 8 * vectorBytes
)
