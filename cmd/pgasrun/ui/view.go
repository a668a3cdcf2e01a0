package ui

// What the page shows, ready to print. Nothing here is trusted: package html/template escapes all of it.

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string

	templates = template.Must(template.New("page").Parse(pageHTML))
)

// rowsPerPage is how many PEs the page shows one by one. A saved page has all.
const rowsPerPage = 64

// request is what a reader wants to see.
type request struct {
	from int    // the first PE that is shown
	out  string // the PEs whose output is shown, as in the query
	part part
}

// part is how much of the page is drawn.
type part uint8

const (
	changing part = iota // what changes
	whole                // all that a browser needs besides the sheet and the script
	saved                // all, as one file
)

// drawing is the page as it was drawn for a request.
type drawing struct {
	html    []byte
	version uint64
	final   bool
}

// view is what the template prints.
type view struct {
	Save    bool
	CSS     template.CSS
	Version uint64

	Program string
	Command string
	Job     string // how many PEs where
	Began   string
	Elapsed string
	State   string // the state of the job
	Class   string // its colour
	Ended   bool
	Report  string // how it has ended

	Why      *Explanation
	WhyTitle string

	Waiting string // which PE keeps others waiting, in a sentence

	Cards  []card
	Tiles  template.HTML
	Doings []doing
	Rows   []row
	// Which columns of Rows have anything in them.
	Since, For, At, Rate, Over bool
	Range                      string
	Pages                      []pageLink
	Hosts                      []hostRow
	Many                       bool // there are many hosts
	Tall                       bool // there are so many rows that what is behind them would not be found
	Heat                       []heatMap
	Numbers                    bool // the maps have their numbers in their cells
	Kinds                      []kindRow
	Causes                     []causeRow
	Counts                     []countRow
	Output                     []outputRow
}

// card is a number of the job, now and over time.
type card struct {
	Name, Now, Note string
	Chart           template.HTML
}

type doing struct {
	PEs, What, For string
	N              int
}

// row is a PE.
type row struct {
	PE                           int
	Host                         string
	State, Class                 string
	For, Since, Where, Name, Was string
	Share                        string
	Blocked, Moved               template.HTML
	Rate, Total                  string
	Heap, High, Memory, CPU      string
}

type pageLink struct {
	Text string
	From int
	Here bool
}

type hostRow struct{ Name, PEs, State, Age string }

type kindRow struct{ Kind, Ops, Bytes string }

type causeRow struct {
	Cause, Count, Time, Share string
	Lines                     string // the lines of the program, the longest first
	Bar                       int
}

type countRow struct{ Name, Value string }

type outputRow struct {
	PE         int
	Lines      string
	Last, Text string
	Gone       int
	Shown      bool
}

// draw returns the page for a request. p.mu is not held.
func (p *Page) draw(r request) drawing {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d, known := p.drawn[r]; known {
		return d
	}
	name := "live"
	if r.part != changing {
		name = "page"
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, p.view(r)); err != nil {
		b.Reset()
		fmt.Fprintf(&b, "<p>%s", template.HTMLEscapeString(err.Error()))
	}
	d := drawing{b.Bytes(), p.version, p.outcome != nil}
	if len(p.drawn) < mostDrawings && r.part != saved {
		p.drawn[r] = d
	}
	return d
}

// Save writes the page as one file that needs nothing else.
func (p *Page) Save(w io.Writer) error {
	_, err := w.Write(p.draw(request{part: saved}).html)
	return err
}

// mostDrawings bounds what is kept of one version.
const mostDrawings = 64

// view returns what is shown. p.mu is held.
func (p *Page) view(r request) *view {
	s := &p.last
	v := &view{
		Save: r.part == saved, Version: p.version, Program: filepath.Base(p.job.Program), Command: command(p.job),
		Began: p.job.Began.Format("2006-01-02 15:04:05 MST"), Elapsed: clock(s.Elapsed), Many: len(s.Hosts) > 1, Tall: len(s.PEs) > 16,
	}
	if r.part == saved {
		v.CSS = template.CSS(pageCSS)
	}
	p.viewState(v)
	if len(s.PEs) == 0 {
		return v
	}
	v.Cards = p.cards()
	if len(s.PEs) > 8 {
		v.Tiles = p.tiles()
	}
	p.graph = newGraph(*s, p.history, 0)
	if p.outcome == nil {
		v.Waiting = p.graph.sentence()
	}
	p.viewDoings(v)
	p.viewPEs(v, r)
	p.viewTraffic(v, r)
	p.viewTotals(v)
	return v
}

const mostDoings = 12

// viewDoings groups PEs by what they do; of a job that has failed, by what they did before.
func (p *Page) viewDoings(v *view) {
	s := p.last
	s.PEs = slices.Clone(s.PEs)
	for i := range s.PEs {
		x := &s.PEs[i]
		if was := p.history.pes[i].alive; x.Ended && x.Status != 0 && was != nil && p.outcome != nil {
			*x = *was
		}
		withoutOwnCall(p.last.PEs, x)
	}
	for _, d := range s.Doings() {
		x := doing{PEs: breakable.Replace(list(d.PEs)), What: d.What, N: len(d.PEs)}
		if d.Longest > 0 {
			x.For = duration(d.Longest)
		}
		v.Doings = append(v.Doings, x)
	}
	slices.SortStableFunc(v.Doings, func(a, b doing) int { return cmp.Compare(b.N, a.N) })
	v.Doings = v.Doings[:min(len(v.Doings), mostDoings)]
}

// breakable has a list of PEs break into lines where it should.
var breakable = strings.NewReplacer(",", ", ", "-", "\u2011")

// withoutOwnCall removes from x that it waits for the PE that only counts arrivals at a collective.
func withoutOwnCall(pes []launch.PEState, x *launch.PEState) {
	if x.For == x.PE || waitsForAll(x) || x.For >= 0 && x.For < len(pes) && isCollective(x) && (pes[x.For].Ended || inCall(&pes[x.For], x)) {
		x.For = -1
	}
}

// command writes the command line of a job's program.
func command(j Job) string {
	words := []string{j.Program}
	for _, a := range j.Args {
		if a == "" || strings.ContainsAny(a, " \t\n'\"$*?|&;<>(){}\\") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// viewState says in which state the job is, and why PEs wait.
func (p *Page) viewState(v *view) {
	s := &p.last
	pes := p.job.PEs
	if len(s.PEs) > 0 {
		pes = len(s.PEs) // fewer, if the job goes on without a host
	}
	v.Job = count(pes, "PE", "PEs")
	if n := len(s.Hosts); n > 1 {
		v.Job += " on " + plural.Count(n, "host")
	} else if n == 1 {
		v.Job += " on " + s.Hosts[0].Name
	}
	why := p.standing.why
	if p.outcome == nil && p.standing.over || p.outcome != nil && s.Elapsed-p.standing.at > lately {
		why = Explanation{}
	}
	switch {
	case p.outcome != nil:
		v.Ended, v.State, v.Report = true, p.outcome.State, p.outcome.Report
		v.Class = "failed"
		if p.outcome.State == Succeeded {
			v.Class, why = "good", Explanation{}
		} else {
			v.State += fmt.Sprintf(", status %d", p.outcome.Status)
		}
	case p.now == nil || !slices.ContainsFunc(s.Hosts, func(h launch.HostState) bool { return h.State != "starting" }):
		v.State, v.Class = "starting", "unknown"
	case why.Hangs:
		v.State, v.Class = "hangs", "failed"
	case why.Found():
		v.State, v.Class = "running, PEs wait", "long"
	default:
		v.State, v.Class = "running", "good"
	}
	if why.Found() {
		v.Why, v.WhyTitle = &why, why.Title
		if p.outcome != nil {
			v.WhyTitle = fmt.Sprintf("%s before the end: %s", duration(max(0, s.Elapsed-p.standing.at)), why.Title)
		}
	}
}

// totals are the numbers of the job, over its PEs.
type totals struct {
	blocked, computing, ended, unknown int // numbers of PEs
	high                               float64
	bytes, ops                         uint64
	cpu                                time.Duration
}

// totals adds up what the page knows of the PEs.
func (p *Page) totals() (t totals) {
	for i := range p.last.PEs {
		x := &p.last.PEs[i]
		switch {
		case x.Ended:
			t.ended++
		case !x.Known:
			t.unknown++
		case x.Op != boot.NotBlocked:
			t.blocked++
		default:
			t.computing++
		}
		t.high += float64(x.Counters[record.HeapHigh])
		b, o := traffic(x)
		t.bytes, t.ops, t.cpu = t.bytes+b, t.ops+o, t.cpu+x.CPU
	}
	return t
}

// text says how many PEs are in which state.
func (t totals) text() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{t.computing, "computing"}, {t.blocked, "blocked"}, {t.ended, "ended"}, {t.unknown, "not known"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

// cards returns the numbers of the job.
func (p *Page) cards() []card {
	h := &p.history.job
	now, t := h.last(), p.totals()
	draw := func(q quantity) template.HTML { return h.chart(q, 240, 48, q.name+" over the time of the job") }
	if p.outcome != nil {
		now = point{}
	}
	rate := func(q quantity, now float64) string {
		if p.outcome != nil {
			return "peak " + q.write(h.largest(q))
		}
		return q.write(now)
	}
	mean := 0.0
	for _, x := range h.all() {
		mean += x.Blocked / float64(len(h.all()))
	}
	share := percent(now.Blocked)
	if p.outcome != nil {
		share = "mean " + percent(mean)
	}
	return []card{
		{"Blocked share", share, t.text(), draw(blockedShare)},
		{"Traffic", rate(byteRate, now.Bytes), bytesOf(float64(t.bytes)) + " in all", draw(byteRate)},
		{"Operations", rate(opRate, now.Ops), number(float64(t.ops)) + " in all", draw(opRate)},
		{"Heap in use", rate(heapInUse, now.Heap), "high-water mark " + bytesOf(t.high), draw(heapInUse)},
		{"Resident memory", rate(resident, now.Memory), "peak " + bytesOf(h.largest(resident)), draw(resident)},
		{"CPUs in use", rate(cpuUse, now.CPU), duration(t.cpu) + " of CPU time", draw(cpuUse)},
	}
}

// state says in a word what a PE does, and in which colour.
func (p *Page) state(x *launch.PEState) (word, class string) {
	switch {
	case x.Ended && x.Status == 0:
		return "ended", "ended"
	case x.Ended && x.Status > 128:
		return fmt.Sprintf("killed by signal %d", x.Status-128), "failed"
	case x.Ended:
		return fmt.Sprintf("failed, status %d", x.Status), "failed"
	case !x.Known && p.last.Hosts[x.Host].State == "lost":
		return "lost", "failed"
	case !x.Known:
		return "not known yet", "unknown"
	case x.Op == boot.NotBlocked:
		return "computing", "good"
	case x.Time >= patience:
		return calledIn(x), "long"
	}
	return calledIn(x), "blocked"
}

// viewPEs shows the PEs that r asks for, one by one.
func (p *Page) viewPEs(v *view, r request) {
	pes := p.last.PEs
	first, end := 0, len(pes)
	if r.part != saved && len(pes) > rowsPerPage {
		first = min(r.from, len(pes)-1) / rowsPerPage * rowsPerPage
		end = min(first+rowsPerPage, len(pes))
		for from := 0; from < len(pes); from += rowsPerPage {
			v.Pages = append(v.Pages, pageLink{fmt.Sprintf("%d-%d", from, min(from+rowsPerPage, len(pes))-1), from, from == first})
		}
	}
	open := "," + r.out + ","
	for i := first; i < end; i++ {
		x := p.row(i)
		v.Rows = append(v.Rows, x)
		v.Since, v.For, v.Rate = v.Since || x.Since != "", v.For || x.For != "", v.Rate || x.Rate != ""
		v.Over = v.Over || x.Blocked != ""
		v.At = v.At || x.Where != "" || x.Name != "" || x.Was != ""
		lines, last := p.output.count(i)
		if lines == 0 {
			continue
		}
		o := outputRow{PE: i, Lines: count(lines, "line", "lines"), Last: last}
		if r.part == saved || p.outcome != nil || strings.Contains(open, fmt.Sprintf(",%d,", i)) {
			o.Text, o.Gone = p.output.text(i)
			o.Shown = true
		}
		v.Output = append(v.Output, o)
	}
	v.Range = fmt.Sprintf("PE %d-%d of %d", first, end-1, len(pes))
	for _, h := range p.last.Hosts {
		x := hostRow{Name: h.Name, PEs: fmt.Sprintf("%d-%d", h.First, h.First+h.PEs-1), State: h.State}
		if h.PEs == 1 {
			x.PEs = fmt.Sprint(h.First)
		}
		if h.Age > 0 && !p.last.Ended {
			x.Age = duration(h.Age)
		}
		v.Hosts = append(v.Hosts, x)
	}
	const mostHosts = 128
	v.Hosts = v.Hosts[:min(len(v.Hosts), mostHosts)]
}

// row returns what is shown of a PE.
func (p *Page) row(i int) row {
	x, t := &p.last.PEs[i], &p.history.pes[i]
	r := row{PE: i, Host: p.last.Hosts[x.Host].Name}
	r.State, r.Class = p.state(x)
	if x.Known && !x.Ended {
		lasts := p.last.Elapsed - t.since
		if x.Op != boot.NotBlocked {
			lasts = x.Time
			r.Name, r.Where = x.Name, x.Site
			r.For = p.awaited(i)
		}
		r.Since = duration(lasts)
	}
	if x.Ended && x.Status != 0 && t.alive != nil {
		was := *t.alive
		withoutOwnCall(p.last.PEs, &was)
		r.Was = "was " + was.Doing()
		if was.Time > 0 {
			r.Was += ", for " + duration(was.Time)
		}
	}
	if !x.Known {
		return r
	}
	if p.last.Elapsed > 0 {
		share := min(1, float64(t.last.Blocked())/float64(max(t.at, 1)))
		r.Share = percent(share)
	}
	r.Blocked = t.series.spark(blockedShare, "share blocked over time")
	r.Moved = t.series.spark(byteRate, "bytes moved over time")
	bytes, _ := traffic(x)
	r.Rate, r.Total = byteRate.write(t.point.Bytes), bytesOf(float64(bytes))
	if x.Ended {
		r.Rate = ""
	}
	r.Heap, r.High = bytesOf(float64(x.Counters[record.HeapInUse])), bytesOf(float64(x.Counters[record.HeapHigh]))
	r.Memory, r.CPU = bytesOf(float64(x.Memory)), duration(x.CPU)
	return r
}

// awaited names the PEs that a blocked PE waits for.
func (p *Page) awaited(pe int) string {
	var pes []int
	for _, node := range p.graph.to[pe] {
		if p.graph.isPE(node) {
			pes = append(pes, node)
		} else {
			pes = append(pes, p.graph.to[node]...)
		}
	}
	switch {
	case len(pes) == 0:
		return "–"
	case len(pes) > mostAwaited:
		return plural.Count(len(pes), "PE")
	}
	return "PE " + list(pes)
}

const mostAwaited = 4

// viewTraffic shows who moves how much to whom.
func (p *Page) viewTraffic(v *view, r request) {
	v.Numbers = len(p.last.PEs) <= writtenUpTo
	v.Heat = []heatMap{
		newHeatMap("Bytes", p.last.PEs, func(bytes, _ uint64) float64 { return float64(bytes) }, bytesOf, r.part == saved),
		newHeatMap("Operations", p.last.PEs, func(_, ops uint64) float64 { return float64(ops) }, number, r.part == saved),
	}
	var all record.Traffic
	for i := range p.last.PEs {
		for _, t := range append(p.last.PEs[i].Peers[:len(p.last.PEs[i].Peers):len(p.last.PEs[i].Peers)], p.last.PEs[i].Others) {
			for k := range record.NumKinds {
				all.Ops[k] += t.Ops[k]
				all.Bytes[k] += t.Bytes[k]
			}
		}
	}
	for k := range record.NumKinds {
		if all.Ops[k] > 0 {
			v.Kinds = append(v.Kinds, kindRow{k.String(), number(float64(all.Ops[k])), bytesOf(float64(all.Bytes[k]))})
		}
	}
}

// viewTotals shows what the PEs waited for, and their counters.
func (p *Page) viewTotals(v *view) {
	causes, lines := map[string]record.Waited{}, map[string]record.Waited{}
	var counters [record.NumCounters]uint64
	var whole time.Duration
	for i := range p.last.PEs {
		x := &p.last.PEs[i]
		if x.Known {
			whole += p.history.pes[i].at
		}
		for c, w := range x.Waits {
			causes[c] = causes[c].Plus(w)
		}
		for c, w := range x.Lines {
			lines[c] = lines[c].Plus(w)
		}
		if !x.Ended && x.Op != boot.NotBlocked {
			w, in := record.Waited{Count: 1, Time: x.Time}, calledIn(x)
			causes[in] = causes[in].Plus(w)
			if x.Site != "" {
				lines[in+" at "+x.Site] = lines[in+" at "+x.Site].Plus(w)
			}
		}
		for c, n := range x.Counters {
			counters[c] += n
		}
	}
	c := record.Counts{Waits: causes}
	for _, name := range c.Causes() {
		w := causes[name]
		share := float64(w.Time) / float64(max(whole, 1))
		v.Causes = append(v.Causes, causeRow{name, number(float64(w.Count)), duration(w.Time), percent(share), linesOf(name, w.Time, lines), int(100*min(share, 1) + 0.5)})
	}
	for c, n := range counters {
		name := record.Counter(c).String()
		if n == 0 || name == "" || c == int(record.HeapInUse) || c == int(record.HeapHigh) {
			continue
		}
		value := number(float64(n))
		if strings.HasSuffix(name, "bytes") {
			value = bytesOf(float64(n))
		}
		v.Counts = append(v.Counts, countRow{strings.ReplaceAll(name, "_", " "), value})
	}
}

// calledIn returns the cause of what x is blocked in, as PEs record causes: a library's call by its name.
func calledIn(x *launch.PEState) string {
	if x.Op == boot.InLibrary && x.Name != "" {
		return x.Name
	}
	return x.In
}

// mostCauseLines is how many lines of the program a cause has.
const mostCauseLines = 3

// linesOf returns where in the program PEs were blocked for a cause, with the shares of whole, the longest first.
func linesOf(cause string, whole time.Duration, lines map[string]record.Waited) string {
	mine := record.Counts{Waits: map[string]record.Waited{}}
	for name, w := range lines {
		if of, site := record.CutPlace(name); of == cause && site != "" {
			mine.Waits[site] = w
		}
	}
	var parts []string
	sites := mine.Causes()
	for _, site := range sites[:min(len(sites), mostCauseLines)] {
		parts = append(parts, site+" "+percent(min(1, float64(mine.Waits[site].Time)/float64(max(whole, 1)))))
	}
	if more := len(sites) - mostCauseLines; more > 0 {
		parts = append(parts, plural.Count(more, "more line"))
	}
	return strings.Join(parts, ", ")
}

// tiles draws all PEs, each a square in the colour of its state.
func (p *Page) tiles() template.HTML {
	const size, gap = 14.0, 2.0
	columns := 64
	if len(p.last.PEs) <= 256 {
		columns = 32
	}
	paths := map[string]*strings.Builder{}
	var names strings.Builder
	for i := range p.last.PEs {
		word, class := p.state(&p.last.PEs[i])
		if paths[class] == nil {
			paths[class] = &strings.Builder{}
		}
		fmt.Fprintf(paths[class], "M%g %gh%gv%gh%gz", size*float64(i%columns), size*float64(i/columns), size-gap, size-gap, gap-size)
		if i > 0 {
			names.WriteByte(',')
		}
		names.WriteString(word)
	}
	rows := (len(p.last.PEs) + columns - 1) / columns
	width := float64(min(len(p.last.PEs), columns)) * size
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="tiles" viewBox="0 0 %g %g" width="%g" role="img" aria-label="the state of each PE" data-columns="%d" data-size="%g" data-words="%s">`,
		width, float64(rows)*size, width, columns, size, template.HTMLEscapeString(names.String()))
	for _, class := range []string{"good", "blocked", "long", "ended", "failed", "unknown"} {
		if path := paths[class]; path != nil {
			fmt.Fprintf(&b, `<path class="s-%s" d="%s"/>`, class, path.String())
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}
