package launch

// What the command of an agent writes.

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/output"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// follow reads what the command of h's agent writes, until its end.
func (j *job) follow(h *host, l *spawn.Link) {
	h.link, h.send = l, frame.NewSender(l.In)
	var readers sync.WaitGroup
	readers.Go(func() { j.readErrors(h, l.Errs) })
	readers.Go(func() { j.readFrames(h, l) })
	go func() {
		readers.Wait()
		j.post(event{host: h, link: l, change: agentExited, err: l.Wait()})
	}()
}

// readFrames writes the output of h's PEs itself, so that a slow reader of the launcher's output slows only these,
// and posts all other frames.
func (j *job) readFrames(h *host, l *spawn.Link) {
	r := bufio.NewReaderSize(l.Out, output.MaxLine)
	progress := func(n int) { j.post(event{host: h, link: l, change: staged, bytes: n}) }
	text, err := spawn.AwaitGreeting(r, l.In, j.spec.files, progress)
	other := frame.CheckGreeting(text)
	if err != nil || other != nil {
		switch {
		case err == spawn.ErrNoGreeting:
			j.post(event{host: h, link: l, change: notAnAgent})
		case err == nil:
			j.post(event{host: h, link: l, change: otherVersion, err: other})
		}
		io.Copy(io.Discard, r)
		return
	}
	j.post(event{host: h, link: l, change: agentGreeted})
	for {
		k, data, err := frame.Read(r)
		if err == nil && !frame.FromAgent(k) {
			err = fmt.Errorf("a frame of unknown kind %q", k)
		}
		h.frames.Add(1)
		switch {
		case isEnd(err):
			return
		case err != nil:
			j.post(event{host: h, link: l, change: badFrame, err: err})
			io.Copy(io.Discard, r)
			return
		case k == frame.FromStdout || k == frame.FromStderr:
			h.writing.Store(true)
			j.output(k, data)
			h.writing.Store(false)
		case k == frame.FromProfile:
			h.writing.Store(true)
			j.profile(data)
			h.writing.Store(false)
		case k == frame.FromTrace:
			h.writing.Store(true)
			passTrace(&j.spec, j.most, h, data)
			h.writing.Store(false)
		default:
			j.post(event{host: h, link: l, frame: k, data: data})
		}
	}
}

// isEnd reports whether err is the end of a stream, be it in the middle of a frame, and no fault of what was read.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrClosed)
}

// profile hands a piece of a profile to the spec's function.
func (j *job) profile(data []byte) {
	const head = 5
	if len(data) < head || j.spec.Profiles == nil {
		return
	}
	pe, k := int(binary.BigEndian.Uint32(data)), boot.ProfileKind(data[4])
	if pe < j.most && k.String() != "" {
		j.spec.Profiles(pe, k, data[head:])
	}
}

// streamOf are the streams whose pieces come in frames of a kind.
var streamOf = map[frame.Kind]Stream{frame.FromStdout: Stdout, frame.FromStderr: Stderr}

func (j *job) output(k frame.Kind, data []byte) {
	if len(data) < 4 {
		return
	}
	pe := int(binary.BigEndian.Uint32(data))
	if pe >= j.most {
		return
	}
	said, _, _ := output.SplitBars(data[4:])
	if j.spec.Output != nil && len(said) > 0 {
		j.spec.Output(pe, streamOf[k], said)
	}
	if k == frame.FromStdout {
		j.stdout.Write(pe, data[4:])
		return
	}
	j.stderr.Write(pe, data[4:])
	j.tails.Add(pe, said)
}

// readErrors keeps the last line that the command itself (ssh, say) writes to its standard error. Of a traceback it
// keeps the first line, which says what happened; the last ones are registers. A failure that is known is kept too.
func (j *job) readErrors(h *host, errs io.Reader) {
	output.SplitLines(errs, func(piece []byte) {
		for line := range strings.Lines(string(piece)) {
			text := strings.TrimSpace(line)
			if text == "" {
				continue
			}
			h.noteError(text, j.spec.Agent[0])
			j.spec.Logf("host %s: %s", h.Name, text)
		}
	})
}
