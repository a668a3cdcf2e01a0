// Package remote stands for the engine's way to other hosts in the pager's tests: PEs whose heaps are memory of the
// test, reached by calls of C that take as long as the test wants, that wait at a gate, or that find the PE lost.
//
//ci:norace nocgo=short
package remote
