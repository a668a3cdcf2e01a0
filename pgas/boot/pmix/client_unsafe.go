//go:build cgo

package pmix

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "client.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// Client is a connection to the server.
type Client struct{ c *C.struct_pgas_pmix }

// Open connects to the server that the environment names. It returns an error if the library is not on this host, or
// the server does not answer or does not know this process.
func Open() (*Client, error) {
	c := (*C.struct_pgas_pmix)(C.calloc(1, C.sizeof_struct_pgas_pmix))
	var problem [256]C.char
	switch status := C.pgas_pmix_open(c, &problem[0], C.int(len(problem))); status {
	case 0:
		return &Client{c}, nil
	case C.PGAS_PMIX_NO_LIBRARY:
		return nil, fmt.Errorf("the library of PMIx cannot be used on %s (%s): install libpmix2 or its like, set LD_LIBRARY_PATH to the launcher's, or use `srun --mpi=pmi2`, `srun --mpi=none` or pgasrun", hostName(), C.GoString(&problem[0]))
	default:
		return nil, fmt.Errorf("the PMIx server does not take this process (%s): start the program with mpirun, prun or `srun --mpi=pmix`, or unset PMIX_RANK", C.GoString(C.pgas_pmix_text(c, status)))
	}
}

// hostName returns the host's name as the launcher knows it.
func hostName() string {
	if name := os.Getenv("PMIX_HOSTNAME"); name != "" {
		return name
	}
	name, _ := os.Hostname()
	return name
}

// Place returns the rank of this process, the number of processes, and the name of this host.
func (c *Client) Place() (rank, size int, host string) {
	return int(c.c.rank), int(c.c.size), hostName()
}

// Share returns the text of rank 0 on every process. It is collective. The error says what the server refuses.
func (c *Client) Share(text string) (string, error) {
	t := C.CString(text)
	defer C.free(unsafe.Pointer(t))
	var got *C.char
	if status := C.pgas_pmix_share(c.c, t, &got); status != 0 {
		return "", errors.New("the PMIx server does not pass on what rank 0 has published: " + C.GoString(C.pgas_pmix_text(c.c, status)))
	}
	defer C.free(unsafe.Pointer(got))
	return C.GoString(got), nil
}

// Close takes leave of the server. c must not be used afterwards.
func (c *Client) Close() {
	C.pgas_pmix_close(c.c)
	C.free(unsafe.Pointer(c.c))
}
