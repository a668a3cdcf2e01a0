// Package bounce has the way to other hosts for memory that must not reach a transport: the pages of coherent
// regions. A channel copies such a source before it issues the operation, and has the transport fill a buffer in
// place of such a destination. All other memory passes as it is. A context takes this way only while such memory is
// registered.
//
// # Where to read
//
//	memory_unsafe.go  which memory must not reach a transport, and why
//	channel.go        puts, and gets that wait: they copy before or after the operation
//	landings.go       gets that do not wait: the quiet that completes them copies
package bounce
