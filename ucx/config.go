//go:build cgo

package ucx

// Config: UCX's settings, as read from its environment variables and configuration file.

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"io"
	"os"
	"strings"
	"unsafe"
)

// Config is a set of UCX settings, to be changed before a context is made from it. One goroutine at a
// time may use it.
type Config struct {
	c         *C.ucp_config_t
	protocols bool // the user has chosen them: PROTO_ENABLE
}

// ReadConfig reads the settings from the environment (PREFIX_UCX_TLS and so on, then UCX_TLS; an empty
// prefix reads only the latter) and from UCX's configuration files. file is passed on to UCX, which
// ignores it in the versions known so far; leave it empty. It fails with the status of a setting that UCX cannot parse.
func ReadConfig(prefix, file string) (*Config, error) {
	cprefix, cfile := optionalString(prefix), optionalString(file)
	defer C.free(unsafe.Pointer(cprefix))
	defer C.free(unsafe.Pointer(cfile))
	detail := newDetail()
	defer detail.free()
	c := &Config{protocols: os.Getenv("UCX_PROTO_ENABLE") != "" || prefix != "" && os.Getenv(prefix+"_UCX_PROTO_ENABLE") != ""}
	if st := Status(C.gx_config_read(cprefix, cfile, &c.c, detail.c)); st != OK {
		return nil, &Error{Op: "read configuration", Status: st, Detail: detail.text()}
	}
	return c, nil
}

// Modify changes one setting, named without the UCX_ prefix ("TLS", "NET_DEVICES"). A name that UCP does
// not know is kept for the transports, and without effect if they do not know it either. The values of
// some settings are only checked by NewContext. It fails with UCX's status for a value that it cannot parse.
func (c *Config) Modify(name, value string) error {
	if c.c == nil {
		return &Error{Op: "modify " + name, Status: ErrInvalidParam, Detail: "the configuration is closed"}
	}
	cname, cvalue := C.CString(name), C.CString(value)
	defer C.free(unsafe.Pointer(cname))
	defer C.free(unsafe.Pointer(cvalue))
	detail := newDetail()
	defer detail.free()
	if st := Status(C.gx_config_modify(c.c, cname, cvalue, detail.c)); st != OK {
		return &Error{Op: "modify " + name, Status: st, Detail: detail.text()}
	}
	c.protocols = c.protocols || name == "PROTO_ENABLE"
	return nil
}

// Print writes the settings as text. It fails with the error of to.
func (c *Config) Print(to io.Writer, title string, flags PrintFlags) error {
	if c.c == nil {
		return &Error{Op: "print configuration", Status: ErrInvalidParam, Detail: "the configuration is closed"}
	}
	ctitle := C.CString(title)
	defer C.free(unsafe.Pointer(ctitle))
	return printText(to, "print configuration", func(text **C.char, n *C.size_t) C.int32_t {
		return C.gx_config_print(c.c, ctitle, C.int(flags), text, n)
	})
}

// Close releases the settings. Contexts made from them keep theirs.
func (c *Config) Close() {
	if c.c != nil {
		C.ucp_config_release(c.c)
		c.c = nil
	}
}

// optionalString returns nil for an empty string.
func optionalString(s string) *C.char {
	if s == "" {
		return nil
	}
	return C.CString(s)
}

// printText hands what a C print function wrote to a Go writer.
func printText(to io.Writer, op string, print func(text **C.char, n *C.size_t) C.int32_t) error {
	var text *C.char
	var n C.size_t
	if st := Status(print(&text, &n)); st != OK {
		return &Error{Op: op, Status: st}
	}
	defer C.free(unsafe.Pointer(text))
	_, err := io.WriteString(to, C.GoStringN(text, C.int(n)))
	return err
}

// detail collects what UCX logs during one set-up call.
type detail struct {
	c *C.char
}

func newDetail() detail { return detail{(*C.char)(C.calloc(1, C.GX_DETAIL))} }

func (d detail) free() { C.free(unsafe.Pointer(d.c)) }

// text returns what was logged, on one line.
func (d detail) text() string { return oneLine(C.GoString(d.c)) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
