//go:build cgo

package engine

// One service thread for many engines, for measurements: shared.c.

/*
#include "engine.h"
*/
import "C"

import "errors"

// serveShared serves engines that have not been started by one thread, until stop is called.
func serveShared(engines []*Engine) (stop func(), err error) {
	var list []*C.engine_t
	for _, e := range engines {
		list = append(list, e.c)
	}
	s := C.shared_start(&list[0], C.uint32_t(len(list)))
	if s == nil {
		return nil, errors.New("no thread, or no memory for one")
	}
	return func() { C.shared_stop(s) }, nil
}
