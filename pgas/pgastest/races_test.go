package pgastest

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// many is more puts than a ring has room for their records.
const many = 20000

// racing has both PEs put to one word.
func racing(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[uint64](ctx, w, 1)
	if err != nil {
		return err
	}
	words.At(0).Put(1, 1)
	return w.Barrier(ctx)
}

// killed has PE 1 killed while PE 0 sends it records.
func killed(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[uint64](ctx, w, many)
	if err != nil {
		return err
	}
	if w.PE() == 1 {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	for i := range many {
		words.At(i).Put(1, 1)
		pgas.AtomicOf(words, i).FetchAdd(1, 1)
	}
	return w.Barrier(ctx) //pgasvet:ok PE 1 has ended itself
}

// stopped has PE 1 stopped while PE 0 sends it records, until PE 0 has sent them all.
func stopped(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[uint64](ctx, w, many)
	if err != nil {
		return err
	}
	if w.PE() == 1 {
		words.At(0).Put(0, uint64(os.Getpid()))
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == 0 {
		process := int(words.At(0).Get(0))
		if err := syscall.Kill(process, syscall.SIGSTOP); err != nil {
			return err
		}
		for i := range many {
			words.At(i).Put(1, 1)
		}
		if err := syscall.Kill(process, syscall.SIGCONT); err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if err := racing(ctx, w); err != nil {
		return err
	}
	if w.PE() == 0 {
		return errors.New("the end") // so that what the PEs have printed is shown
	}
	return nil
}

// TestRacesOfProcessesEnd: a job under PGAS_CHECK=race ends, whatever its PEs do, with the status that is wanted.
func TestRacesOfProcessesEnd(t *testing.T) {
	for name, c := range map[string]struct {
		npes     int
		body     Body
		env      string
		has, not string // what the error has, and has not
	}{
		"status":        {2, racing, "", "failed with status 66:", "exited with"},
		"own status":    {2, racing, "PGAS_RACE_EXIT=7", "failed with status 7:", "exited with"},
		"report only":   {2, racing, "PGAS_RACE_EXIT=0", "", ""},
		"many PEs":      {8, racing, "", "race on uint64 allocated at", "the word at"},
		"a killed PE":   {2, killed, "", "was killed by signal 9", "panic"},
		"a stopped PE":  {2, stopped, "PGAS_PEER_TIMEOUT=100ms", "PE 1 has read no records for 100ms", "race on"},
		"a small heap":  {8, racing, "PGAS_HEAP_MAX=64k", "race on uint64 allocated at", "the word at"},
		"a bad setting": {2, racing, "PGAS_RACE_EXIT=x", "PGAS_RACE_EXIT=x: must be an exit status", "race on"},
	} {
		t.Run(name, func(t *testing.T) {
			runIfPE(t.Name(), c.body)
			if isPE() {
				return
			}
			goroutinesOnly(t)
			ctx, cancel := hang.Context(t.Context())
			defer cancel()
			err := processes(ctx, t, []boot.Host{{Name: launch.Local, PEs: c.npes}}, nil, "PGAS_CHECK=race", c.env)
			switch {
			case c.has == "" && err != nil:
				t.Error(err)
			case c.has != "" && (err == nil || !strings.Contains(err.Error(), c.has) || strings.Contains(err.Error(), c.not)):
				t.Errorf("want %q, and not %q:\n%v", c.has, c.not, err)
			}
		})
	}
}
