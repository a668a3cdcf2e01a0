package doctor

// What pgasdoctor prints: a line for each thing that it knows, as soon as it knows it. So what has been measured before
// a PE dies is in the report. The launcher keeps lines whole.

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Line is a line of pgasdoctor: one of its fields is set.
type Line struct {
	Host *Host     `json:"host,omitempty"`
	Pair *Pair     `json:"pair,omitempty"`
	Done *struct{} `json:"done,omitempty"` // all pairs are measured; PE 0 alone says so
}

// Write writes the line in one piece. It returns the error of w.
func (l Line) Write(w io.Writer) error {
	b, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("writing what was found: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// maxLine is more than a line of a host with many cards and variables has.
const maxLine = 4 << 20

// Collect adds what lines say to the report. Text that is no such line is returned: something else has printed it.
func (r *Report) Collect(lines io.Reader) (others []string, err error) {
	scan := bufio.NewScanner(lines)
	scan.Buffer(nil, maxLine)
	for scan.Scan() {
		var l Line
		switch err := json.Unmarshal(scan.Bytes(), &l); {
		case err == nil && l.Host != nil:
			r.Hosts = append(r.Hosts, *l.Host)
		case err == nil && l.Pair != nil:
			r.Pairs = append(r.Pairs, *l.Pair)
		case err == nil && l.Done != nil:
			r.Job.Ran = true
		default:
			others = append(others, scan.Text())
		}
	}
	r.sort()
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		return others, fmt.Errorf("a line of more than %d bytes: pgasdoctor prints none: name a file with what it has printed", maxLine)
	} else if err != nil {
		return others, err
	}
	return others, nil
}
