//go:build !cgo

package pmix

import "errors"

// Client is a connection to the server. A program that is built without C has none.
type Client struct{}

// Open returns an error: the library of PMIx is C.
func Open() (*Client, error) {
	return nil, errors.New("this program was built without C, which the library of PMIx needs: build it with CGO_ENABLED=1, or start it with `srun --mpi=pmi2`, `srun --mpi=none` or pgasrun")
}

// Place panics: there is no Client.
func (*Client) Place() (rank, size int, host string) { panic("pmix: no client") }

// Share panics: there is no Client.
func (*Client) Share(string) (string, error) { panic("pmix: no client") }

// Close panics: there is no Client.
func (*Client) Close() { panic("pmix: no client") }
