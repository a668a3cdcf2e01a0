//go:build cgo

package ucx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// take receives a whole message.
func take(ctx context.Context, in *Inbox) (header, data []byte, rendezvous bool, err error) {
	m, err := in.Receive(ctx)
	if err != nil {
		return nil, nil, false, err
	}
	defer m.Free()
	data = make([]byte, m.Len())
	r, err := m.Recv(data)
	if err == nil {
		err = r.Wait(ctx)
	}
	if !m.Rendezvous() && !bytes.Equal(m.Data(), data) {
		err = errors.New("Data and Recv disagree")
	}
	return bytes.Clone(m.Header()), data, m.Rendezvous(), err
}

func TestActiveMessages(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		p := newPair(t, tls, 64)
		in, err := p.target.NewInbox(7)
		if err != nil {
			t.Fatal(err)
		}
		headers := []int{0, 8, 100, CopyMax + 1}
		for i, n := range sizes {
			for _, h := range headers {
				for _, flags := range []AMFlags{0, AMEager, AMRendezvous} {
					if h > p.origin.MaxHeader() || n >= 1<<20 && h != 8 {
						continue
					}
					name := fmt.Sprintf("%d+%d/flags=%d", h, n, flags)
					t.Run(name, func(t *testing.T) { oneMessage(t, p, in, pattern(h, 3), pattern(n, byte(i)), flags) })
				}
			}
		}
		if in.Len() != 0 || in.Lost() != 0 {
			t.Errorf("%d messages left, %d lost", in.Len(), in.Lost())
		}
	})
}

func oneMessage(t *testing.T, p *pair, in *Inbox, header, data []byte, flags AMFlags) {
	// The sender must make progress while the receiver fetches a rendezvous.
	sent := make(chan error, 1)
	go func() {
		r, err := p.ep.SendAM(7, header, data, flags)
		if err == nil {
			err = r.Wait(p.ctx)
		}
		sent <- err
	}()
	gotHeader, gotData, rendezvous, err := take(p.ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(gotHeader, header) || !bytes.Equal(gotData, data) {
		t.Fatal("the message changed on the way")
	}
	if flags == AMRendezvous && len(data) > 0 && !rendezvous {
		t.Error("a forced rendezvous arrived eagerly")
	}
	if flags == AMEager && rendezvous {
		t.Error("a forced eager message arrived as a rendezvous")
	}
}

// Messages wait in the order in which they were sent until the receiver takes them.
func TestInboxKeepsOrder(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		const n = 500
		p := newPair(t, tls, 64)
		in, err := p.target.NewInbox(1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			r, err := p.ep.SendAM(1, []byte{byte(i), byte(i >> 8)}, pattern(i*8, byte(i)), AMEager)
			p.wait(t, r, err)
		}
		for i := range n {
			header, data, _, err := take(p.ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(header, []byte{byte(i), byte(i >> 8)}) || !bytes.Equal(data, pattern(i*8, byte(i))) {
				t.Fatalf("message %d is not the one that was sent", i)
			}
		}
	})
}

// A rendezvous whose payload the receiver drops completes at its sender.
func TestDropRendezvous(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		p := newPair(t, tls, 64)
		in, err := p.target.NewInbox(1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.ep.SendAM(1, []byte("h"), pattern(1<<16, 1), AMRendezvous)
		if err != nil {
			t.Fatal(err)
		}
		// Nothing has fetched the payload, so only the drop can complete it.
		for in.Len() == 0 {
			p.origin.Progress()
			if p.ctx.Err() != nil {
				t.Fatal(p.ctx.Err())
			}
		}
		m, ok := in.Next()
		if !ok || !m.Rendezvous() || m.Data() != nil || m.Len() != 1<<16 {
			t.Fatalf("not a rendezvous of 64 KiB: %v", ok)
		}
		if _, err := m.Recv(make([]byte, 10)); !errors.Is(err, ErrMessageTruncated) {
			t.Errorf("receiving into a short buffer: %v", err)
		}
		if st := r.Status(); st != InProgress {
			t.Errorf("status before the drop is %v", st)
		}
		m.Free()
		p.wait(t, r, nil)
	})
}

func TestInboxMisuse(t *testing.T) {
	p := newPair(t, "tcp", 64)
	in, err := p.target.NewInbox(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.target.NewInbox(1); !errors.Is(err, ErrAlreadyExists) {
		t.Errorf("second inbox: %v", err)
	}
	if _, err := p.ep.SendAM(1, make([]byte, p.origin.MaxHeader()+1), nil, 0); !errors.Is(err, ErrExceedsLimit) {
		t.Errorf("long header: %v", err)
	}
	in.Close()
	if in, err = p.target.NewInbox(1); err != nil {
		t.Fatal("an id whose inbox was closed:", err)
	}
	r, err := p.ep.SendAM(1, nil, []byte("again"), 0)
	p.wait(t, r, err)
	if _, data, _, err := take(p.ctx, in); err != nil || string(data) != "again" {
		t.Errorf("got %q, %v", data, err)
	}
}

// A message without an inbox is counted, and does no harm: not even one of the highest id.
func TestDropped(t *testing.T) {
	each(t, func(t *testing.T, tls string) {
		p := newPair(t, tls, 64)
		sent := 0
		for _, id := range []uint8{0, 9, 200, 255} {
			for _, n := range []int{0, 8, 1 << 16} {
				for _, flags := range []AMFlags{AMEager, AMRendezvous} {
					r, err := p.ep.SendAM(id, []byte("h"), make([]byte, n), flags)
					p.wait(t, r, err)
					sent++
				}
			}
		}
		p.flush(t)
		for p.target.Dropped() < sent {
			if err := p.ctx.Err(); err != nil {
				t.Fatalf("%d of %d messages were dropped", p.target.Dropped(), sent)
			}
			p.origin.Progress()
		}
	})
}
