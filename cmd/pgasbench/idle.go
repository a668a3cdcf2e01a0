package main

// The memory of PEs that do nothing.

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/pgas"
)

// runIdle reports the memory of a PE that has met the others and done nothing else: the median of all.
func runIdle(ctx context.Context, w *pgas.World, o *options, stdout io.Writer) error {
	table, err := AllocMemory(ctx, w, w.NPEs())
	if err != nil {
		return err
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	rss, pss, err := ownMemory()
	if err != nil {
		return err
	}
	if err := w.Barrier(ctx); err != nil { // all look before any PE works
		return err
	}
	table.At(w.PE()).PutRSS(0, rss)
	table.At(w.PE()).PutPSS(0, pss)
	if err := w.Barrier(ctx); err != nil || w.PE() != 0 {
		return err
	}
	var all, shared []float64
	for _, m := range table.Local() {
		all, shared = append(all, float64(m.RSS)), append(shared, float64(m.PSS))
	}
	out := newOutput(o, true, stdout)
	res := result.Result{
		Bench: "idle", PEs: w.NPEs(), Transport: w.TransportTo(w.NPEs() - 1),
		RssKB: result.Median(all), PssKB: result.Median(shared),
	}
	if err := out.add(res); err != nil {
		return err
	}
	return out.close()
}

// ownMemory returns this process's resident memory and its share of it, in kilobytes.
func ownMemory() (rss, pss uint64, err error) {
	f, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		return 0, 0, fmt.Errorf("idle memory cannot be read: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "Rss:"); ok {
			fmt.Sscan(text, &rss)
		} else if text, ok := strings.CutPrefix(lines.Text(), "Pss:"); ok {
			fmt.Sscan(text, &pss)
		}
	}
	if rss == 0 || pss == 0 {
		return 0, 0, fmt.Errorf("/proc/self/smaps_rollup names no Rss and Pss")
	}
	return rss, pss, lines.Err()
}
