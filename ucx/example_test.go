//go:build cgo

package ucx_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/gopgas/gopgas/ucx"
)

// A put, a flush, a fetching add and a get between two workers. In a real program they are in different
// processes, which exchange the address, the packed key and the memory's address by other means.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := ucx.NewContext(ucx.Params{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	// The target: memory that others may reach, and a worker that makes progress.
	mem, err := c.AllocMemory(4096)
	if err != nil {
		log.Fatal(err)
	}
	defer mem.Close()
	target, err := c.NewWorker(ucx.WorkerParams{})
	if err != nil {
		log.Fatal(err)
	}
	defer target.Close()
	address, err := target.Address()
	if err != nil {
		log.Fatal(err)
	}
	packed, err := mem.PackKey()
	if err != nil {
		log.Fatal(err)
	}
	serving, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for target.Wait(serving) == nil {
		}
	}()
	defer func() { stop(); <-stopped }()

	// The origin: a worker with an endpoint to the target's, and the key to its memory.
	origin, err := c.NewWorker(ucx.WorkerParams{})
	if err != nil {
		log.Fatal(err)
	}
	defer origin.Close()
	ep, err := origin.NewEndpoint(address, ucx.EndpointParams{})
	if err != nil {
		log.Fatal(err)
	}
	key, err := ep.UnpackKey(packed)
	if err != nil {
		log.Fatal(err)
	}
	defer key.Close()

	wait := func(r ucx.Request, err error) uint64 {
		if err == nil {
			err = r.Wait(ctx)
		}
		if err != nil {
			log.Fatal(err)
		}
		return r.Value()
	}
	wait(ep.Put([]byte("hello"), mem.Addr()+8, key))
	old := wait(ep.FetchAtomic(ucx.AtomicAdd, 8, 5, 0, mem.Addr(), key))
	wait(ep.Flush())
	got := make([]byte, 13)
	wait(ep.Get(got, mem.Addr(), key))
	fmt.Printf("%d %q\n", old, got)
	// Output: 0 "\x05\x00\x00\x00\x00\x00\x00\x00hello"
}
