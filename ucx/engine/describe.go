//go:build cgo

package engine

// What a channel says of itself, for reports: over which of UCX's lanes it reaches a PE.

/*
#include <stdlib.h>
#include "engine.h"
*/
import "C"

import "unsafe"

// Connection returns what UCX prints about the connection to pe, which it makes if there is none, and whether gets and
// large puts on it are UCX's own. Before pe has answered, UCX prints the lanes of the connection's setup. The text is
// empty if pe is lost. It panics if there is no such PE.
func (c *Channel) Connection(pe int) (text string, native bool) {
	c.check(pe)
	c.lock()
	defer c.unlock()
	l := c.lane(pe)
	t := C.lane_text(l)
	if t == nil {
		return "", false
	}
	defer C.free(unsafe.Pointer(t))
	return C.GoString(t), C.lane_native(l) != 0
}
