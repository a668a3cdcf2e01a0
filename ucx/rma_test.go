//go:build cgo

package ucx

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

var sizes = []int{0, 1, 8, CopyMax, CopyMax + 1, 4 << 10, 1 << 20, 8 << 20}

func TestPutGet(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		const guard = 64
		p := newPair(t, tls, 8<<20+2*guard)
		heap := p.mem.Bytes()
		for i, n := range sizes {
			for _, shift := range []int{0, 1, 7} {
				if n >= 1<<20 && shift == 7 {
					continue
				}
				t.Run(fmt.Sprintf("%d+%d", n, shift), func(t *testing.T) {
					at := guard + shift
					clear(heap[:at+n+guard/2])
					src := pattern(n+shift, byte(i+1))[shift:]
					remote := p.mem.Addr() + uint64(at)
					r, err := p.ep.Put(src, remote, p.key)
					p.wait(t, r, err)
					p.flush(t)
					if !bytes.Equal(heap[at:at+n], src) {
						t.Fatal("the target does not hold what was put")
					}
					if heap[at-1] != 0 || heap[at+n] != 0 {
						t.Fatal("put wrote outside its range")
					}
					dst := make([]byte, n+2)
					r, err = p.ep.Get(dst[1:1+n], remote, p.key)
					p.wait(t, r, err)
					if !bytes.Equal(dst[1:1+n], src) {
						t.Fatal("get did not return what was put")
					}
					if dst[0] != 0 || dst[n+1] != 0 {
						t.Fatal("get wrote outside its range")
					}
				})
			}
		}
	})
}

// A small source may be reused as soon as Put returns.
func TestPutCopies(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		const n = 200
		p := newPair(t, tls, n*CopyMax)
		src := make([]byte, CopyMax)
		for i := range n {
			for j := range src {
				src[j] = byte(i)
			}
			r, err := p.ep.Put(src, p.mem.Addr()+uint64(i*CopyMax), p.key)
			if err != nil {
				t.Fatal(err)
			}
			r.Free()
		}
		p.flush(t)
		for i := range n {
			for j, b := range p.mem.Bytes()[i*CopyMax : (i+1)*CopyMax] {
				if b != byte(i) {
					t.Fatalf("put %d, byte %d is %d", i, j, b)
				}
			}
		}
	})
}

// Memory of the Go heap can be a target and a source.
func TestGoMemory(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		p := newPair(t, tls, 8)
		heap := make([]byte, 1<<16)
		mem, err := p.target.Context().MapMemory(heap)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := mem.PackKey()
		if err != nil {
			t.Fatal(err)
		}
		key, err := p.ep.UnpackKey(packed)
		if err != nil {
			t.Fatal(err)
		}
		src := pattern(len(heap), 9)
		r, err := p.ep.Put(src, mem.Addr(), key)
		p.wait(t, r, err)
		p.flush(t)
		if !bytes.Equal(heap, src) {
			t.Fatal("mapped Go memory does not hold what was put")
		}
		key.Close()
		if err := mem.Close(); err != nil {
			t.Fatal(err)
		}
		if mem.Bytes() != nil || mem.Addr() != 0 {
			t.Error("closed memory still has an address")
		}
	})
}

// After a fence, what is seen of the later put implies the earlier one.
func TestFence(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		p := newPair(t, tls, 1<<16)
		data, flag := p.mem.Addr(), p.mem.Addr()+1<<15
		for i := range 50 {
			src := pattern(4096, byte(i))
			r, err := p.ep.Put(src, data, p.key)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.origin.Fence(); err != nil {
				t.Fatal(err)
			}
			f, err := p.ep.Put([]byte{byte(i + 1)}, flag, p.key)
			p.wait(t, f, err)
			p.wait(t, r, nil)
			p.flush(t)
			if got := p.mem.Bytes()[1<<15]; got != byte(i+1) {
				t.Fatalf("flag is %d after put %d", got, i)
			}
			if !bytes.Equal(p.mem.Bytes()[:4096], src) {
				t.Fatalf("data of put %d is missing behind its flag", i)
			}
		}
	})
}

// A flush of the worker covers all its endpoints.
func TestWorkerFlush(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		const eps = 3
		p := newPair(t, tls, eps*1<<16)
		packed, err := p.mem.PackKey()
		if err != nil {
			t.Fatal(err)
		}
		for i := range eps {
			ep := openEndpoint(t, p.origin, p.target, p.params)
			key, err := ep.UnpackKey(packed)
			if err != nil {
				t.Fatal(err)
			}
			defer key.Close()
			r, err := ep.Put(pattern(1<<16, byte(i)), p.mem.Addr()+uint64(i)<<16, key)
			if err != nil {
				t.Fatal(err)
			}
			r.Free()
		}
		r, err := p.origin.Flush()
		p.wait(t, r, err)
		for i := range eps {
			if !bytes.Equal(p.mem.Bytes()[i<<16:(i+1)<<16], pattern(1<<16, byte(i))) {
				t.Fatalf("endpoint %d was not flushed", i)
			}
		}
	})
}

func TestMisuse(t *testing.T) {
	p := newPair(t, "tcp", 64)
	other := openEndpoint(t, p.origin, p.target, p.params)
	closedKey, err := p.ep.UnpackKey(mustKey(t, p.mem))
	if err != nil {
		t.Fatal(err)
	}
	closedKey.Close()
	poor, err := NewContext(Params{Features: FeatureAM})
	if err != nil {
		t.Fatal(err)
	}
	defer poor.Close()
	poorWorker := openWorker(t, poor, WorkerParams{})
	poorEP := openEndpoint(t, poorWorker, p.target, p.params)
	at := p.mem.Addr()
	word := make([]byte, 8)
	second := func(_ any, err error) error { return err }
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"key of another endpoint": {second(other.Put(word, at, p.key)), ErrInvalidParam},
		"no key":                  {second(p.ep.Get(word, at, nil)), ErrInvalidParam},
		"closed key":              {second(p.ep.Put(word, at, closedKey)), ErrInvalidParam},
		"word of 2 bytes":         {p.ep.PostAtomic(AtomicAdd, 2, 1, 0, at, p.key), ErrInvalidParam},
		"unaligned word":          {p.ep.PostAtomic(AtomicAdd, 8, 1, 0, at+4, p.key), ErrInvalidParam},
		"unknown atomic":          {second(p.ep.FetchAtomic(99, 8, 1, 0, at, p.key)), ErrInvalidParam},
		"put without feature":     {second(poorEP.Put(word, at, p.key)), ErrInvalidParam},
		"arm without feature":     {poorWorker.Arm(), ErrInvalidParam},
		"empty address":           {second(p.origin.NewEndpoint(nil, EndpointParams{})), ErrInvalidAddr},
		"empty key":               {second(p.ep.UnpackKey(nil)), ErrInvalidParam},
		"empty memory":            {second(p.origin.Context().MapMemory(nil)), ErrInvalidParam},
		"no bytes":                {second(p.origin.Context().AllocMemory(0)), ErrInvalidParam},
		"context in use":          {p.origin.Context().Close(), ErrBusy},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.err, c.want)
		}
		checkLine(t, c.err)
	}
}

func mustKey(t testing.TB, m *Memory) []byte {
	t.Helper()
	packed, err := m.PackKey()
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func checkLine(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if text := err.Error(); bytes.ContainsAny([]byte(text), "\n\r") || text == "" {
		t.Errorf("error is not one line: %q", text)
	}
}
