// Command assembly writes the vector code of this repository with avo: GOWORK=off go run -C tests/assembly .
//
// It is a module of its own, so that avo is in the graph of no module that uses the runtime. A test of it checks that
// the files that are committed are what it writes.
//
// main.go lists the files and writes them. vectors.go has what all kernels are made of: loops over vectors. Each other
// file has the kernels of one package, which has for each of them a twin in Go: for the elements after the last whole
// vector, for other CPUs, and for the tests, which compare the two.
package main
