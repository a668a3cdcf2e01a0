//go:build cgo

package ucx

// Context: the devices and transports that a process uses.

/*
#cgo pkg-config: ucx
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/ucx/release"
)

// Available reports whether this binary was built with UCX.
const Available = true

// Version returns the version of the UCX library in use, such as "1.13.1".
func Version() string { return C.GoString(C.ucp_get_version_string()) }

// Built returns the release whose headers this binary was compiled with, such as "1.13": headers do not tell the patch.
func Built() string { return fmt.Sprintf("%d.%d", headers.Major, headers.Minor) }

// headers is the release whose headers this package was compiled with. The headers do not tell which patch of it.
var headers = release.Version{Major: C.UCP_API_MAJOR, Minor: C.UCP_API_MINOR}

// running returns the release of the library in use.
func running() release.Version {
	var major, minor, patch C.uint
	C.ucp_get_version(&major, &minor, &patch)
	return release.Version{Major: int(major), Minor: int(minor), Patch: int(patch)}
}

// oldProtocols reports whether a context needs the protocols that were UCX's default before 1.16: with the new ones,
// atomics that UCX emulates fail.
func oldProtocols(p Params) bool {
	return p.Features&(FeatureAtomic32|FeatureAtomic64) != 0 && !p.Config.protocols && running().Has(release.EmulatedAtomics)
}

// Context holds the transports and devices that a process uses. It is safe for concurrent use.
type Context struct {
	c        C.ucp_context_h
	features Feature
	warnings string
	users    atomic.Int32 // number of workers and memories that are still open
	closed   atomic.Bool
}

// NewContext opens the transports and devices that the configuration allows. When it leaves none, the
// error is ErrNoDevice and says which transports and devices there are. It is ErrUnsupported with a release of UCX that
// this package does not work with.
func NewContext(p Params) (*Context, error) {
	if err := release.Check(headers, running()); err != nil {
		return nil, &Error{Op: "open context", Status: ErrUnsupported, Detail: err.Error()}
	}
	if p.Features == 0 {
		p.Features = FeatureAll
	}
	if p.Config == nil {
		config, err := ReadConfig("", "")
		if err != nil {
			return nil, err
		}
		defer config.Close()
		p.Config = config
	}
	if p.Config.c == nil {
		return nil, &Error{Op: "open context", Status: ErrInvalidParam, Detail: "the configuration is closed"}
	}
	name := optionalString(p.Name)
	defer C.free(unsafe.Pointer(name))
	detail := newDetail()
	defer detail.free()
	c := &Context{features: p.Features}
	st := Status(C.gx_context_create(C.uint64_t(p.Features), C.uint64_t(max(p.Endpoints, 0)),
		C.uint64_t(max(p.PerNode, 0)), name, cbool(oldProtocols(p)), p.Config.c, &c.c, detail.c))
	if st != OK {
		return nil, &Error{Op: "open context", Status: st, Detail: detail.text()}
	}
	c.warnings = joinLines(release.Warning(running()), detail.text())
	return c, nil
}

// joinLines joins two texts of one line, of which either may be empty.
func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// Warnings returns what UCX logged while the context was opened, on one line: a transport that was asked
// for and is not there, for example. A release of UCX that is newer than this package knows is named first. It is
// usually empty.
func (c *Context) Warnings() string { return c.warnings }

// Features returns the features that the context was opened with.
func (c *Context) Features() Feature { return c.features }

// Print writes the transports and devices of the context as text. It fails with the error of to.
func (c *Context) Print(to io.Writer) error {
	if c.closed.Load() {
		return &Error{Op: "print context", Status: ErrInvalidParam, Detail: "the context is closed"}
	}
	return printText(to, "print context", func(text **C.char, n *C.size_t) C.int32_t {
		return C.gx_context_print(c.c, text, n)
	})
}

// Close releases the context. It fails with ErrBusy while a worker or a memory of it is open.
func (c *Context) Close() error {
	if n := c.users.Load(); n > 0 {
		return &Error{Op: "close context", Status: ErrBusy,
			Detail: fmt.Sprintf("%d of its workers and memories are open: close them first", n)}
	}
	if c.closed.CompareAndSwap(false, true) {
		C.ucp_cleanup(c.c)
		c.c = nil
	}
	return nil
}

// use counts one more object that needs the context.
func (c *Context) use(op string) error {
	c.users.Add(1)
	if c.closed.Load() {
		c.users.Add(-1)
		return &Error{Op: op, Status: ErrInvalidParam, Detail: "the context is closed"}
	}
	return nil
}

// need checks that the context was opened with a feature.
func (c *Context) need(op string, f Feature, name string) error {
	if c.features&f == f {
		return nil
	}
	return &Error{Op: op, Status: ErrInvalidParam, Detail: "the context was opened without ucx." + name}
}
