// Package carry is what the containers, and other packages whose PEs send each other items, are made of: the PEs that
// share something, the symmetric memory that it lies in, and the way of items from one PE to another.
//
//	members.go  the PEs that share a container
//	memory.go   the memory of a container: one allocation, in which its parts have places
//	flow.go     what a member waits for while items travel
//	rings.go    items on their way: a ring for each pair of members
//	census.go   when everything is delivered
//
// Programs use package containers. The text of a misuse speaks of a container, whose New… function has made it.
package carry
