// Mapservice keeps texts under keys in a map of all PEs, and serves them over HTTP. Every PE answers for all keys:
//
//	pgasrun -n 4 -survive 20 -checkpoint DIR mapservice -listen localhost:8080
//	curl -T value.txt localhost:8080/some/key
//	curl localhost:8081/some/key
//
// An update is acknowledged when it is in a cut that is safe in DIR. A value is shown when it is. So nothing that a
// client has been told is lost with PEs or hosts. A client that loses its connection does not know whether its update
// has been made, and sends it again. Without -checkpoint and -survive the map is lost with the first PE.
//
// A cut is written for all updates that PEs have at the same time, and it is a copy of the whole map. So the map's size
// bounds how many updates a second a client makes, more than the number of clients does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/pgas"
)

// options are the flags.
type options struct {
	listen   string
	capacity int
	keys     int
	verify   bool
}

func main() {
	var o options
	flag.StringVar(&o.listen, "listen", "localhost:8080", "the address of PE 0; the port of PE 1 is the next one, and so on; with port 0 any that is free")
	flag.IntVar(&o.capacity, "capacity", 100_000, "how many keys there is room for")
	flag.IntVar(&o.keys, "keys", 1000, "how many keys -verify puts")
	flag.BoolVar(&o.verify, "verify", false, "put keys by HTTP instead of waiting for clients, look at all of them, and end")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: pgasrun -n PES mapservice [flags]\n\nMapservice keeps texts in a map of all PEs, and serves them over HTTP.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := o.check(); err != nil {
		fmt.Fprintln(os.Stderr, "mapservice:", err)
		os.Exit(2)
	}
	f := newFront() // outlives the terms of the job, with the connections of clients
	pgas.Survive(func(ctx context.Context, w *pgas.World) error {
		err := o.run(ctx, w, f)
		if errors.Is(err, ckpt.ErrStop) { // Survive does not return
			f.end()
		}
		return err
	})
	f.end()
}

func (o options) check() error {
	switch _, err := o.address(0); {
	case flag.NArg() > 0:
		return fmt.Errorf("%q: mapservice takes flags only", flag.Arg(0))
	case err != nil:
		return err
	case o.capacity < 1 || o.keys < 1 || o.keys > o.capacity:
		return fmt.Errorf("-capacity and -keys must be at least 1, and -keys at most -capacity")
	}
	return nil
}

// address returns where a PE listens.
func (o options) address(pe int) (string, error) {
	host, text, err := net.SplitHostPort(o.listen)
	port, err2 := strconv.ParseUint(text, 10, 16)
	if err != nil || err2 != nil {
		return "", fmt.Errorf("-listen %s: give an address and a port, such as localhost:8080", o.listen)
	}
	if port > 0 {
		port += uint64(pe)
	}
	if port > 65535 {
		return "", fmt.Errorf("-listen %s: PE %d would have port %d: give a lower port", o.listen, pe, port)
	}
	return net.JoinHostPort(host, strconv.FormatUint(port, 10)), nil
}

// run restores the map, serves it to the clients of f, and with -verify looks at it. In the next term of the job, f has
// the clients of this one.
func (o options) run(ctx context.Context, w *pgas.World, f *front) error {
	s, err := newService(ctx, w, o.capacity, f)
	if err != nil {
		return err
	}
	address, err := o.address(w.PE())
	if err != nil {
		return err
	}
	if err := f.listen(address, w.PE()); err != nil {
		return err
	}
	if o.verify {
		s.begin(ctx, "http://"+f.address, o.keys)
	}
	if err := s.run(ctx); err != nil || !o.verify {
		return err
	}
	if err := s.compare(o.keys); err != nil {
		return err
	}
	if w.PE() == 0 {
		fmt.Printf("%d keys have the values that were put\n", o.keys)
	}
	return nil
}
