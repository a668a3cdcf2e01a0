package startbench

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// TestFit: a formula of known coefficients is found again, also if terms have none.
func TestFit(t *testing.T) {
	sizes := []size{{1, 1}, {4, 1}, {16, 1}, {64, 1}, {4, 2}, {16, 4}, {64, 4}, {16, 16}, {64, 16}, {128, 16}}
	far := size{100000, 1562}
	for _, c := range []struct {
		terms []term
		each  []float64
	}{
		{jobTerms, []float64{10, 13, 25, 5, 0.1}}, {jobTerms, []float64{3, 0, 0, 0, 0}}, {jobTerms, []float64{0, 7, 2, 0, 0.5}},
		{peTerms, []float64{2, 6, 1.7, 0, 0}}, {peTerms, []float64{10, 0, 33, 0.03, 0.2}},
	} {
		want := formula{c.terms, c.each}
		var costs []float64
		for i, s := range sizes {
			costs = append(costs, want.at(s)*(1+0.001*float64(i%3-1)))
		}
		got, worst, err := fit(sizes, costs, c.terms)
		if err != nil || worst > 0.01 {
			t.Fatalf("%v: %v, %.3f off", c.each, err, worst)
		}
		if a, b := got.at(far), want.at(far); math.Abs(a/b-1) > 0.1 && math.Abs(a-b) > 0.2*b+5 {
			t.Errorf("%v: %v says %g, not %g", c.each, got.each, a, b)
		}
		for _, k := range got.each {
			if k < 0 {
				t.Errorf("%v: %v has a negative cost", c.each, got.each)
			}
		}
	}
	// Two numbers of hosts do not say what each host costs.
	got, _, err := fit(sizes[:7], []float64{2, 5, 17, 65, 9, 33, 129}, jobTerms)
	if err != nil || len(got.terms) == 0 {
		t.Errorf("%v, %v", got, err)
	}
	if _, _, err := fit(sizes[:3], []float64{2, 5, 17}, peTerms); err == nil {
		t.Error("three sizes are enough for a formula")
	}
}

func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"-pes 0":                       `"0" is not a number from 1 to 4096`,
		"-pes 1 -hosts 2":              "no job has a PE for each host",
		"-hosts 1000":                  `"1000" is not a number from 1 to 200`,
		"-rounds 0":                    "-rounds and -per-host must be 1 or more",
		"-pes 1,2 -model 100":          "-model needs 6 sizes to fit its formulas to",
		"-pgasrun /nonexistent":        "there is no pgasrun",
		"more":                         "more is not a flag",
		"-pes 2 -pgasrun /bin/true -x": "flag provided but not defined",
	} {
		fields := strings.Fields(args)
		if !strings.Contains(args, "-pgasrun") {
			fields = append([]string{"-pgasrun", "/bin/true"}, fields...)
		}
		if _, err := Parse(fields); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	o, err := Parse([]string{"-pgasrun", "/bin/true", "-pes", "1,4", "-hosts", "1,2"})
	if err != nil || len(o.points()) != 3 {
		t.Errorf("%v, %v", o, err)
	}
}

// TestSummarize: times are those of the last PE, memory and CPU time averages, descriptors the most.
func TestSummarize(t *testing.T) {
	r := summarize(size{2, 1}, 1e9, []report{
		{Ready: 1010e6, Together: 1020e6, Connected: 1025e6, CPU: 4e6, Share: 4 << 20, Own: 1 << 20, Files: 9, Threads: 5},
		{Ready: 1015e6, Together: 1019e6, Connected: 1030e6, CPU: 2e6, Share: 6 << 20, Own: 3 << 20, Files: 7, Threads: 7},
	})
	if want := (result{PEs: 2, Hosts: 1, Ready: 15, Together: 20, Connected: 30, PECPU: 3, Share: 5, Own: 2, Files: 9, Threads: 6}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	var out bytes.Buffer
	r.Ended, r.CPU = 40, 12
	if err := printTable(&out, []result{r}, true); err != nil || !strings.Contains(out.String(), "6.0") || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("%v\n%s", err, &out)
	}
}
