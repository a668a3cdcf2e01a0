package boot

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
)

// TestProfilePipe: profiles that are written at once arrive each in order, and are complete when they have been closed.
func TestProfilePipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe := &ProfilePipe{w: w}
	want := map[ProfileKind][]byte{}
	var writers sync.WaitGroup
	for i, k := range ProfileKinds {
		data := make([]byte, 300_000+i)
		for j := range data {
			data[j] = byte(i + j*j)
		}
		want[k] = data
		writers.Go(func() {
			random, to := rand.New(rand.NewPCG(1, uint64(k))), pipe.Writer(k)
			for rest := data; len(rest) > 0; {
				n := min(len(rest), 1+random.IntN(150_000))
				if m, err := to.Write(rest[:n]); m != n || err != nil {
					t.Errorf("%v: %d of %d bytes, %v", k, m, n, err)
					break
				}
				rest = rest[n:]
			}
			if err := to.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	go func() {
		writers.Wait()
		w.Close()
	}()
	got, complete := map[ProfileKind][]byte{}, map[ProfileKind]int{}
	if err := ReadProfiles(r, func(k ProfileKind, data []byte) {
		got[k] = append(got[k], data...)
		if len(data) == 0 {
			complete[k]++
		}
	}); err != nil {
		t.Fatal(err)
	}
	for k, data := range want {
		if !bytes.Equal(got[k], data) || complete[k] != 1 {
			t.Errorf("%v: %d of %d bytes, complete %d times", k, len(got[k]), len(data), complete[k])
		}
	}
}

// FuzzReadProfiles: whatever a program writes to the pipe, the reader neither fails to end nor keeps more than a piece.
func FuzzReadProfiles(f *testing.F) {
	f.Add([]byte{'c', 0, 0, 0, 1, 'x', 'c', 0, 0, 0, 0})
	f.Add([]byte{'c', 0, 0, 0, 9, 'x'})
	f.Add([]byte{'c', 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte("no profile"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		rest := stream
		err := ReadProfiles(bytes.NewReader(stream), func(k ProfileKind, data []byte) {
			head := binary.BigEndian.AppendUint32([]byte{byte(k)}, uint32(len(data)))
			if k.String() == "" || len(data) > longestPiece || !bytes.HasPrefix(rest, head) || !bytes.HasPrefix(rest[len(head):], data) {
				t.Fatalf("a piece of %q with %d bytes does not stand there", k, len(data))
			}
			rest = rest[len(head)+len(data):]
		})
		const whole = 5
		if err == nil && len(rest) >= whole && int64(binary.BigEndian.Uint32(rest[1:])) <= int64(len(rest)-whole) {
			t.Fatalf("%d bytes are left", len(rest))
		}
	})
}
