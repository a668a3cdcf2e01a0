package main

import (
	"errors"
	"flag"
	"reflect"
	"strings"
	"testing"
)

func TestParseSizes(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int
	}{
		{"8", []int{8}},
		{"8,1k, 1M", []int{8, 1024, 1 << 20}},
		{"64,8,64", []int{8, 64}},
		{"4m,4096k,4194304", []int{4 << 20}},
		{standardSizes, []int{1, 4, 8, 16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}},
	} {
		if got, err := parseSizes(c.text); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %v, %v", c.text, got, err)
		}
	}
}

func FuzzParseSizes(f *testing.F) {
	for _, text := range []string{"", "8", "1k,2m", "0", "-1", "4194305", "5m", "99999999999999999999m", "k", "8,,9", "1.5k", " 8 "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sizes, err := parseSizes(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !strings.Contains(text, "\n") {
				t.Errorf("%q: more than a line: %v", text, err)
			}
			return
		}
		for i, n := range sizes {
			if n < 1 || n > mostBytes || i > 0 && n <= sizes[i-1] {
				t.Errorf("%q: %v", text, sizes)
			}
		}
	})
}

func TestBadOptions(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-sizes 0", "-sizes 0"},
		{"-sizes 5m", "from 1 to 4m"},
		{"-bench [", "not a regular expression"},
		{"-bench teleport", "matches none of put, put-quiet"},
		{"-time 0s", "more than nothing"},
		{"-plot a.jpeg", "must end in .svg or .png"},
		{"put", "chosen with -bench"},
		{"-beside -1", "from 0 to"},
		{"-beside 2 -sim -pes 2", "-beside is for real PEs"},
		{"-colour", "flag provided but not defined"},
	} {
		_, err := parseOptions(strings.Fields(c.args))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", c.args, err, c.want)
		}
	}
	if _, err := parseOptions([]string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}

// A bench that has no sizes, or one, runs once whatever -sizes says.
func TestChoose(t *testing.T) {
	o, err := parseOptions([]string{"-bench", "^(rate|barrier|fetch-add|flag-pingpong|idle)$", "-sizes", "4,8,4k"})
	if err != nil {
		t.Fatal(err)
	}
	for npes, want := range map[int]string{
		2: "rate 4,rate 8,flag-pingpong 8,flag-pingpong 4096,fetch-add 8,barrier -",
		1: "rate 4,rate 8,fetch-add 8,barrier -",
	} {
		var got []string
		for _, p := range choose(o, npes) {
			got = append(got, p.b.name+" "+dashed(p.size))
		}
		if s := strings.Join(got, ","); s != want {
			t.Errorf("%d PEs: got %s, want %s", npes, s, want)
		}
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	fs, _, _ := declareFlags()
	text := help()
	fs.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(text, "  -"+f.Name) {
			t.Errorf("-h does not mention -%s", f.Name)
		}
	})
}
