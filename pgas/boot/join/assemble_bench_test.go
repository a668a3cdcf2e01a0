package join

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"
)

// BenchmarkAssemble: so many processes, of 64 on each host, come to the server in the process of PE 0, are told their
// places and pass a fence. It is what a job without pgasrun costs PE 0, together with what it costs all others: they
// are goroutines here.
func BenchmarkAssemble(b *testing.B) {
	for _, n := range []int{64, 512, 4096} {
		b.Run(fmt.Sprint("processes=", n), func(b *testing.B) {
			for b.Loop() {
				if err := assembleMany(b, n); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "us/process")
		})
	}
}

func assembleMany(b *testing.B, n int) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	secret := newNonce()
	s := newServer([]net.Listener{ln}, ServerConfig{ID: "x", Secret: secret, NPEs: n, Callers: n, PEs: n}, func(string, ...any) {})
	defer s.Close()
	s.assemble(nil, time.Minute)
	errs := make([]error, n)
	var running sync.WaitGroup
	for rank := range n {
		running.Go(func() {
			m := newMember(&ticket{ID: "x", Secret: secret, Addrs: []string{ln.Addr().String()}}, rank, nil, time.Minute)
			defer m.client.Close()
			host := fmt.Sprint("node", rank/64)
			_, err := m.join(b.Context(), newcomer{Rank: rank, Size: n, Host: host, Machine: host, Memory: 1 << 40, CPUs: []int{0}, Told: "list", Place: host})
			if err == nil {
				err = m.client.Fence(b.Context())
			}
			errs[rank] = err
		})
	}
	running.Wait()
	return errors.Join(errs...)
}
