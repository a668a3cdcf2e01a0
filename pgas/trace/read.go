package trace

// Reading a file. It is read event by event, so that one of a gigabyte needs memory for what it holds and not for its
// text.

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// fileEvent is one event of the file.
type fileEvent struct {
	Ph   string      `json:"ph"`
	Tid  int         `json:"tid"`
	Ts   json.Number `json:"ts"`
	ID   int         `json:"id"`
	Name string      `json:"name"`
	Args struct {
		Kind  int    `json:"kind"`
		What  string `json:"what"`
		Ns    int64  `json:"ns"`
		PE    *int   `json:"PE"`
		Seq   uint64 `json:"seq"`
		Value uint64 `json:"value"`
		Word  string `json:"word"`
		Line  string `json:"line"`
		Open  bool   `json:"open"`
		Total uint64 `json:"total"`
		From  int    `json:"from"`
		To    int    `json:"to"`
	} `json:"args"`
}

var errNoTrace = errors.New("this is no trace of pgasrun -trace, or not a whole one")

// Read reads what Write has written. It returns an error if there is something else, or a part, in from.
func Read(from io.Reader) (*Trace, error) {
	r := &reader{from: from, d: json.NewDecoder(from), texts: texts{}, pes: map[int]*PE{}, flows: map[int]int{}}
	if err := r.object(); err != nil {
		return nil, fmt.Errorf("reading the trace: %w", err)
	}
	for i := range r.t.PEs {
		sortSlices(r.t.PEs[i].Slices)
	}
	return &r.t, nil
}

type reader struct {
	from  io.Reader     // where d reads
	d     *json.Decoder // all but the events
	last  fileEvent
	texts texts
	t     Trace
	pes   map[int]*PE
	flows map[int]int // the flows by the file's number
	known bool        // the head has been read
}

// object reads the object of the file.
func (r *reader) object() error {
	if err := r.delim('{'); err != nil {
		return err
	}
	events := false
	for r.d.More() {
		key, err := r.d.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", errNoTrace, err)
		}
		switch key {
		case "otherData":
			err = r.head()
		case "traceEvents":
			events = true
			err = r.events()
		default:
			var skip json.RawMessage
			err = r.d.Decode(&skip)
		}
		if err != nil {
			return err
		}
	}
	if err := r.delim('}'); err != nil {
		return err
	}
	if !r.known || !events {
		return errNoTrace
	}
	return nil
}

func (r *reader) delim(want json.Delim) error {
	got, err := r.d.Token()
	if err != nil {
		return fmt.Errorf("%w: %w", errNoTrace, err)
	}
	if got != want {
		return errNoTrace
	}
	return nil
}

func (r *reader) head() error {
	var h fileHead
	if err := r.d.Decode(&h); err != nil {
		return fmt.Errorf("%w: %w", errNoTrace, err)
	}
	if h.Version == 0 {
		return errNoTrace
	}
	if h.Version != fileVersion {
		return fmt.Errorf("it is of version %d, and this pgasrun reads version %d: read it with the pgasrun that has written it", h.Version, fileVersion)
	}
	r.known = true
	r.t = Trace{Program: h.Program, Virtual: h.Virtual, Hosts: h.Hosts, End: h.End}
	for _, e := range h.Each {
		if e.PE < 0 || e.Host < 0 || e.Host >= len(h.Hosts) || len(r.t.PEs) > 0 && r.t.PEs[len(r.t.PEs)-1].Number >= e.PE {
			return errNoTrace
		}
		if e.Counts != nil && slices.ContainsFunc(e.Counts.Peers, func(p record.Traffic) bool { return p.Peer < 0 }) {
			return errNoTrace
		}
		r.t.PEs = append(r.t.PEs, PE{Number: e.PE, Host: e.Host, Dropped: e.Dropped, Updates: e.Updates, End: e.End, Counts: e.Counts, Words: map[uint64]string{}})
	}
	for i := range r.t.PEs {
		r.pes[r.t.PEs[i].Number] = &r.t.PEs[i]
	}
	return nil
}

func (r *reader) events() error {
	if err := r.delim('['); err != nil {
		return err
	}
	in := &valueReader{in: bufio.NewReaderSize(io.MultiReader(r.d.Buffered(), r.from), 1<<16)}
	for first := true; ; first = false {
		b, err := in.token()
		if err == nil && b == ']' {
			break
		}
		if err == nil && !first && b == ',' {
			b, err = in.token()
		} else if !first {
			return errNoTrace
		}
		if err == nil && b != '{' {
			return errNoTrace
		}
		var text []byte
		if err == nil {
			text, err = in.object()
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errNoTrace, err)
		}
		if err := r.eventIn(text); err != nil {
			return err
		}
	}
	// A decoder of the members behind the events, of which the array stands for the first.
	r.from = io.MultiReader(strings.NewReader(`{"":0`), in.in)
	r.d = json.NewDecoder(r.from)
	if err := r.delim('{'); err != nil {
		return err
	}
	for range 2 {
		if _, err := r.d.Token(); err != nil {
			return fmt.Errorf("%w: %w", errNoTrace, err)
		}
	}
	return nil
}

// eventIn reads the event that text is.
func (r *reader) eventIn(text []byte) error {
	e := &r.last
	*e = fileEvent{}
	if !r.texts.scan(text, e) {
		*e = fileEvent{}
		if err := json.Unmarshal(text, e); err != nil {
			return fmt.Errorf("%w: %w", errNoTrace, err)
		}
	}
	return r.event(e)
}

func (r *reader) event(e *fileEvent) error {
	p := r.pes[e.Tid/tracksOfPE]
	if p == nil || e.Ph == "M" {
		return nil
	}
	at, err := nanos(e.Ts.String())
	if err != nil {
		return err
	}
	switch e.Ph {
	case "X":
		s := Slice{Kind: record.EventKind(e.Args.Kind), Name: e.Args.What, Start: at, Dur: e.Args.Ns, Open: e.Args.Open, Peer: -1, Seq: e.Args.Seq, Value: e.Args.Value, Line: e.Args.Line}
		if e.Args.PE != nil {
			s.Peer = *e.Args.PE
		}
		if s.Start < 0 || s.Dur < 0 || s.End() < 0 {
			return errNoTrace
		}
		if s.Kind.IsSlice() {
			p.Slices = append(p.Slices, s)
		}
		if e.Args.Word != "" {
			p.Words[s.Seq] = e.Args.Word
		}
	case "C":
		for k, name := range counterNames {
			if strings.HasSuffix(e.Name, name) {
				p.Points = append(p.Points, Point{Kind: record.Value, At: at, Peer: -1, Seq: uint64(k), Value: e.Args.Total})
			}
		}
	case "s":
		r.flows[e.ID] = len(r.t.Flows)
		r.t.Flows = append(r.t.Flows, Flow{From: e.Args.From, To: e.Args.To, FromAt: at, ToAt: at, Name: e.Name})
	case "f":
		if i, ok := r.flows[e.ID]; ok {
			f := &r.t.Flows[i]
			f.ToAt = max(f.FromAt, at+1)
		}
	}
	return nil
}

// nanos reads what micros has written.
func nanos(s string) (int64, error) {
	whole, part, _ := strings.Cut(s, ".")
	if len(part) > 3 {
		return 0, errNoTrace
	}
	ns, err := strconv.ParseInt(whole+part+"000"[len(part):], 10, 64)
	if err != nil || strings.Contains(part, "-") {
		return 0, errNoTrace
	}
	return ns, nil
}
