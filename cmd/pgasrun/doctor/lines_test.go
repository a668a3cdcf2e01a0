package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLines: what PEs print in any order, between lines of others, is the report.
func TestLines(t *testing.T) {
	want := sample()
	var out bytes.Buffer
	put := func(l Line) {
		t.Helper()
		if err := l.Write(&out); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range slices.Backward(want.Pairs) {
		put(Line{Pair: &p})
		out.WriteString("warning: something\n{\"other\": 1}\n")
	}
	for _, h := range slices.Backward(want.Hosts) {
		put(Line{Host: &h})
	}
	var got Report
	others, err := got.Collect(bytes.NewReader(out.Bytes()))
	if err != nil || got.Job.Ran || len(others) != 2*len(want.Pairs) || others[0] != "warning: something" {
		t.Errorf("%q, %v", others, err)
	}
	slices.SortStableFunc(want.Hosts, func(a, b Host) int { return a.PE - b.PE })
	slices.SortFunc(want.Pairs, func(a, b Pair) int { return 10*(a.From-b.From) + a.To - b.To })
	if !reflect.DeepEqual(got.Hosts, want.Hosts) || !reflect.DeepEqual(got.Pairs, want.Pairs) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	put(Line{Done: &struct{}{}})
	if _, err := got.Collect(&out); err != nil || !got.Job.Ran {
		t.Errorf("done: %+v, %v", got.Job, err)
	}
}

func TestLinesEndEarly(t *testing.T) {
	var r Report
	in := io.MultiReader(strings.NewReader(`{"host":{"name":"a","pe":0,"checks":[]}}`+"\n"+`{"pair":{"fr`), iotestErr{})
	if _, err := r.Collect(in); !errors.Is(err, io.ErrUnexpectedEOF) || len(r.Hosts) != 1 || len(r.Pairs) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := (Line{}).Write(full{}); err == nil {
		t.Error("written to a full disk")
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestJSON: a report is one object that decodes strictly to itself.
func TestJSON(t *testing.T) {
	want := sample()
	want.Pairs[1].NICCapable = true
	want.Conclude()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var got Report
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	want.Pairs[2].Lanes = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// What UCX 1.13 and 1.18 print.
const (
	tcpText = `#
# UCP endpoint pgas.1
#
#               peer: <no debug data>
#                 lane[0]:  0:tcp/eth0.0 md[0]   -> addr[0].md[0]/tcp/sysdev[255] am am_bw#0 keepalive
#
`
	cardText = `# UCP endpoint
#                 lane[0]:  5:rc_mlx5/mlx5_0:1.0 md[4]   -> addr[1].md[4]/ib/sysdev[0] rma_bw#0 am am_bw#0
#                 lane[1]:  6:dc_mlx5/mlx5_0:1.0 md[4]   -> addr[2].md[4]/ib/sysdev[0] rma#0 amo#0
#                 lane[2]:  0:tcp/ib0.1 md[1] -> addr[0].md[1]/tcp/sysdev[255] keepalive wireup
#                 tag_send: 0..<egr/short>..8185..<egr/bcopy>
`
)

func TestLanes(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Lane
	}{
		{"", []Lane{}},
		{"lane[x]: 0:tcp/eth0.0 md[0]\nlane[0]:\n", []Lane{}},
		{tcpText, []Lane{{"tcp", "eth0", "am am_bw keepalive"}}},
		{cardText, []Lane{{"rc_mlx5", "mlx5_0:1", "rma_bw am am_bw"}, {"dc_mlx5", "mlx5_0:1", "rma amo"}, {"tcp", "ib0", "keepalive"}}},
	} {
		if got := Lanes(c.text); !slices.Equal(got, c.want) || got == nil {
			t.Errorf("%q: %+v", c.text, got)
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		text          string
		native        bool
		rma, amo, tls string
		memory, words string // parts of the reasons
		capable       bool
	}{
		{tcpText, false, "auto", "cpu", "", "no lane of tcp/eth0 reads", "no lane is that of a NIC", false},
		{tcpText, false, "auto", "cpu", "tcp", "UCX_TLS=tcp bounds the choice", "no lane is that of a NIC", false},
		{tcpText, false, "am", "cpu", "", "PGAS_RMA=am asks for active messages", "CPU executes them", false},
		{tcpText, true, "native", "nic", "", "emulates it by messages: no lane of tcp/eth0", "UCX emulates them", false},
		{cardText, true, "auto", "cpu", "", "itself over dc_mlx5/mlx5_0:1", "dc_mlx5/mlx5_0:1 could (PGAS_AMO=nic)", true},
		{cardText, true, "auto", "nic", "", "itself over dc_mlx5/mlx5_0:1", "PGAS_AMO=nic: dc_mlx5/mlx5_0:1 executes", true},
		{cardText, false, "am", "nic", "", "dc_mlx5/mlx5_0:1 could read", "executes", true},
		{cardText, false, "auto", "nic", "x", "although dc_mlx5/mlx5_0:1 reads", "executes", true},
		{strings.ReplaceAll(cardText, " amo#0", ""), true, "auto", "cpu", "", "dc_mlx5", "no lane has a NIC that could", false},
		{strings.ReplaceAll(cardText, " amo#0", ""), true, "auto", "nic", "", "dc_mlx5", "no lane has a NIC that executes", false},
	} {
		p := Pair{Lanes: Lanes(c.text), Native: c.native, NICAtomics: c.amo == "nic"}
		p.Explain(c.rma, c.amo, c.tls)
		if !strings.Contains(p.NativeWhy, c.memory) || !strings.Contains(p.NICWhy, c.words) || p.NICCapable != c.capable {
			t.Errorf("%+v: %+v", c, p)
		}
	}
}

// TestDocs: the page has a row for each check, in their order, and no other.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/use/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| check | a note | a problem |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var rows, want []string
	for line := range strings.Lines(table) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
			rows = append(rows, name[1])
		}
	}
	for _, c := range checks {
		want = append(want, c.name)
	}
	if want = append(want, "ucx", "ucx transports"); !slices.Equal(rows, want) {
		t.Errorf("docs/use/doctor.md has %q, the checks are %q", rows, want)
	}
}

// FuzzCollect: whatever a job prints, each line of it is in the report or returned.
func FuzzCollect(f *testing.F) {
	f.Add("{\"host\":{\"name\":\"a\",\"pe\":0,\"checks\":[]}}\nhello\n{\"done\":{}}")
	f.Add("{\"pair\":{\"from\":1,\"to\":0,\"lanes\":[{}]}}\n{\"pair\":{\"from\":0}}\r\n\n{\"host\":null}")
	f.Fuzz(func(t *testing.T, text string) {
		var r Report
		others, err := r.Collect(strings.NewReader(text))
		if err != nil {
			return
		}
		lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
		if text == "" {
			lines = 0
		}
		found := len(others) + len(r.Hosts) + len(r.Pairs)
		if found > lines || found < lines && !r.Job.Ran {
			t.Errorf("%d lines give %d others, %d hosts, %d pairs", lines, len(others), len(r.Hosts), len(r.Pairs))
		}
		r.Conclude()
		if err := r.Print(io.Discard); err != nil {
			t.Error(err)
		}
	})
}

// FuzzLanes: each lane that is read stands in the text.
func FuzzLanes(f *testing.F) {
	f.Add(tcpText)
	f.Add(cardText)
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range Lanes(text) {
			if l.Transport == "" || l.Device == "" || !strings.Contains(text, ":"+l.Transport+"/"+l.Device+".") {
				t.Errorf("%+v is not in %q", l, text)
			}
		}
	})
}
