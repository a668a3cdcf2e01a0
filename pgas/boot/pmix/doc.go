// Package pmix makes this process a client of the PMIx server that has started it: mpirun, prun, or srun with
// --mpi=pmix. The library of PMIx is opened at run time, so a program that links this package runs without it.
//
// Where to read: client_unsafe.go for Go, client.c for what it calls of the library, abi.h for what it assumes of it,
// nocgo.go for programs that are built without C.
package pmix
