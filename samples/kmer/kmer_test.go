package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// naive counts the k-mers of sequences by comparing strings.
func naive(k int, sequences ...string) map[string]int64 {
	counts := map[string]int64{}
	complement := strings.NewReplacer("A", "T", "C", "G", "G", "C", "T", "A")
	for _, s := range sequences {
		for i := 0; i+k <= len(s); i++ {
			kmer := s[i : i+k]
			if strings.Contains(kmer, "N") {
				continue
			}
			other := []byte(complement.Replace(kmer))
			for i := range len(other) / 2 {
				other[i], other[len(other)-1-i] = other[len(other)-1-i], other[i]
			}
			counts[min(kmer, string(other))]++
		}
	}
	return counts
}

// inOrder counts the k-mers of a file, which is a text, without PEs.
func inOrder(file string, k int) (map[string]int64, error) {
	counts := map[string]int64{}
	err := share(strings.NewReader(file), k, 0, 1, func(kmer uint64, n int64) bool { counts[letters(kmer, k)] += n; return true })
	return counts, err
}

func TestFormats(t *testing.T) {
	long := strings.Repeat("ACGTTGCAAN", 20000)
	for name, c := range map[string]struct {
		file      string
		sequences []string
	}{
		"FASTA":           {">a\nACGT\nNACGA\n>b x\r\nTTTT\r\nG", []string{"ACGTNACGA", "TTTTG"}},
		"FASTQ":           {"@a\nACGTA\n+\n@@@@@\n@b\nGGGNTTT\n+b\nIIIIIII\n", []string{"ACGTA", "GGGNTTT"}},
		"a long line":     {">a\n" + long + "\n", []string{long}},
		"a cut record":    {"@a\nACGTA\n", []string{"ACGTA"}},
		"nothing":         {"", nil},
		"empty sequences": {">\n>\n>\n", nil},
	} {
		for _, k := range []int{1, 2, 3, 31} {
			got, err := inOrder(c.file, k)
			if want := naive(k, c.sequences...); err != nil || !maps.Equal(got, want) {
				t.Errorf("%s, k=%d: %d k-mers, %v; want %d", name, k, len(got), err, len(want))
			}
		}
	}
	if _, err := inOrder("ACGT", 3); err == nil || !strings.Contains(err.Error(), "begins with '>'") {
		t.Errorf("no format: %v", err)
	}
}

func TestCount(t *testing.T) {
	pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
		var out bytes.Buffer
		if err := run(ctx, w, options{k: 21, bases: 60_000, capacity: 1 << 14, verify: true}, &out); err != nil {
			return err
		}
		if w.PE() == 0 && !strings.Contains(out.String(), "agree with a sequential count") {
			return fmt.Errorf("printed %q", out.String())
		}
		return nil
	})
}

func TestOptions(t *testing.T) {
	for args, want := range map[string]string{
		"-k 32":    "-k 32: give a number from 1 to 31",
		"x":        `unexpected argument "x": name the file with -input`,
		"-bases 0": "-bases and -capacity are at least 1",
	} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil || err.Error() != want {
			t.Errorf("%s: %v", args, err)
		}
	}
}
