package ui

// Why PEs wait. Each PE that has been blocked for long waits for some others: for the PE that it has published, or, in
// a collective, for those that have not called it. That is a graph. A cycle in it is a deadlock. Where there is none,
// all PEs of a chain wait for the one at its end.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// patience is how long a PE must have been blocked before anything is said of it.
const patience = 3 * time.Second

// idle is the share of a CPU below which a PE that is not blocked does not compute either.
const idle = 0.02

// Bounds of an explanation.
const (
	mostCycles = 2
	mostLinks  = 8 // of a cycle
	mostEnds   = 4
	mostPlaces = 3
)

// Explanation says why PEs wait.
type Explanation struct {
	Hangs  bool     // nothing can end it
	Title  string   // empty: no PE has waited for long
	Points []string // what it is made of
	PEs    []int    // the PEs that the others wait for
}

// Found reports whether there is anything to explain.
func (e *Explanation) Found() bool { return e.Title != "" }

// A graph is which PE waits for which. Its nodes are the PEs, and behind them the collective calls that PEs are in.
type graph struct {
	s     launch.Snapshot
	h     *history
	stuck []bool // the PEs that have been blocked for long
	to    [][]int
	calls map[callKey]int // the nodes of the calls
}

// callKey is a call of a collective.
type callKey struct {
	closing bool // World.Close, which has no number
	seq     uint64
}

// explain returns why PEs of s wait.
func (h *history) explain(s launch.Snapshot) Explanation {
	g := newGraph(s, h, patience)
	running, stuck := 0, 0
	for i := range s.PEs {
		if !s.PEs[i].Ended {
			running++
		}
		if g.stuck[i] {
			stuck++
		}
	}
	if stuck == 0 {
		return Explanation{}
	}
	if cycles := g.cycles(); len(cycles) > 0 {
		return g.explainCycles(cycles)
	}
	return g.explainEnds(stuck == running)
}

// newGraph returns the graph of PEs that have been blocked for so long.
func newGraph(s launch.Snapshot, h *history, long time.Duration) *graph {
	g := &graph{s: s, h: h, stuck: make([]bool, len(s.PEs)), to: make([][]int, len(s.PEs)), calls: map[callKey]int{}}
	for i := range s.PEs {
		p := &s.PEs[i]
		g.stuck[i] = p.Known && !p.Ended && p.Op != boot.NotBlocked && p.Time >= long
	}
	for i := range s.PEs {
		if g.stuck[i] {
			g.to[i] = g.awaited(&s.PEs[i])
		}
	}
	return g
}

// awaited returns the nodes that p waits for.
func (g *graph) awaited(p *launch.PEState) []int {
	collective := isCollective(p)
	known := p.For >= 0 && p.For < len(g.s.PEs) && p.For != p.PE
	if known && !waitsForAll(p) && !(collective && inCall(&g.s.PEs[p.For], p)) {
		return []int{p.For}
	}
	if !collective || p.Team != 0 {
		return nil // the members of other teams are not known here
	}
	key := callKey{closing: p.Op == boot.InClose, seq: p.Seq}
	if key.closing {
		key.seq = 0
	}
	if node, known := g.calls[key]; known {
		return []int{node}
	}
	node := len(g.to)
	g.calls[key] = node
	var missing []int
	for i := range g.s.PEs {
		if i != p.PE && !inCall(&g.s.PEs[i], p) {
			missing = append(missing, i)
		}
	}
	g.to = append(g.to, missing)
	if missing == nil {
		return nil
	}
	return []int{node}
}

// isCollective reports whether p is blocked in what PEs do together.
func isCollective(p *launch.PEState) bool {
	return p.Op == boot.InBarrier || p.Op == boot.InCollective || p.Op == boot.InClose
}

// waitsForAll reports whether p waits for all PEs. Then p.For may be the PE that counts arrivals.
func waitsForAll(p *launch.PEState) bool {
	return p.Team == 0 && (p.Op == boot.InBarrier || p.Op == boot.InClose)
}

// inCall reports whether p is in the collective call that caller is in, or in a later one of all PEs.
func inCall(p, caller *launch.PEState) bool {
	switch {
	case p.Ended:
		return caller.Op == boot.InClose
	case p.Op == boot.InClose:
		return caller.Op == boot.InClose
	case caller.Op == boot.InClose:
		return false
	}
	return (p.Op == boot.InBarrier || p.Op == boot.InCollective) && p.Team == caller.Team && p.Seq >= caller.Seq
}

// cycles returns cycles that have no node in common, each from its smallest PE on.
func (g *graph) cycles() [][]int {
	const unseen, onPath, done = 0, 1, 2
	state := make([]uint8, len(g.to))
	var found [][]int
	var path []int
	var visit func(node int)
	visit = func(node int) {
		state[node] = onPath
		path = append(path, node)
		for _, next := range g.to[node] {
			if state[next] == unseen {
				visit(next)
			} else if state[next] == onPath && len(found) < mostCycles {
				cycle := slices.Clone(path[slices.Index(path, next):])
				if !slices.ContainsFunc(found, func(c []int) bool {
					return slices.ContainsFunc(c, func(n int) bool { return slices.Contains(cycle, n) })
				}) {
					found = append(found, fromSmallest(cycle))
				}
			}
		}
		path = path[:len(path)-1]
		state[node] = done
	}
	for node := range g.to {
		if state[node] == unseen {
			visit(node)
		}
	}
	return found
}

func fromSmallest(cycle []int) []int {
	at := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[at:], cycle[:at])
}

// behind returns which nodes wait for one of ends, directly or not.
func (g *graph) behind(ends []int) []bool {
	from := make([][]int, len(g.to))
	for node, to := range g.to {
		for _, next := range to {
			from[next] = append(from[next], node)
		}
	}
	reached := make([]bool, len(g.to))
	queue := slices.Clone(ends)
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		for _, before := range from[node] {
			if !reached[before] {
				reached[before] = true
				queue = append(queue, before)
			}
		}
	}
	return reached
}

// sentence says which PE keeps most others waiting, since when, and what it does, or "" if none does. It counts every
// wait, however short, of PEs that wait for it directly or behind others.
func (g *graph) sentence() string {
	awaited := map[int]bool{}
	for _, to := range g.to {
		for _, node := range to {
			if g.isPE(node) && len(g.to[node]) == 0 {
				awaited[node] = true
			}
		}
	}
	worst, most, longest, like := -1, 0, time.Duration(0), 0
	for _, pe := range slices.Sorted(maps.Keys(awaited)) {
		waiting, since := 0, time.Duration(0)
		for node, waits := range g.behind([]int{pe}) {
			if waits && g.isPE(node) && node != pe {
				waiting, since = waiting+1, max(since, g.s.PEs[node].Time)
			}
		}
		switch {
		case waiting > most:
			worst, most, longest, like = pe, waiting, since, 0
		case waiting == most:
			like++
		}
	}
	if most == 0 {
		return ""
	}
	subject, does := fmt.Sprintf("PE %d keeps", worst), "it is "+g.doing(worst)
	if like > 0 {
		subject, does = fmt.Sprintf("PE %d and %s like it keep", worst, plural.Count(like, "other")), fmt.Sprintf("PE %d is %s", worst, g.doing(worst))
	}
	return fmt.Sprintf("%s %s waiting since %s after the start, for %s: %s.", subject, plural.Count(most, "PE"), clock(max(0, g.s.Elapsed-longest)), duration(longest), does)
}

// doing says what a PE does that others wait for.
func (g *graph) doing(pe int) string {
	p := g.s.PEs[pe]
	p.For = -1
	if p.Ended {
		return fmt.Sprintf("no longer there, with exit status %d", p.Status)
	}
	return p.Doing()
}

// isPE reports whether a node is a PE.
func (g *graph) isPE(node int) bool { return node < len(g.s.PEs) }

// explainCycles explains a deadlock.
func (g *graph) explainCycles(cycles [][]int) Explanation {
	e := Explanation{Hangs: true}
	for _, cycle := range cycles {
		pes := slices.DeleteFunc(slices.Clone(cycle), func(node int) bool { return !g.isPE(node) })
		for i, pe := range pes[:min(len(pes), mostLinks)] {
			e.Points = append(e.Points, fmt.Sprintf("PE %d waits for PE %d: %s", pe, pes[(i+1)%len(pes)], g.blockedIn(pe)))
		}
		if more := len(pes) - mostLinks; more > 0 {
			e.Points = append(e.Points, fmt.Sprintf("and so on: this cycle has %s", plural.Count(more, "more PE")))
		}
		e.PEs = append(e.PEs, pes...)
	}
	slices.Sort(e.PEs)
	e.Title = fmt.Sprintf("The job hangs: PE %s wait for each other in a cycle, so none can go on", list(e.PEs))
	others := 0
	for node, waits := range g.behind(e.PEs) {
		if waits && g.isPE(node) && !slices.Contains(e.PEs, node) {
			others++
		}
	}
	if others > 0 {
		e.Points = append(e.Points, fmt.Sprintf("%s for them", waiters(others)))
	}
	return e
}

// waiters counts PEs that wait.
func waiters(n int) string {
	if n == 1 {
		return "1 more PE waits"
	}
	return fmt.Sprintf("%s wait", plural.Count(n, "more PE"))
}

// blockedIn returns in words what a PE is blocked in, and for how long.
func (g *graph) blockedIn(pe int) string {
	p := g.s.PEs[pe]
	p.For = -1 // said already, or not the point
	return fmt.Sprintf("%s, for %s", p.Doing(), duration(p.Time))
}

// An end is PEs that others wait for, and that wait for none themselves, all in the same way.
type end struct {
	pes    []int
	way    string        // the same for all of pes
	does   string        // what the PEs do, behind "PE 3", with verbs that says replaces
	lasts  time.Duration // how long the one that does is said of has done it
	final  bool          // they cannot go on by themselves
	behind []int         // the PEs that wait for these
}

// Verbs of what PEs do, by how many they are.
var (
	ofOne  = strings.NewReplacer("{has}", "has", "{is}", "is", "{waits}", "waits", "{goes}", "goes", "{it}", "it", "{runs}", "runs")
	ofMany = strings.NewReplacer("{has}", "have", "{is}", "are", "{waits}", "wait", "{goes}", "go", "{it}", "they", "{runs}", "run")
)

// says names the PEs and says what they do.
func (x *end) says() string {
	verbs := ofOne
	if len(x.pes) > 1 {
		verbs = ofMany
	}
	return fmt.Sprintf("PE %s %s", list(x.pes), verbs.Replace(x.does))
}

// explainEnds explains waits of which none is part of a cycle. allStuck: no PE is left that is not blocked.
func (g *graph) explainEnds(allStuck bool) Explanation {
	ends := g.ends()
	if len(ends) == 0 {
		return Explanation{}
	}
	e := Explanation{Hangs: allStuck}
	for i, x := range ends {
		e.Hangs = e.Hangs || x.final && len(x.behind) > 0
		if i < mostEnds {
			e.Points = append(e.Points, g.sentences(x, allStuck)...)
			e.PEs = append(e.PEs, x.pes...)
		}
	}
	if more := len(ends) - mostEnds; more > 0 {
		e.Points = append(e.Points, fmt.Sprintf("others wait for %s, or groups of PEs", plural.Count(more, "more PE")))
	}
	e.Title = title(ends[0], e.Hangs)
	slices.Sort(e.PEs)
	return e
}

// title says the most important of an explanation.
func title(x end, hangs bool) string {
	t := x.says()
	if n := len(x.behind); n > 0 {
		t = fmt.Sprintf("%s for PE %s", count(n, "PE waits", "PEs wait"), list(x.pes))
	}
	if hangs {
		t = "The job hangs: " + t
	}
	return t
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// sentences says what the PEs of x do, and which PEs wait for them where.
func (g *graph) sentences(x end, allStuck bool) []string {
	s := x.says()
	if x.final && allStuck && !g.s.PEs[x.pes[0]].Ended {
		s += "; all other PEs are blocked too, so none is left to end that"
	}
	if len(x.behind) == 0 {
		return []string{s}
	}
	it, wait := "it", "wait"
	if len(x.pes) > 1 {
		it = "them"
	}
	if len(x.behind) == 1 {
		wait = "waits"
	}
	return []string{s, fmt.Sprintf("PE %s %s for %s: %s", list(x.behind), wait, it, g.places(x.behind))}
}

// places says in what PEs are blocked, most of them first.
func (g *graph) places(pes []int) string {
	var in []launch.Doing
	for _, pe := range pes {
		p := g.s.PEs[pe]
		p.For = -1
		what := p.Doing()
		at := slices.IndexFunc(in, func(d launch.Doing) bool { return d.What == what })
		if at < 0 {
			at = len(in)
			in = append(in, launch.Doing{What: what})
		}
		in[at].PEs, in[at].Longest = append(in[at].PEs, pe), max(in[at].Longest, p.Time)
	}
	slices.SortStableFunc(in, func(a, b launch.Doing) int { return cmp.Compare(len(b.PEs), len(a.PEs)) })
	var parts []string
	for _, d := range in[:min(len(in), mostPlaces)] {
		part := fmt.Sprintf("%s, for %s", d.What, duration(d.Longest))
		if len(in) > 1 {
			part = fmt.Sprintf("PE %s %s", list(d.PEs), part)
		}
		parts = append(parts, part)
	}
	if more := len(in) - mostPlaces; more > 0 {
		parts = append(parts, fmt.Sprintf("%d other calls", more))
	}
	return strings.Join(parts, "; ")
}

// ends returns the PEs for which others wait in the end, those first for which most do.
func (g *graph) ends() []end {
	awaited := make([]bool, len(g.s.PEs))
	for _, to := range g.to {
		for _, next := range to {
			if g.isPE(next) {
				awaited[next] = true
			}
		}
	}
	var ends []end
	for pe := range g.s.PEs {
		if len(g.to[pe]) > 0 || !awaited[pe] && !g.stuck[pe] {
			continue
		}
		x := g.end(pe)
		at := slices.IndexFunc(ends, func(y end) bool { return x.way == y.way })
		if at < 0 {
			ends = append(ends, x)
			continue
		}
		ends[at].pes = append(ends[at].pes, pe)
		if x.lasts > ends[at].lasts {
			ends[at].does, ends[at].lasts = x.does, x.lasts
		}
	}
	for i := range ends {
		for node, waits := range g.behind(ends[i].pes) {
			if waits && g.isPE(node) {
				ends[i].behind = append(ends[i].behind, node)
			}
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(len(b.behind), len(a.behind)) })
	return ends
}

// end says what a PE does that waits for no other PE that is known.
func (g *graph) end(pe int) end {
	p, t := g.s.PEs[pe], &g.h.pes[pe]
	p.For = -1
	x := end{pes: []int{pe}, lasts: g.s.Elapsed - t.since}
	switch host := g.s.Hosts[p.Host]; {
	case !p.Known:
		x.way = "unknown " + host.Name
		x.does = fmt.Sprintf("{runs} on host %s (%s), which says nothing", host.Name, host.State)
	case p.Ended:
		x.way, x.final = fmt.Sprint("ended ", p.Status), true
		x.does = fmt.Sprintf("{has} ended, with exit status %d", p.Status)
	case g.stuck[pe]:
		x.way, x.final, x.lasts = p.Doing(), true, p.Time
		x.does = fmt.Sprintf("{is} %s, for %s%s", p.Doing(), duration(p.Time), remedy(&p))
	case p.Op != boot.NotBlocked:
		x.way = "goes on"
		x.does = "{goes} on: now {it} {is} " + p.Doing()
	case t.point.CPU < idle && x.lasts >= patience:
		x.way = "idle"
		x.does = fmt.Sprintf("{is} not blocked in a call of this library, and {has} used no CPU time for %s: {it} {waits} for something else, such as a channel, a mutex, a file or a sleep", duration(x.lasts))
	case g.s.Elapsed-t.moved < patience:
		x.way = "operations"
		x.does = fmt.Sprintf("{has} computed for %s, and {goes} on to access memory of PEs", duration(x.lasts))
	default:
		x.way = "computes"
		x.does = fmt.Sprintf("{has} computed for %s, without an access to any PE's memory", duration(x.lasts))
	}
	return x
}

// remedy says what would have to happen for p, which is blocked, to go on.
func remedy(p *launch.PEState) string {
	switch {
	case p.Op == boot.InWait:
		return ": another PE would have to change that word"
	case p.Op == boot.InNotify:
		return ": another PE would have to send that notification"
	case p.Team != 0:
		return ": other members of that team have not called it"
	}
	return ""
}

// mostRanges is how many ranges of PEs a list has.
const mostRanges = 12

// list writes ascending numbers of PEs as "0-3,5", as far as they are few.
func list(pes []int) string {
	all := launch.Ranges(pes)
	parts := strings.SplitN(all, ",", mostRanges+1)
	if len(parts) <= mostRanges {
		return all
	}
	shown := 0
	for _, part := range parts[:mostRanges] {
		var first, last int
		if n, _ := fmt.Sscanf(part, "%d-%d", &first, &last); n < 2 {
			last = first
		}
		shown += last - first + 1
	}
	return fmt.Sprintf("%s and %d more", strings.Join(parts[:mostRanges], ","), len(pes)-shown)
}

// duration writes d with two or three digits.
func duration(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}
