package main

// Sequences, piece by piece, and their k-mers.

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
)

// maxK is the most bases that two bits each leave room for in a key, with one value to spare.
const maxK = 31

// noBase stands for a base that is not known.
const noBase = 4

// baseOf is the code of each letter: A 0, C 1, G 2, T 3, so that 3 minus a code is its complement's.
var baseOf = func() (codes [256]byte) {
	for i := range codes {
		codes[i] = noBase
	}
	for code, letters := range []string{"Aa", "Cc", "Gg", "TtUu"} {
		for _, letter := range []byte(letters) {
			codes[letter] = byte(code)
		}
	}
	return codes
}()

// eachPiece calls f for the letters of a FASTA or FASTQ file, in pieces that f must not keep, and with nil at the end
// of each sequence, until f returns false.
func eachPiece(in io.Reader, f func(letters []byte) bool) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	first, err := lines.Peek(1)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	case first[0] == '>':
		return eachFASTA(lines, f)
	case first[0] == '@':
		return eachFASTQ(lines, f)
	}
	return fmt.Errorf("the input begins with %q: FASTA begins with '>' and FASTQ with '@'", first[0])
}

// line calls f for each piece of the next line that is not empty, without the line's end. It returns io.EOF if there is
// no line.
func line(in *bufio.Reader, f func(piece []byte) bool) error {
	for some := false; ; some = true {
		piece, err := in.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full && (!errors.Is(err, io.EOF) || len(piece) == 0 && !some) {
			return err
		}
		if letters := bytes.TrimRight(piece, "\r\n"); len(letters) > 0 && !f(letters) {
			return errStop
		}
		if !full {
			return nil
		}
	}
}

var errStop = errors.New("stop")

func skip([]byte) bool { return true }

// end returns nil for the errors that end a file.
func end(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, errStop) {
		return nil
	}
	return err
}

// eachFASTA reads sequences of any number of lines after a line that begins with '>'.
func eachFASTA(in *bufio.Reader, f func(letters []byte) bool) error {
	for {
		first, err := in.Peek(1)
		if err != nil {
			return end(err)
		}
		if first[0] == '>' {
			if !f(nil) {
				return nil
			}
			err = line(in, skip)
		} else {
			err = line(in, f)
		}
		if err != nil {
			return end(err)
		}
	}
}

// eachFASTQ reads records of four lines: a name, a sequence, a plus, qualities.
func eachFASTQ(in *bufio.Reader, f func(letters []byte) bool) error {
	for {
		first, err := in.Peek(1)
		if err != nil {
			return end(err)
		}
		if first[0] != '@' {
			return fmt.Errorf("a FASTQ record begins with %q, and not with '@'", first[0])
		}
		for i := range 4 {
			part := skip
			if i == 1 {
				part = f
			}
			if err := line(in, part); err != nil {
				return end(err)
			}
		}
		if !f(nil) {
			return nil
		}
	}
}

// window is the last bases of a sequence, as they are and as their complements in reverse.
type window struct {
	k                int
	have             int // bases since the last gap, k at most
	forward, reverse uint64
	mask             uint64 // of the bits of k bases
	first            uint   // where the bits of the first base are
}

func newWindow(k int) window {
	return window{k: k, mask: uint64(1)<<(2*k) - 1, first: uint(2*k - 2)}
}

// add adds a base. It returns the k-mer that ends with it, if there is one.
func (s *window) add(base byte) (kmer uint64, ok bool) {
	if base == noBase {
		s.have = 0
		return 0, false
	}
	s.forward = (s.forward<<2 | uint64(base)) & s.mask
	s.reverse = s.reverse>>2 | uint64(3-base)<<(s.first&63)
	s.have = min(s.have+1, s.k)
	return min(s.forward, s.reverse), s.have == s.k
}

// letters returns the bases of a k-mer.
func letters(kmer uint64, k int) string {
	b := make([]byte, k)
	for i := range b {
		b[k-1-i] = "ACGT"[kmer>>(2*i)&3]
	}
	return string(b)
}

// generate returns FASTQ reads of 100 bases from a random genome of a tenth as many bases, some of them unknown.
func generate(n int) io.Reader {
	rnd := rand.New(rand.NewPCG(1, 2))
	genome := make([]byte, max(200, n/10))
	for i := range genome {
		genome[i] = "ACGT"[rnd.IntN(4)]
	}
	var b bytes.Buffer
	for i := range (n + 99) / 100 {
		at := rnd.IntN(len(genome) - 100)
		read := bytes.Clone(genome[at : at+100])
		if rnd.IntN(10) == 0 {
			read[rnd.IntN(100)] = 'N'
		}
		fmt.Fprintf(&b, "@read%d\n%s\n+\n%s\n", i, read, bytes.Repeat([]byte("I"), 100))
	}
	return &b
}
