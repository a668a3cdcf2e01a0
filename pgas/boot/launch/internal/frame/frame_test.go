package frame

import (
	"bufio"
	"bytes"
	"testing"
)

func FuzzFrames(f *testing.F) {
	var b bytes.Buffer
	s := NewSender(&b)
	s.Send(FromStdout, []byte{0, 0, 0, 1}, []byte("text\n"))
	s.SendValue(FromDeath, Death{PE: 3})
	f.Add(b.Bytes())
	f.Add([]byte{'o', 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, text []byte) {
		var again bytes.Buffer
		r := bufio.NewReader(bytes.NewReader(text))
		for {
			k, data, err := Read(r)
			if err != nil {
				break
			}
			(NewSender(&again)).Send(k, data)
		}
		if !bytes.HasPrefix(text, again.Bytes()) {
			t.Errorf("%x is read as %x", text, again.Bytes())
		}
	})
}

func TestExitStatus(t *testing.T) {
	for _, tt := range []struct {
		d    Death
		want int
	}{
		{Death{}, 0},
		{Death{Status: 3 << 8}, 3},
		{Death{RaceExit: 66}, 66},
		{Death{Status: 3 << 8, RaceExit: 66}, 3},
		{Death{NeverLeft: true, RaceExit: 66}, 1},
		{Death{Status: 11}, 128 + 11},
		{Death{NeverLeft: true}, 1},
		{Death{Status: 3 << 8, NeverLeft: true}, 3},
	} {
		if got := tt.d.ExitStatus(); got != tt.want {
			t.Errorf("%+v: %d, want %d", tt.d, got, tt.want)
		}
	}
}
