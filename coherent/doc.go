// Package coherent is containers.Array over the coherent memory of package dsm: the same blocks, loops and ranges, but
// every PE keeps copies of what it has read.
//
// # When it serves
//
// A containers.Array moves an element each time that it is asked for, and needs no fence to see the newest value. An
// Array of this package moves blocks of some KiB, once, and keeps them until another PE has changed them. So it serves
//
//   - elements of others that are read again and again between two barriers: tables, graphs, the halo of a stencil
//   - reads whose indexes are known only as they come, but often lie close together
//   - parts that change owners: a block has its home where it was last written
//
// and it does not serve accesses that are scattered at random over much more memory than a PE can keep, elements that
// several PEs change between two barriers (that is a race here, whereas AddAll and Count of a containers.Array lose
// nothing), and teams: all PEs of the World share a region.
//
// CopyFrom and CopyTo change from one to the other, so that a computation may have each phase where it is cheaper.
//
// # What kind of call
//
// Calls are local, one-sided or collective as in package containers. Accesses obey the memory model of package dsm:
// what a PE writes is seen by others when both have synchronized, by Region.Barrier or what else dsm has. A PE that is
// lost is a panic with
// *pgas.PeerError where an access needs what it has.
//
//	doc.go     this text
//	array.go   Array: making one, where its elements are, one element at a time
//	range.go   many elements at once, and loops
//	moves.go   what all PEs do together
//	saved.go   an array as an item of package ckpt
package coherent
