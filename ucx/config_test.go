//go:build cgo

package ucx

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestConfig(t *testing.T) {
	t.Setenv("UCX_ZCOPY_THRESH", "12345")
	t.Setenv("MINE_UCX_ZCOPY_THRESH", "54321")
	for prefix, want := range map[string]string{"": "ZCOPY_THRESH=12345", "MINE": "ZCOPY_THRESH=54321"} {
		c, err := ReadConfig(prefix, "")
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := c.Print(&text, "settings of a test", PrintValues|PrintHeader); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), want) || !strings.Contains(text.String(), "settings of a test") {
			t.Errorf("prefix %q: no %q in\n%s", prefix, want, &text)
		}
		if err := c.Modify("ZCOPY_THRESH", "777"); err != nil {
			t.Fatal(err)
		}
		text.Reset()
		if err := c.Print(&text, "", PrintValues); err != nil || !strings.Contains(text.String(), "ZCOPY_THRESH=777") {
			t.Errorf("%v, no changed value in\n%s", err, &text)
		}
		if err := c.Modify("TCP_TX_SEG_SIZE", "16k"); err != nil {
			t.Errorf("a setting of a transport: %v", err)
		}
		if err := c.Modify("ZCOPY_THRESH", "many"); err == nil {
			t.Error("a bad value was accepted")
		} else {
			checkLine(t, err)
		}
		c.Close()
		c.Close()
		if err := c.Modify("TLS", "tcp"); !errors.Is(err, ErrInvalidParam) {
			t.Errorf("modify after close: %v", err)
		}
		if _, err := NewContext(Params{Config: c}); !errors.Is(err, ErrInvalidParam) {
			t.Errorf("context from a closed configuration: %v", err)
		}
	}
}

// Transports that do not exist are one line that names those that do.
func TestBadTransports(t *testing.T) {
	for _, setting := range [][2]string{{"TLS", "nonsense"}, {"NET_DEVICES", "nonsense"}} {
		t.Run(setting[0], func(t *testing.T) {
			c, err := ReadConfig("", "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if setting[0] != "TLS" {
				if err := c.Modify("TLS", "tcp"); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Modify(setting[0], setting[1]); err != nil {
				t.Fatal(err)
			}
			_, err = NewContext(Params{Config: c})
			if !errors.Is(err, ErrNoDevice) {
				t.Fatalf("got %v", err)
			}
			checkLine(t, err)
			for _, part := range []string{"nonsense", "tcp"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("no %q in %q", part, err)
				}
			}
		})
	}
}

func TestContext(t *testing.T) {
	config, err := ReadConfig("", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := config.Modify("TLS", "tcp,nonsense"); err != nil {
		t.Fatal(err)
	}
	c, err := NewContext(Params{Config: config, Features: FeatureRMA, Endpoints: 10, PerNode: 2})
	config.Close()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(c.Warnings(), "nonsense") {
		t.Errorf("warnings: %q", c.Warnings())
	}
	if c.Features() != FeatureRMA {
		t.Errorf("features: %v", c.Features())
	}
	var text bytes.Buffer
	if err := c.Print(&text); err != nil || !strings.Contains(text.String(), "tcp") {
		t.Errorf("print: %v\n%s", err, &text)
	}
	w, err := c.NewWorker(WorkerParams{Name: "w"})
	if err != nil {
		t.Fatal(err)
	}
	text.Reset()
	if err := w.Print(&text); err != nil || text.Len() == 0 {
		t.Errorf("print worker: %v", err)
	}
	long, err1 := w.Address()
	short, err2 := w.NetAddress()
	if err1 != nil || err2 != nil || len(long) < len(short) || len(short) == 0 {
		t.Errorf("addresses of %d and %d bytes, %v, %v", len(long), len(short), err1, err2)
	}
	if err := c.Close(); !errors.Is(err, ErrBusy) {
		t.Errorf("close with a worker open: %v", err)
	}
	w.Close()
	if _, err := w.Address(); !errors.Is(err, ErrInvalidParam) {
		t.Errorf("address of a closed worker: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error("second close:", err)
	}
	if _, err := c.NewWorker(WorkerParams{}); !errors.Is(err, ErrInvalidParam) {
		t.Errorf("worker of a closed context: %v", err)
	}
	if Version() == "" {
		t.Error("no version")
	}
}
