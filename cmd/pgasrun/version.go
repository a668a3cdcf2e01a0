package main

// pgasrun version: what a bug report needs to know of versions. pgasrun links no UCX, so it asks pgasdoctor for those.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
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

pgasrun itself has no UCX: that of the pgasdoctor beside it, or on PATH, is told.

flags:
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

func versionFlags() (fs *flag.FlagSet, asJSON *bool) {
	fs = flag.NewFlagSet("pgasrun version", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs, fs.Bool("json", false, "print one JSON object")
}

// versionUsage is what -h prints.
func versionUsage() string {
	fs, _ := versionFlags()
	return versionHelp + defaults(fs)
}

// runVersion is pgasrun version. It returns the exit status.
func runVersion(args []string) int {
	fs, asJSON := versionFlags()
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(versionUsage())
		return 0
	case err == nil && fs.NArg() > 0:
		err = fmt.Errorf("version %s: it takes no argument", fs.Arg(0))
	}
	if err != nil {
		return complain(fmt.Errorf("%w: `pgasrun version -h` says more", err), statusUsage)
	}
	v := versions{Gopgas: version.Current(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Protocol: launch.Protocol()}
	v.Commit, v.Modified = version.Commit()
	if v.UCX, err = askUCX(); err != nil {
		v.NoUCX = err.Error()
	}
	if err := v.print(os.Stdout, *asJSON); err != nil {
		return complain(fmt.Errorf("printing versions: %w", err), statusFailed)
	}
	return 0
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
