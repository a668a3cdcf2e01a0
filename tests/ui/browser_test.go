package ui

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var shots = flag.String("shots", "", "leave pictures of the page in this `directory`")

// patience is how long anything may take: a test that fails for it hangs.
const patience = 10 * time.Minute

// pause is the time between two looks of a test.
const pause = 50 * time.Millisecond

// browsers are the names of Chromium.
var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

// tab is a tab of a headless browser, and what has happened in it.
type tab struct {
	context.Context
	mu       sync.Mutex
	requests []string // their URLs
	problems []string // exceptions, violations of the page's policy, and the like
}

// newTab opens an empty tab. The test is skipped where there is no browser.
func newTab(t *testing.T, options ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	program := ""
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skipf("none of %s is here", strings.Join(browsers, ", "))
	}
	options = append(slices.Concat(chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(program), chromedp.WindowSize(1400, 1000), chromedp.WSURLReadTimeout(patience),
	}), options...)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{Context: ctx}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	call(t, b, network.Enable, network.EnableParams{})
	call(t, b, log.Enable, cdp.Empty{})
	return b
}

func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *log.EventEntryAdded:
		b.problems = append(b.problems, e.Entry.Text+" "+e.Entry.URL)
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, fmt.Sprint(e.ExceptionDetails.Text, " ", e.ExceptionDetails.Exception))
	}
}

// call sends a command of the browser's protocol.
func call[P, R any](t *testing.T, b *tab, command cdp.Command[P, R], params P) R {
	t.Helper()
	r, err := chromedp.Call(b, command, params)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// get returns what an action does.
func get[T any](t *testing.T, b *tab, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(b, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// open opens a page.
func (b *tab) open(t *testing.T, url string) {
	t.Helper()
	get(t, b, chromedp.Navigate(url))
}

// click clicks on what a selector finds, in one step: news of the job may replace the element between two.
func (b *tab) click(t *testing.T, selector string) {
	t.Helper()
	const js = `(() => {
		const e = document.querySelector(%q)
		e.scrollIntoView({block: 'center', behavior: 'instant'})
		const r = e.getBoundingClientRect(), top = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)
		if (!e.contains(top)) return 'behind ' + (top ? top.outerHTML : 'the edge')
		top.click()
		return 'clicked'
	})()`
	if done := b.eval(t, fmt.Sprintf(js, selector)); done != "clicked" {
		t.Fatalf("%s is %s", selector, done)
	}
}

// eval returns the value of an expression as text.
func (b *tab) eval(t *testing.T, js string) string {
	t.Helper()
	return get(t, b, chromedp.Evaluate[string]("String("+js+")"))
}

// wait waits until an expression is true.
func (b *tab) wait(t *testing.T, js string) {
	t.Helper()
	_, err := chromedp.Run(b, chromedp.Poll[chromedp.Void](js, chromedp.WithPollingInterval(pause), chromedp.WithPollingTimeout(patience)))
	if err != nil {
		text, _ := chromedp.Run(b, chromedp.Evaluate[string](`document.body ? document.body.innerText : "no page"`))
		t.Fatalf("%s never comes true (%v), the page is\n%s", js, err, text)
	}
}

// shoot leaves a picture of the whole page, if that is wanted.
func (b *tab) shoot(t *testing.T, name string) {
	if *shots == "" {
		return
	}
	png := get(t, b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644); err != nil {
		t.Error(err)
	}
}

// check checks that every request began with prefix, and that the browser has complained about nothing.
func (b *tab) check(t *testing.T, prefix string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) == 0 {
		t.Error("the tab has asked for nothing")
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, prefix) && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			t.Errorf("a request went to %s", url)
		}
	}
	for _, p := range b.problems {
		t.Error(p)
	}
}

// count returns how many requests there were.
func (b *tab) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.requests)
}

// programs are pgasrun and what it runs, built once.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gopgas-ui-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-C", "../..", "-o", dir+"/", "./cmd/pgasrun", "./cmd/pgasrun/testdata/hung", "./samples/gups", "./samples/heat")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	if dir, _ := programs(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// job is a running job with a page.
type job struct {
	url    string
	cmd    *exec.Cmd
	stderr output
	ended  chan struct{}
}

// output is what a program has printed.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start starts pgasrun -ui auto with these arguments, of which the first that names a program is one of programs.
func start(t *testing.T, flags []string, program string, args ...string) *job {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	argv := slices.Concat([]string{"-ui", "auto"}, flags, []string{filepath.Join(dir, program)}, args)
	j := &job{cmd: exec.Command(filepath.Join(dir, "pgasrun"), argv...), ended: make(chan struct{})}
	j.cmd.Stderr = &j.stderr
	if err := j.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		j.cmd.Wait()
		close(j.ended)
	}()
	t.Cleanup(func() {
		j.cmd.Process.Kill()
		<-j.ended
	})
	for until := time.Now().Add(patience); j.url == ""; time.Sleep(10 * time.Millisecond) {
		if _, after, ok := strings.Cut(j.stderr.String(), "pgasrun: the page of this job is "); ok && strings.Contains(after, "\n") {
			j.url, _, _ = strings.Cut(after, "\n")
		} else if time.Now().After(until) {
			t.Fatalf("pgasrun says of no page: %s", &j.stderr)
		}
	}
	return j
}

// end waits for the end of the job, and returns its status.
func (j *job) end(t *testing.T) int {
	t.Helper()
	select {
	case <-j.ended:
	case <-time.After(patience):
		t.Fatal("pgasrun does not end")
	}
	return j.cmd.ProcessState.ExitCode()
}
