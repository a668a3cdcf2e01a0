package ui

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// elements returns how often elements and attributes are in a page, and its text.
func elements(t *testing.T, page []byte) (count map[string]int, text string) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	count = map[string]int{}
	var b strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			b.WriteString(n.Data + " ")
		case html.ElementNode:
			count[n.Data]++
			for _, a := range n.Attr {
				count["@"+a.Key]++
			}
		}
	}
	return count, b.String()
}

// busy returns a job of n PEs that is in the middle of something: every PE moves bytes to some others, half of them
// wait.
func busy(n int, elapsed time.Duration) launch.Snapshot {
	s := made(n, min(n, 4), elapsed)
	for i := range n {
		for j := range min(n, 64) {
			move(&s, i, (i+j)%n, uint64(elapsed.Milliseconds()), uint64(elapsed.Milliseconds())<<(j%20))
		}
		s.PEs[i].Counters[record.HeapInUse], s.PEs[i].Counters[record.HeapHigh] = 1<<20, 2<<20
		s.PEs[i].Waits = map[string]record.Waited{"barrier": {Count: 5, Time: elapsed / 2}}
		if i%2 == 1 {
			block(&s, i, boot.InBarrier, 4, 0, "main.go:40")
		}
	}
	return s
}

// TestSizes: the page of a small, a middling and a large job shows all that it should, in a bounded number of bytes.
func TestSizes(t *testing.T) {
	for _, c := range []struct{ pes, rows, cells, mostBytes int }{{4, 4, 32, 40 << 10}, {64, 64, 0, 300 << 10}, {1024, 64, 0, 300 << 10}} {
		t.Run(fmt.Sprint(c.pes), func(t *testing.T) {
			p := pageOf(t, busy(c.pes, 20*time.Second), busy(c.pes, 21*time.Second), busy(c.pes, 22*time.Second))
			for i := range c.pes {
				p.Output(i, []byte(strings.Repeat("a line\n", 200)))
			}
			part := p.draw(request{}).html
			if len(part) > c.mostBytes {
				t.Errorf("%d bytes for each change", len(part))
			}
			count, text := elements(t, part)
			if rows := strings.Count(string(part), "<tr><td class=\"n\">"); rows != c.rows {
				t.Errorf("%d rows of PEs", rows)
			}
			if cells := strings.Count(string(part), ` cell"`); cells != c.cells {
				t.Errorf("%d cells that are drawn one by one", cells)
			}
			if count["svg"] < 8 || count["details"] != c.rows {
				t.Errorf("%d charts, %d outputs", count["svg"], count["details"])
			}
			for _, part := range []string{"PEs wait for PE", "computing", "barrier", "main.go:40", "max ", "PEs waiting", fmt.Sprintf("%d computing, %d blocked", c.pes/2, c.pes/2)} {
				if !strings.Contains(text, part) {
					t.Errorf("the page does not have %q", part)
				}
			}
			if strings.Contains(text, "≥ ") != (c.pes > 8) { // cells with numbers need no legend
				t.Errorf("a legend of the map: %v", c.pes <= 8)
			}
			if strings.Contains(text, "NaN") || strings.Contains(string(part), "NaN") || strings.Contains(string(part), "Inf") {
				t.Error("the page has numbers that are none")
			}
			if last := p.draw(request{from: c.pes - 1, out: fmt.Sprint(c.pes - 1)}).html; !strings.Contains(string(last), fmt.Sprintf(`id="text-%d"`, c.pes-1)) {
				t.Errorf("the output of PE %d cannot be seen", c.pes-1)
			}
			var file bytes.Buffer
			if err := p.Save(&file); err != nil {
				t.Fatal(err)
			}
			count, _ = elements(t, file.Bytes())
			if count["details"] != c.pes || count["pre"] != c.pes || count["script"] != 0 || count["style"] != 1 || count["@src"] != 0 {
				t.Errorf("the file has %d outputs of %d PEs, %d scripts, %d styles", count["details"], c.pes, count["script"], count["style"])
			}
			if elsewhere := regexp.MustCompile(`(https?:)?//\w+|url\(|@import`).Find(file.Bytes()); elsewhere != nil {
				t.Errorf("the file names %s", elsewhere)
			}
		})
	}
}

// TestHostile: whatever a program calls itself and its words, and prints, is text.
func TestHostile(t *testing.T) {
	const evil = `</pre></script><script>alert(1)</script><img src=x onerror="alert(2)">'"` + "`{{.}}\x00\x1b[31m\xff"
	s := busy(4, 20*time.Second)
	s.Hosts[0].Name = evil
	for i := range s.PEs {
		s.PEs[i].Name, s.PEs[i].Site = evil, evil
		s.PEs[i].Waits = map[string]record.Waited{evil: {Count: 1, Time: time.Second}}
	}
	block(&s, 1, boot.InLock, 1, 2, evil)
	s.PEs[3].Ended, s.PEs[3].Status = true, 1
	p := New(Job{Program: "/" + evil, Args: []string{evil}, PEs: 4})
	p.now = func() launch.Snapshot { return s }
	p.look()
	p.Output(0, []byte(evil+"\n"+evil))
	check := func(what string, page []byte, scripts int) {
		count, text := elements(t, page)
		if count["script"] != scripts || count["img"] != 0 || count["@onerror"] != 0 || count["@style"] != 0 {
			t.Errorf("%s: %d scripts, %d images, %d handlers, %d styles", what, count["script"], count["img"], count["@onerror"], count["@style"])
		}
		if !strings.Contains(text, `<script>alert(1)</script>`) || !strings.Contains(text, "␛[31m") {
			t.Errorf("%s: what was printed is not there", what)
		}
	}
	check("part", p.draw(request{out: "0"}).html, 0)
	check("page", p.draw(request{part: whole, out: "0"}).html, 1)
	p.End(Outcome{State: Failed, Status: 3, Report: evil})
	check("last", p.draw(request{}).html, 0)
	check("file", p.draw(request{part: saved}).html, 0)
}

// TestBeforeAndAfter: a job that has not started, and what is told of one that has ended.
func TestBeforeAndAfter(t *testing.T) {
	p := New(Job{Program: "app", PEs: 4})
	if _, text := elements(t, p.draw(request{part: whole}).html); !strings.Contains(text, "starting") || !strings.Contains(text, "has not started yet") {
		t.Errorf("before the start: %s", text)
	}
	s := made(4, 1, 20*time.Second)
	for i := range 3 {
		block(&s, i, boot.InBarrier, 7, 0, "main.go:40")
	}
	end := s
	end.Elapsed += time.Second
	end.PEs = slices.Clone(s.PEs)
	for i := range end.PEs {
		end.PEs[i] = launch.PEState{PE: i, Known: true, Ended: true, Status: 128 + 9, For: -1}
	}
	for _, c := range []struct {
		outcome Outcome
		has     []string
		not     string
	}{
		{Outcome{TimedOut, 124, "it has run for too long"}, []string{"timed out, status 124", "it has run for too long", "1.0 s before the end: 3 PEs wait for PE 3", "killed by signal 9", "was in barrier number 7, called at main.go:40, for 5.0 s"}, "waiting for PE 0"},
		{Outcome{Failed, 137, "PE 1 was killed"}, []string{"failed, status 137", "PE 1 was killed", "0-2"}, "succeeded"},
		{Outcome{Interrupted, 130, ""}, []string{"interrupted, status 130"}, "How it ended"},
		{Outcome{Succeeded, 0, "all well"}, []string{"succeeded", "all well"}, "before the end"},
	} {
		p := pageOf(t, s)
		p.now = func() launch.Snapshot { return end }
		p.End(c.outcome)
		p.End(Outcome{State: Failed, Report: "told twice"})
		d := p.draw(request{})
		_, text := elements(t, d.html)
		for _, part := range c.has {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is missing", c.outcome.State, part)
			}
		}
		if !d.final || strings.Contains(text, c.not) || strings.Contains(text, "told twice") {
			t.Errorf("%s: final %v: %s", c.outcome.State, d.final, text)
		}
	}
}

// TestColumns: a column of the PEs that has nothing in it is not there, as after the end.
func TestColumns(t *testing.T) {
	s := made(4, 1, 20*time.Second)
	for i := range 3 {
		block(&s, i, boot.InBarrier, 7, 0, "main.go:40")
	}
	columns := []string{">for</th>", ">waits for</th>", ">at</th>", ">traffic</th>"}
	p := pageOf(t, s)
	running := string(p.draw(request{}).html)
	end := s
	end.Elapsed += time.Second
	end.PEs = slices.Clone(s.PEs)
	for i := range end.PEs {
		end.PEs[i] = launch.PEState{PE: i, Known: true, Ended: true, For: -1}
	}
	p.now = func() launch.Snapshot { return end }
	p.End(Outcome{State: Succeeded})
	ended := string(p.draw(request{}).html)
	for _, column := range columns {
		_, before, _ := strings.Cut(running, `class="pes"`)
		_, after, _ := strings.Cut(ended, `class="pes"`)
		if !strings.Contains(before, column) || strings.Contains(after, column) {
			t.Errorf("%s: there before the end %v, after it %v", column, strings.Contains(before, column), strings.Contains(after, column))
		}
	}
	if !strings.Contains(running, `id="waiting">PE 3 keeps 3 PEs waiting since 15.0 s after the start, for 5.0 s: it is computing.`) || strings.Contains(ended, `id="waiting"`) {
		t.Error("the sentence about the PE that others wait for is not there while the job runs, or is after its end")
	}
}

// TestCauses: a cause has the lines of the program, those of PEs that are still blocked too, and a library's call is
// named.
func TestCauses(t *testing.T) {
	s := made(4, 1, 20*time.Second)
	for i := range 2 {
		s.PEs[i].Waits = map[string]record.Waited{"wait": {Count: 5, Time: 10 * time.Second}, "Queue.Pop": {Count: 1, Time: time.Second}}
		s.PEs[i].Lines = map[string]record.Waited{
			"wait at solver/main.go:40": {Count: 2, Time: 6 * time.Second}, "wait at solver/main.go:9": {Count: 1, Time: 2 * time.Second},
			"wait at a.go:1": {Count: 1, Time: 100 * time.Millisecond}, "wait at a.go:2": {Count: 1, Time: 50 * time.Millisecond},
			"Queue.Pop at solver/main.go:7": {Count: 1, Time: time.Second},
		}
	}
	block(&s, 2, boot.InLibrary, 3, -1, "solver/mail.go:12")
	s.PEs[2].Name = "Mailbox.Flush"
	_, text := elements(t, pageOf(t, s).draw(request{}).html)
	for _, want := range []string{"solver/main.go:40 60 %, solver/main.go:9 20 %, a.go:1 1.0 %, 1 more line", "Queue.Pop", "solver/main.go:7 100 %", "Mailbox.Flush", "solver/mail.go:12 100 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing: %s", want, text)
		}
	}
}

// TestOneMap: up to 8 PEs there is one map with a switch and no legend, and more PEs have both maps with their legends.
func TestOneMap(t *testing.T) {
	for n, few := range map[int]bool{2: true, 8: true, 9: false} {
		s := made(n, 1, time.Second)
		move(&s, 0, 1, 10, 1000)
		for _, part := range []part{changing, saved} {
			html := string(pageOf(t, s).draw(request{part: part}).html)
			_, traffic, _ := strings.Cut(html, "<h2>Traffic")
			if got := strings.Count(traffic, `type="radio"`); (got == 2) != few || (got == 0) != !few {
				t.Errorf("%d PEs: a switch of %d", n, got)
			}
			traffic, _, _ = strings.Cut(traffic, "<h2>By kind")
			if strings.Contains(traffic, `class="legend"`) == few || strings.Contains(traffic, "most:") == few {
				t.Errorf("%d PEs: a legend %v, a list %v", n, strings.Contains(traffic, `class="legend"`), strings.Contains(traffic, "most:"))
			}
		}
	}
}

// TestLastLook: what PEs have done before the look that finds them ended is in the series, also if that is the only
// one.
func TestLastLook(t *testing.T) {
	end := made(2, 1, 2*time.Second)
	for i := range end.PEs {
		end.PEs[i].Ended = true
		end.PEs[i].Waits = map[string]record.Waited{"wait": {Count: 1, Time: time.Second}}
		move(&end, i, 1-i, 4, 4000)
	}
	later := end
	later.Elapsed += time.Second
	for name, looks := range map[string][]launch.Snapshot{"one look": {end}, "more": {made(2, 1, 0), end, later, later}} {
		h := newHistory(2)
		for _, s := range looks {
			h.add(s)
		}
		if got := h.pes[0].series.largest(byteRate); math.Abs(got-2000) > 1 {
			t.Errorf("%s: PE 0 has moved %v bytes a second", name, got)
		}
		if got := h.job.largest(blockedShare); math.Abs(got-0.5) > 0.01 {
			t.Errorf("%s: the PEs were blocked for %v of the time", name, got)
		}
		if at := h.job.last().At; at != 2*time.Second {
			t.Errorf("%s: the last point is at %v", name, at)
		}
	}
}

// TestWhatEndsAJob: a job that goes on waits no longer; what ends a job does not hide what it waited for.
func TestWhatEndsAJob(t *testing.T) {
	at := func(elapsed time.Duration) launch.Snapshot { return made(4, 1, elapsed) }
	waits := at(20 * time.Second)
	for i := range 3 {
		block(&waits, i, boot.InBarrier, 7, 0, "main.go:40")
	}
	p := pageOf(t, waits, at(21*time.Second))
	if _, text := elements(t, p.draw(request{}).html); strings.Contains(text, "wait for PE 3") {
		t.Errorf("of a job that goes on: %s", text)
	}
	p = pageOf(t, waits, at(21*time.Second), at(30*time.Second))
	p.End(Outcome{State: Failed, Status: 1})
	if _, text := elements(t, p.draw(request{}).html); strings.Contains(text, "wait for PE 3") {
		t.Errorf("of a job that went on and failed: %s", text)
	}
	ends := waits
	ends.Elapsed += time.Second
	ends.PEs = slices.Clone(waits.PEs)
	ends.PEs[3].Ended, ends.PEs[3].Status = true, 1 // it is the first to be told
	p = pageOf(t, waits, ends, at(22*time.Second))
	p.End(Outcome{State: Interrupted, Status: 130})
	if _, text := elements(t, p.draw(request{}).html); !strings.Contains(text, "2.0 s before the end: 3 PEs wait for PE 3") || strings.Contains(text, "PE 3 has ended") {
		t.Errorf("of a job that was stopped: %s", text)
	}
}

// TestSeries: a series is bounded, covers the whole job, and has its mean.
func TestSeries(t *testing.T) {
	s := series{most: 60}
	const looks = 10000
	for i := range looks {
		s.add(point{At: time.Duration(i+1) * time.Second, Bytes: float64(i % 100)})
	}
	all := s.all()
	if len(all) > 61 || len(all) < 30 || all[len(all)-1].At != looks*time.Second {
		t.Fatalf("%d points, until %v", len(all), all[len(all)-1].At)
	}
	mean, weight := 0.0, 0.0
	for i, p := range all {
		each := float64(s.each)
		if i == len(all)-1 && s.summed > 0 {
			each = float64(s.summed)
		}
		mean, weight = mean+each*p.Bytes, weight+each
	}
	if mean /= weight; math.Abs(mean-49.5) > 0.5 || weight != looks {
		t.Errorf("the mean of %v looks is %v", weight, mean)
	}
}

// TestRates: rates are of the time between the answers of a host, not of that between looks.
func TestRates(t *testing.T) {
	h := newHistory(1)
	a, b := made(1, 1, 10*time.Second), made(1, 1, 10500*time.Millisecond)
	a.Hosts[0].Age, b.Hosts[0].Age = 100*time.Millisecond, 350*time.Millisecond // answers at 9.9 s and 10.15 s
	a.PEs[0].CPU, b.PEs[0].CPU = time.Second, 1250*time.Millisecond
	move(&b, 0, 0, 100, 1000)
	h.add(a)
	h.add(b)
	if got := h.pes[0].point; math.Abs(got.Bytes-4000) > 1 || math.Abs(got.Ops-400) > 1 || math.Abs(got.CPU-1) > 0.01 {
		t.Errorf("rates %+v", got)
	}
	b.Elapsed, b.Hosts[0].Age = 11*time.Second, 850*time.Millisecond // no new answer
	h.add(b)
	if got := h.pes[0].point; math.Abs(got.Bytes-4000) > 1 {
		t.Errorf("without an answer: %+v", got)
	}
}

// TestOutput: the last lines of each PE are kept, whole, and no more than that.
func TestOutput(t *testing.T) {
	o := newOutput(2)
	for i := range 1000 {
		o.add(0, fmt.Appendf(nil, "line %d\n", i))
	}
	kept, gone := o.text(0)
	if lines := strings.Split(kept, "\n"); len(lines) != mostLines || lines[mostLines-1] != "line 999" || gone != 900 {
		t.Errorf("%d lines to %q, %d gone", len(lines), lines[len(lines)-1], gone)
	}
	o.add(1, []byte("one "))
	o.add(1, []byte("line\ntwo"))
	o.add(1, bytes.Repeat([]byte("x"), 10*longestLine))
	o.add(7, []byte("of no PE"))
	kept, gone = o.text(1)
	if lines, last := o.count(1); lines != 2 || gone != 0 || !strings.HasPrefix(kept, "one line\ntwoxxx") || len(last) != longestLine {
		t.Errorf("%d lines, %d gone, the last of %d bytes: %.20q", lines, gone, len(last), kept)
	}
	many := newOutput(10000)
	for i := range 10000 {
		many.add(i, bytes.Repeat([]byte("0123456789012345678901234567890\n"), 1000))
		if many.pes[i].bytes > many.most+longestLine {
			t.Fatalf("%d bytes of PE %d are kept", many.pes[i].bytes, i)
		}
	}
}

// TestHeat: colours are by the logarithm, and almost equal numbers have the same.
func TestHeat(t *testing.T) {
	s := scale{1, 1e8}
	for v, want := range map[float64]int{0: 0, 1: 1, 9: 1, 11: 2, 1e4 + 1: 5, 9e7: 8, 1e8: 8} {
		if got := s.level(v); got != want {
			t.Errorf("%v has level %d, not %d", v, got, want)
		}
	}
	even := made(2, 1, time.Second)
	move(&even, 0, 1, 1, 1000)
	move(&even, 1, 0, 1, 1100)
	c := newCells(even.PEs, func(bytes, _ uint64) float64 { return float64(bytes) })
	if sc := c.scale(); sc.level(1000) < heatLevels-1 {
		t.Errorf("1000 of at most 1100 has level %d", sc.level(1000))
	}
	big := made(1000, 1, time.Second)
	move(&big, 17, 999, 1, 5)
	big.PEs[3].Others.Bytes[record.Put] = 77
	m := newHeatMap("Bytes", big.PEs, func(bytes, _ uint64) float64 { return float64(bytes) }, bytesOf, false)
	if m.Block != 16 || m.Beyond != "77 B" || len(m.Pairs) != 1 || m.Pairs[0] != (pairOf{17, 999, "5 B"}) || !strings.Contains(string(m.SVG), `data-n="63"`) {
		t.Errorf("a map of 1,000 PEs: blocks of %d, beyond %q, pairs %v", m.Block, m.Beyond, m.Pairs)
	}
	if m := newHeatMap("Bytes", made(4, 1, 1).PEs, func(bytes, _ uint64) float64 { return float64(bytes) }, bytesOf, false); !m.Nothing || m.SVG != "" {
		t.Error("a map of no traffic")
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		bytesOf(0): "0 B", bytesOf(999): "999 B", bytesOf(999.6): "1.00 kB", bytesOf(12345): "12.3 kB", bytesOf(123456789): "123 MB", number(3): "3", number(1234567): "1.23 M",
		percent(0): "0 %", percent(0.0001): "< 0.1 %", percent(0.025): "2.5 %", percent(0.996): "100 %",
		duration(0): "0 µs", duration(1500 * time.Millisecond): "1.5 s", duration(90 * time.Second): "1 min 30 s", duration(25 * time.Hour): "25 h 00 min",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
