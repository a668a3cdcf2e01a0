// Package foreign accesses memory from C in the pager's tests, on a thread of Go and on one that Go does not know.
//
//ci:norace nocgo=short
package foreign
