package main

// Sparse symmetric matrices, and files of them in the coordinate form of Matrix Market
// (https://math.nist.gov/MatrixMarket/formats.html): a header, comments, the size, and a line with row, column
// and value for each entry of the lower triangle, counted from 1.

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// sparse is the lower triangle of a symmetric matrix.
type sparse struct {
	order   int
	entries []entry
}

// An entry is in a row and a column, which is at most the row.
type entry struct {
	row, column int
	value       float64
}

// mostOrder is the largest order that is read or made: PE 0 needs some 8 GB to check a factor of that order.
const mostOrder = 1 << 14

const (
	header     = "%%MatrixMarket matrix coordinate real symmetric"
	mostLength = 1 << 12 // of a line; the format has 1024
)

// readFile reads the matrix in a file. An error is one line, and says in which line of the file.
func readFile(name string) (*sparse, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return s, nil
}

// reader reads lines.
type reader struct {
	lines *bufio.Scanner
	line  int
}

// wrong returns an error about this line.
func (r *reader) wrong(format string, args ...any) error {
	return fmt.Errorf("%d: %w", r.line, fmt.Errorf(format, args...))
}

// fields returns the words of the next line that is neither empty nor a comment, none at the end.
func (r *reader) fields() ([]string, error) {
	for r.lines.Scan() {
		r.line++
		if text := strings.TrimSpace(r.lines.Text()); text != "" && text[0] != '%' {
			return strings.Fields(text), nil
		}
	}
	r.line++
	switch err := r.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, r.wrong("the line is longer than %d bytes", mostLength)
	case err != nil:
		return nil, r.wrong("%w", err)
	}
	return nil, nil
}

// read reads a matrix. Its errors begin with the number of the line.
func read(from io.Reader) (*sparse, error) {
	r := &reader{lines: bufio.NewScanner(from)}
	r.lines.Buffer(nil, mostLength)
	if err := r.header(); err != nil {
		return nil, err
	}
	order, n, err := r.size()
	if err != nil {
		return nil, err
	}
	s, lineOf := &sparse{order: order}, map[[2]int]int{}
	for range n {
		e, err := r.entry(order, len(s.entries), n)
		if err != nil {
			return nil, err
		}
		at := [2]int{e.row, e.column}
		if first := lineOf[at]; first != 0 {
			return nil, r.wrong("row %d, column %d stands in line %d already", e.row+1, e.column+1, first)
		}
		lineOf[at] = r.line
		s.entries = append(s.entries, e)
	}
	if more, err := r.fields(); err != nil {
		return nil, err
	} else if more != nil {
		return nil, r.wrong("there are more than the %d entries that the size line tells of", n)
	}
	return s, nil
}

// header reads the first line. Entries may be integers, too.
func (r *reader) header() error {
	r.line = 1
	var words []string
	if r.lines.Scan() {
		words = strings.Fields(strings.ToLower(r.lines.Text()))
	}
	if len(words) == 5 && words[3] == "integer" {
		words[3] = "real"
	}
	want := strings.Fields(strings.ToLower(header))
	if len(words) == 0 || words[0] != want[0] {
		return r.wrong("this is no Matrix Market file: it must begin with %q", header)
	}
	for i, word := range want[1:] {
		if i+1 >= len(words) || words[i+1] != word {
			return r.wrong("%q cannot be read: it must be %q", strings.Join(words, " "), header)
		}
	}
	return nil
}

// size reads the numbers of rows, columns and entries.
func (r *reader) size() (order, n int, err error) {
	words, err := r.fields()
	if err != nil {
		return 0, 0, err
	}
	var numbers [3]int
	for i := range numbers {
		if len(words) != len(numbers) {
			return 0, 0, r.wrong("the size must be rows, columns and entries: three numbers, not %q", strings.Join(words, " "))
		}
		if numbers[i], err = strconv.Atoi(words[i]); err != nil || numbers[i] < 0 {
			return 0, 0, r.wrong("the size must be rows, columns and entries: %q is no such number", words[i])
		}
	}
	order, n = numbers[0], numbers[2]
	switch {
	case order != numbers[1]:
		return 0, 0, r.wrong("%d rows and %d columns: a symmetric matrix is square", order, numbers[1])
	case order < 1 || order > mostOrder:
		return 0, 0, r.wrong("an order of %d: 1 to %d can be factored here", order, mostOrder)
	case n > order*(order+1)/2:
		return 0, 0, r.wrong("%d entries: the lower triangle of order %d has %d", n, order, order*(order+1)/2)
	}
	return order, n, nil
}

// entry reads the i-th of n.
func (r *reader) entry(order, i, n int) (e entry, err error) {
	words, err := r.fields()
	if err != nil {
		return e, err
	}
	if words == nil {
		return e, r.wrong("the file ends after %d entries of %d", i, n)
	}
	if len(words) != 3 {
		return e, r.wrong("an entry is row, column and value, not %q", strings.Join(words, " "))
	}
	for i, to := range []*int{&e.row, &e.column} {
		number, err := strconv.Atoi(words[i])
		if err != nil || number < 1 || number > order {
			return e, r.wrong("%q is no row or column: they are 1 to %d", words[i], order)
		}
		*to = number - 1
	}
	if e.row < e.column {
		return e, r.wrong("row %d, column %d is above the diagonal: a symmetric matrix has its lower triangle in the file", e.row+1, e.column+1)
	}
	e.value, err = strconv.ParseFloat(words[2], 64)
	if err != nil || math.IsNaN(e.value) || math.IsInf(e.value, 0) {
		return e, r.wrong("%q is no finite number", words[2])
	}
	return e, nil
}

// write writes s as read reads it.
func (s *sparse) write(to io.Writer) error {
	b := bufio.NewWriter(to)
	fmt.Fprintf(b, "%s\n%d %d %d\n", header, s.order, s.order, len(s.entries))
	for _, e := range s.entries {
		fmt.Fprintf(b, "%d %d %s\n", e.row+1, e.column+1, strconv.FormatFloat(e.value, 'g', -1, 64))
	}
	return b.Flush()
}

// writeFile writes s to a file, which is new or complete.
func (s *sparse) writeFile(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(s.write(file), file.Close())
}

// laplacian returns the five-point Laplacian on a square grid, or on as much of it as there are points. Its points
// are numbered far from their neighbours, so that the factor is full: numbered row by row, it would be a band,
// and most tiles would be zero.
func laplacian(order int) *sparse {
	s := &sparse{order: order}
	width := int(math.Ceil(math.Sqrt(float64(order))))
	stride := max(1, int(float64(order)*0.618))
	for gcd(stride, order) != 1 {
		stride++
	}
	add := func(p, q int, value float64) {
		p, q = p*stride%order, q*stride%order
		s.entries = append(s.entries, entry{max(p, q), min(p, q), value})
	}
	for p := range order {
		add(p, p, 4)
		if q := p + 1; q%width != 0 && q < order {
			add(p, q, -1)
		}
		if q := p + width; q < order {
			add(p, q, -1)
		}
	}
	return s
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
