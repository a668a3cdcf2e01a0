package main

// pgasrun version: what a bug report needs to know of versions. pgasrun links no UCX, so it asks pgasdoctor for those.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasrun/doctor"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/version"
)

const versionHelp = `pgasrun version says which versions these are.

usage: pgasrun version [-json]

  pgasrun version                                of gopgas, its commit, Go, UCX, and the protocol between launcher
                                                 and agents, which must be the same on all hosts of a job
  pgasrun version -json | jq .ucx.running

pgasrun itself has no UCX. It asks the pgasdoctor beside it, or on PATH, for the release.

`

// versions are what pgasrun version prints.
type versions struct {
	Gopgas   string      `json:"gopgas"`
	Commit   string      `json:"commit"` // empty if Go has not recorded it
	Modified bool        `json:"modified"`
	Go       string      `json:"go"`
	Platform string      `json:"platform"`
	Protocol int         `json:"protocol"`
	UCX      *doctor.UCX `json:"ucx"`                 // null if it is not known
	NoUCX    string      `json:"ucx_error,omitempty"` // why not
}

func versionFlags(asJSON *bool) *flagSet {
	s := newFlags("pgasrun version", "`pgasrun version -h` says more", retired)
	s.truth(flagsAlone, asJSON, "json", "print one JSON object")
	return s
}

// versionUsage is what -h prints.
func versionUsage() string { return versionHelp + versionFlags(new(bool)).help() }

// runVersion is pgasrun version.
func runVersion(args []string, out io.Writer) (int, error) {
	var asJSON bool
	s := versionFlags(&asJSON)
	if err := s.parse(args); err != nil {
		return statusUsage, err
	}
	if s.NArg() > 0 {
		return statusUsage, fmt.Errorf("version %s: it takes no argument; `pgasrun -- version` runs a program that is called version", s.Arg(0))
	}
	v := versions{Gopgas: version.Current(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Protocol: launch.Protocol()}
	v.Commit, v.Modified = version.Commit()
	var err error
	if v.UCX, err = askUCX(); err != nil {
		v.NoUCX = err.Error()
	}
	if err := v.print(out, asJSON); err != nil {
		return statusFailed, fmt.Errorf("printing versions: %w", err)
	}
	return 0, nil
}

func (v *versions) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	commit := v.Commit
	switch {
	case commit == "":
		commit = "not recorded in this program"
	case v.Modified:
		commit += ", with changed files"
	}
	ucx := v.NoUCX
	switch {
	case v.UCX == nil:
	case v.UCX.Built == "":
		ucx = "none: pgasdoctor was built without cgo"
	default:
		ucx = fmt.Sprintf("built with %s, running with %s", v.UCX.Built, v.UCX.Running)
	}
	_, err := fmt.Fprintf(w, "gopgas    %s\ncommit    %s\ngo        %s %s\nprotocol  %d\nucx       %s\n", v.Gopgas, commit, v.Go, v.Platform, v.Protocol, ucx)
	return err
}

// askUCX asks pgasdoctor for its UCX.
func askUCX() (*doctor.UCX, error) {
	path := installedDoctor()
	if path == "" {
		return nil, errors.New("not known: there is no pgasdoctor beside pgasrun or on PATH; `go install " + doctorPackage + "@latest`")
	}
	const limit = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, path, doctor.AskUCX)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		last := lastLines(strings.Split(said.String(), "\n"))
		return nil, fmt.Errorf("not known: %s: %w: %s", path, err, oneLine(strings.Join(last, "\n")))
	}
	var u doctor.UCX
	if err := json.Unmarshal(out, &u); err != nil {
		return nil, fmt.Errorf("not known: %s is of another version of gopgas: install the same", path)
	}
	return &u, nil
}
