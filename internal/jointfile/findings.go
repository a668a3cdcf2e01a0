package jointfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// A Finding is what one member has found out about a file.
type Finding struct {
	A, B int64
	Name string
}

// A message tells the other members a finding, or an error in its place.
type message struct {
	Finding
	request string // the call in words
	text    string // the error in words; "" if there is none
	is      byte   // the index in fileErrors of the error
}

// fileErrors are the errors that a member can tell others by number. 0 is any other.
var fileErrors = [...]error{1: fs.ErrNotExist, 2: fs.ErrPermission}

// Exchange returns the findings of all members of t; this one has found mine, or err. request describes the call, with
// what must be the same on every member. Exchange returns a *pgas.MismatchError if the requests differ, and else the
// error of the first member that has one, with the PE and the host of that member. It is collective over t.
func Exchange(ctx context.Context, t *pgas.Team, request string, mine Finding, err error) ([]Finding, error) {
	m := message{Finding: mine, request: request}
	if err != nil {
		m.text = err.Error()
		for i, e := range fileErrors {
			if e != nil && errors.Is(err, e) {
				m.is = byte(i)
			}
		}
	}
	all, err := pgas.AllGather(ctx, t, m.encode())
	if err != nil {
		return nil, err
	}
	messages, said := make([]message, len(all)), make([]string, len(all))
	for pe, b := range all {
		messages[pe] = decode(b)
		said[pe] = messages[pe].request
	}
	if err := hook.Mismatch(request, said); err != nil {
		return nil, err
	}
	findings := make([]Finding, len(all))
	for pe, m := range messages {
		if m.text != "" {
			return nil, &fileError{fmt.Sprintf("%s: %s", PlaceOf(t, pe), m.text), fileErrors[m.is]}
		}
		findings[pe] = m.Finding
	}
	return findings, nil
}

func (m message) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(m.A))
	b = binary.LittleEndian.AppendUint64(b, uint64(m.B))
	b = append(b, m.is)
	for _, s := range [...]string{m.Name, m.request, m.text} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

func decode(b []byte) (m message) {
	m.A, m.B = int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
	m.is, b = b[16], b[17:]
	for _, s := range [...]*string{&m.Name, &m.request, &m.text} {
		end := 8 + binary.LittleEndian.Uint64(b)
		*s, b = string(b[8:end]), b[end:]
	}
	return m
}

// A fileError is the error of a member, on all members.
type fileError struct {
	text string
	is   error
}

func (e *fileError) Error() string { return e.text }

func (e *fileError) Unwrap() error { return e.is }

// PlaceOf names member pe of t and its host.
func PlaceOf(t *pgas.Team, pe int) string {
	pe = t.WorldPE(pe)
	return fmt.Sprintf("PE %d (host %s)", pe, t.World().HostOf(pe))
}
