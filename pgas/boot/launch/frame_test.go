package launch

import (
	"bufio"
	"bytes"
	"testing"
)

func FuzzFrames(f *testing.F) {
	var b bytes.Buffer
	s := newSender(&b)
	s.bytes(fromStdout, []byte{0, 0, 0, 1}, []byte("text\n"))
	s.value(fromDeath, death{PE: 3})
	f.Add(b.Bytes())
	f.Add([]byte{'o', 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, text []byte) {
		var again bytes.Buffer
		r := bufio.NewReader(bytes.NewReader(text))
		for {
			k, data, err := readFrame(r)
			if err != nil {
				break
			}
			(newSender(&again)).bytes(k, data)
		}
		if !bytes.HasPrefix(text, again.Bytes()) {
			t.Errorf("%x is read as %x", text, again.Bytes())
		}
	})
}

func TestExitStatus(t *testing.T) {
	for _, tt := range []struct {
		d    death
		want int
	}{
		{death{}, 0},
		{death{Status: 3 << 8}, 3},
		{death{Status: 11}, 128 + 11},
		{death{NeverLeft: true}, 1},
		{death{Status: 3 << 8, NeverLeft: true}, 3},
	} {
		if got := tt.d.exitStatus(); got != tt.want {
			t.Errorf("%+v: %d, want %d", tt.d, got, tt.want)
		}
	}
}
