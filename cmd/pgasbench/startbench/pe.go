package startbench

// A PE of a measured job. It prints one line of JSON, which pgasrun passes on whole.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas"
)

// peEnv makes pgasbench start a PE. Its value is "connect" if the PE is to put to every other.
const peEnv = "PGASBENCH_START_PE"

// IsPE reports whether this process is to be a PE of a job under measurement: PE is to be called then.
func IsPE() bool { return os.Getenv(peEnv) != "" }

// report is what a PE says of itself. Times are those of the machine's clock, in ns.
type report struct {
	PE        int
	Begun     int64 // main was entered
	Ready     int64 // pgas.Main has called the body
	Together  int64 // the first barrier was over
	Connected int64 // the puts to all others were complete, and a barrier over
	CPU       int64 // CPU time of this process until then, in ns
	Share     int64 // its share of memory, in bytes
	Own       int64 // memory that no other process has
	Files     int   // open descriptors
	Threads   int
}

// PE takes part in a job, and prints its report.
func PE() {
	r := report{Begun: time.Now().UnixNano()}
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		r.PE, r.Ready = w.PE(), time.Now().UnixNano()
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		r.Together = time.Now().UnixNano()
		if os.Getenv(peEnv) == "connect" {
			if err := connect(ctx, w); err != nil {
				return err
			}
		}
		r.Connected = time.Now().UnixNano()
		if err := r.hold(); err != nil {
			return err
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", line)
		return nil
	})
}

// connect has every PE put to every other.
func connect(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[uint64](ctx, w, w.NPEs())
	if err != nil {
		return err
	}
	for i := range w.NPEs() {
		words.At(w.PE()).Put((w.PE()+i)%w.NPEs(), 1)
	}
	return w.Barrier(ctx)
}

// hold measures what this process holds.
func (r *report) hold() error {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return err
	}
	r.CPU = used.Utime.Nano() + used.Stime.Nano()
	for dir, n := range map[string]*int{"fd": &r.Files, "task": &r.Threads} {
		entries, err := os.ReadDir("/proc/self/" + dir)
		if err != nil {
			return err
		}
		*n = len(entries)
	}
	f, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		return err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		name, value, _ := strings.Cut(s.Text(), ":")
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "Pss":
			r.Share = kib << 10
		case "Private_Clean", "Private_Dirty":
			r.Own += kib << 10
		}
	}
	return nil
}
