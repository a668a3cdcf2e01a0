package join

// The two kinds of lists in Slurm's variables: nodes, as in usr[0-3,7],login1 or rack[1-2]n[01-16], and numbers of
// tasks for each of them, as in 2(x3),1.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
)

// ExpandNodes returns the nodes of a list in one of Slurm's variables. The error says what cannot be understood.
func ExpandNodes(list string) ([]string, error) {
	var nodes []string
	for _, entry := range splitOutsideBrackets(list) {
		some, err := expandNode(entry)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, some...)
		if len(nodes) > boot.MaxPEs {
			return nil, fmt.Errorf("it has more than %d nodes", boot.MaxPEs)
		}
	}
	if len(nodes) == 0 {
		return nil, errors.New("it names no node")
	}
	return nodes, nil
}

// splitOutsideBrackets splits at commas that are in no bracket.
func splitOutsideBrackets(list string) []string {
	var parts []string
	depth, from := 0, 0
	for i := range len(list) {
		switch {
		case list[i] == '[':
			depth++
		case list[i] == ']':
			depth--
		case list[i] == ',' && depth == 0:
			parts = append(parts, list[from:i])
			from = i + 1
		}
	}
	if from < len(list) {
		parts = append(parts, list[from:])
	}
	return parts
}

// expandNode returns the nodes of an entry, which may have several brackets.
func expandNode(entry string) ([]string, error) {
	open := strings.IndexByte(entry, '[')
	if open < 0 {
		if entry == "" || strings.ContainsAny(entry, "] ") {
			return nil, fmt.Errorf("%q is not a node", entry)
		}
		return []string{entry}, nil
	}
	end := strings.IndexByte(entry, ']')
	if end < open {
		return nil, fmt.Errorf("%q has a bracket without its end", entry)
	}
	numbers, err := expandRanges(entry[open+1 : end])
	if err != nil {
		return nil, err
	}
	rests := []string{""}
	if entry[end+1:] != "" {
		if rests, err = expandNode(entry[end+1:]); err != nil {
			return nil, err
		}
	}
	if len(numbers)*len(rests) > boot.MaxPEs {
		return nil, fmt.Errorf("%q has more than %d nodes", entry, boot.MaxPEs)
	}
	var nodes []string
	for _, n := range numbers {
		for _, rest := range rests {
			nodes = append(nodes, entry[:open]+n+rest)
		}
	}
	return nodes, nil
}

// expandRanges returns the numbers of 0-3,7 as texts. They have as many digits as the first of their range.
func expandRanges(list string) ([]string, error) {
	var numbers []string
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.ParseUint(low, 10, 32)
		to, err2 := strconv.ParseUint(high, 10, 32)
		if errors.Join(err1, err2) != nil || to < from || to-from >= boot.MaxPEs {
			return nil, fmt.Errorf("%q is not a range of numbers", part)
		}
		for n := from; n <= to; n++ {
			numbers = append(numbers, fmt.Sprintf("%0*d", len(low), n))
		}
	}
	return numbers, nil
}

// ExpandCounts returns the numbers of a list in one of Slurm's variables, such as 2(x3),1: 2, 2, 2, 1. The error says
// what cannot be understood.
func ExpandCounts(list string) ([]int, error) {
	var counts []int
	for part := range strings.SplitSeq(list, ",") {
		number, times, repeated := strings.Cut(part, "(x")
		repeat := 1
		n, err := strconv.Atoi(number)
		if repeated && err == nil {
			repeat, err = strconv.Atoi(strings.TrimSuffix(times, ")"))
		}
		if err != nil || n < 0 || n > boot.MaxPEs || repeat < 1 || repeat > boot.MaxPEs-len(counts) {
			return nil, fmt.Errorf("%q is not a number of tasks, such as 2(x3)", part)
		}
		for range repeat {
			counts = append(counts, n)
		}
	}
	return counts, nil
}
