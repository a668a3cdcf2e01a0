package growth

// The file of results: a line of JSON about the machine, and one for each job that is done. A run appends to it, so
// that another run goes on where it ended, and the document is drawn from it.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// about is the first line.
type about struct {
	Machine string `json:"machine"`
	CPUs    int    `json:"cpus"`
	Peer    string `json:"peer"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	Short   bool   `json:"short,omitempty"`
}

// A record is what a job has given.
type record struct {
	Job     string          `json:"job"`
	Results []result.Result `json:"results,omitempty"`
	Failed  string          `json:"failed,omitempty"`
}

// results is all that is in the file.
type results struct {
	about   about
	records map[string]record
}

// read reads the file. Without one there are no records, and no machine.
func read(file string) (*results, error) {
	r := &results{records: map[string]record{}}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			err = json.Unmarshal(lines.Bytes(), &r.about)
		} else {
			var one record
			err = json.Unmarshal(lines.Bytes(), &one)
			r.records[one.Job] = one
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w: remove the line, and the job is measured again", file, n, err)
		}
	}
	return r, lines.Err()
}

// appendTo writes one line to the file.
func appendTo(file string, line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}
