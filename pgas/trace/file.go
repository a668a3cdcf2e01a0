package trace

// The file: an object in the trace event format of Chrome, which Perfetto opens too. A host is a process there, a PE a
// thread; further tracks of a PE, and that of its service thread, are threads behind it. Everything that Read needs is
// in it, but for updates and notes that have ended no wait.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// fileVersion is that of the file's own parts: otherData and args.
const fileVersion = 1

// tracksOfPE is how far apart the thread numbers of PEs are. The last of them is the service thread.
const (
	tracksOfPE   = mostTracks + 2
	serviceTrack = mostTracks
)

// fileHead is otherData.
type fileHead struct {
	Version int      `json:"gopgas_trace"`
	Program string   `json:"program"`
	Virtual bool     `json:"virtual_time"`
	Hosts   []Host   `json:"hosts"`
	Each    []fileP  `json:"each"`
	End     int64    `json:"end_ns"`
	Kinds   []string `json:"kinds"` // the kinds of operations, as in Counts
}

// fileP is what the head says of a PE.
type fileP struct {
	PE      int            `json:"pe"`
	Host    int            `json:"host"`
	Dropped uint64         `json:"dropped"`
	Updates uint64         `json:"dropped_updates"`
	End     int64          `json:"end_ns"`
	Counts  *record.Counts `json:"counts,omitempty"`
}

// Write writes t.
func (t *Trace) Write(to io.Writer) error {
	w := &writer{w: bufio.NewWriterSize(to, 1<<16), anchors: map[anchor]int{}}
	head := fileHead{Version: fileVersion, Program: t.Program, Virtual: t.Virtual, Hosts: t.Hosts, End: t.End}
	for k := range record.NumKinds {
		head.Kinds = append(head.Kinds, k.String())
	}
	for i := range t.PEs {
		p := &t.PEs[i]
		head.Each = append(head.Each, fileP{p.Number, p.Host, p.Dropped, p.Updates, p.End, p.Counts})
	}
	data, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("writing the trace: %w", err)
	}
	w.text(`{"displayTimeUnit":"ns","otherData":`)
	w.w.Write(data)
	w.text(`,"traceEvents":[`)
	for i, h := range t.Hosts {
		w.meta(i+1, 0, "process_name", "name", quote("host "+h.Name))
		w.meta(i+1, 0, "process_sort_index", "sort_index", strconv.Itoa(i))
	}
	sources, words := t.sourcesByPE(), t.wordNames()
	for i := range t.PEs {
		w.pe(&t.PEs[i], sources[t.PEs[i].Number], words)
	}
	w.flows(t)
	w.text("\n]}\n")
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("writing the trace: %w", err)
	}
	return nil
}

// writer writes events. The buffer keeps the first error.
type writer struct {
	w       *bufio.Writer
	some    bool           // an event has been written
	anchors map[anchor]int // thread numbers of slices at which arrows begin and end
}

func (w *writer) text(s string) { w.w.WriteString(s) }

// event begins an event: ph is the format's letter for its type.
func (w *writer) event(ph byte, pid, tid int) {
	if w.some {
		w.text(",")
	}
	w.some = true
	fmt.Fprintf(w.w, "\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d", ph, pid, tid)
}

func (w *writer) meta(pid, tid int, name, key, value string) {
	w.event('M', pid, tid)
	fmt.Fprintf(w.w, `,"name":%q,"args":{%q:%s}}`, name, key, value)
}

// micros writes a time as the format has it: microseconds, with nanoseconds behind the point.
func micros(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// sourcesByPE returns the moments at which arrows begin, which need a slice to begin at.
func (t *Trace) sourcesByPE() map[int][]Slice {
	all := map[int][]Slice{}
	for _, f := range t.Flows {
		all[f.From] = append(all[f.From], Slice{Kind: record.Update, Name: f.Name, Start: f.FromAt, Peer: f.To})
	}
	return all
}

// anchor is where an arrow begins, or ends.
type anchor struct {
	pe    int
	at    int64
	begin bool
}

// anchorOf returns where an arrow can begin or end at slice s of PE number.
func anchorOf(number int, s *Slice) anchor {
	if s.Kind == record.Update {
		return anchor{number, s.Start, true}
	}
	return anchor{number, s.End(), false}
}

// pe writes the tracks of a PE, with the sources of arrows.
func (w *writer) pe(p *PE, sources []Slice, words map[uint64]string) {
	pid, first := p.Host+1, p.Number*tracksOfPE
	list := append(append([]Slice(nil), p.Slices...), sources...)
	sortSlices(list)
	main := list[:0:0]
	service := 0
	for _, s := range list {
		if s.Kind == record.Serve {
			w.slice(pid, first+serviceTrack, &s, s.Dur, "")
			service++
			continue
		}
		main = append(main, s)
	}
	on, dur := place(main)
	used := 0
	for i := range main {
		w.slice(pid, first+on[i], &main[i], dur[i], words[main[i].word()])
		if k := main[i].Kind; k == record.Update || k == record.Wait {
			w.anchors[anchorOf(p.Number, &main[i])] = first + on[i]
		}
		used = max(used, on[i])
	}
	for k := 0; k <= used; k++ {
		name := fmt.Sprintf("PE %d", p.Number)
		if k > 0 {
			name += fmt.Sprintf(" (goroutine %d)", k+1)
		}
		w.track(pid, first+k, name)
	}
	if service > 0 {
		w.track(pid, first+serviceTrack, fmt.Sprintf("PE %d service thread", p.Number))
	}
	w.counters(pid, p)
}

func (w *writer) track(pid, tid int, name string) {
	w.meta(pid, tid, "thread_name", "name", quote(name))
	w.meta(pid, tid, "thread_sort_index", "sort_index", strconv.Itoa(tid))
}

var categories = [record.NumEvents]string{record.Wait: "wait", record.Call: "collective", record.Region: "region", record.Hold: "lock", record.Acquire: "lock", record.Serve: "service", record.Update: "act"}

// slice writes a slice. What is in args is for Read and for people.
func (w *writer) slice(pid, tid int, s *Slice, dur int64, word string) {
	name := s.Name
	switch s.Kind {
	case record.Wait:
		name = "wait: " + name
	case record.Hold:
		name = "holds " + name
	case record.Acquire:
		name = "takes " + name
	}
	w.event('X', pid, tid)
	fmt.Fprintf(w.w, `,"ts":%s,"dur":%s,"cat":%q,"name":%s,"args":{"kind":%d,"what":%s,"ns":%d`, micros(s.Start), micros(dur), categories[s.Kind], quote(name), s.Kind, quote(s.Name), s.Dur)
	if s.Peer >= 0 {
		fmt.Fprintf(w.w, `,"PE":%d`, s.Peer)
	}
	if s.Seq != 0 {
		fmt.Fprintf(w.w, `,"seq":%d`, s.Seq)
	}
	if s.Value != 0 {
		fmt.Fprintf(w.w, `,"value":%d`, s.Value)
	}
	if word != "" {
		fmt.Fprintf(w.w, `,"word":%s`, quote(word))
	}
	if s.Line != "" {
		fmt.Fprintf(w.w, `,"line":%s`, quote(s.Line))
	}
	if s.Open {
		w.text(`,"open":true`)
	}
	w.text("}}")
}

// counterNames are those of the counters that PEs record over time.
var counterNames = [...]string{"operations", "bytes"}

// counters writes the counters of a PE, each a track.
func (w *writer) counters(pid int, p *PE) {
	for _, e := range p.Points {
		if e.Kind != record.Value || e.Seq >= uint64(len(counterNames)) {
			continue
		}
		w.event('C', pid, p.Number*tracksOfPE)
		fmt.Fprintf(w.w, `,"ts":%s,"name":"PE %d %s","args":{"total":%d}}`, micros(e.At), p.Number, counterNames[e.Seq], e.Value)
	}
}

// flows writes the arrows.
func (w *writer) flows(t *Trace) {
	for i, f := range t.Flows {
		from, to := t.PE(f.From), t.PE(f.To)
		if from == nil || to == nil {
			continue
		}
		w.event('s', from.Host+1, w.anchors[anchor{f.From, f.FromAt, true}])
		fmt.Fprintf(w.w, `,"ts":%s,"id":%d,"cat":"flow","name":%s,"args":{"from":%d,"to":%d}}`, micros(f.FromAt), i, quote(f.Name), f.From, f.To)
		w.event('f', to.Host+1, w.anchors[anchor{f.To, f.ToAt, false}])
		fmt.Fprintf(w.w, `,"ts":%s,"id":%d,"cat":"flow","name":%s,"bp":"e"}`, micros(max(f.FromAt, f.ToAt-1)), i, quote(f.Name))
	}
}
