//go:build 386 || arm || mips || mipsle

package version

// Offsets in the heaps of a job are 64-bit numbers, so there is no gopgas for the platforms that this file is for. It
// does not compile, in the package that all others need, so that the compiler says this and nothing else.
const _ = gopgas_needs_a_64_bit_platform
