package ui

import (
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestHungJob: the page of a job that hangs says why, and goes on while it is looked at; what the reader opens stays
// open; its last news is how the job has ended; and what is saved needs nothing else.
func TestHungJob(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	file := filepath.Join(t.TempDir(), "page.html")
	j := start(t, []string{"-n", "4", "-ui", "save:" + file}, "hung", "late")
	b.open(t, j.url)
	b.wait(t, `document.querySelector('#out-0')`)
	b.click(t, "#out-0 summary")
	b.wait(t, `document.querySelector('#out-0 pre')`)
	if text := b.eval(t, `document.querySelector('#out-0 pre').textContent`); text != "PE 0 has begun <b>late</b>" {
		t.Errorf("PE 0 has printed %q", text)
	}
	b.wait(t, `document.querySelector('#why')`)
	why := b.eval(t, `document.querySelector('#why').innerText`)
	for _, part := range []string{"3 PEs wait for PE 3", "PE 3 has computed for", "PE 0-2 wait for it: in barrier number", "hung/main.go:"} {
		if !strings.Contains(why, part) {
			t.Errorf("%q is missing in why the job hangs: %s", part, why)
		}
	}
	before := b.eval(t, `document.querySelector('#live').dataset.version`)
	b.eval(t, `window.mark = 1`)
	b.wait(t, `document.querySelector('#live').dataset.version > `+before+` + 1`)
	if b.eval(t, `document.querySelector('#out-0').open && window.mark`) != "1" {
		t.Error("an update has closed what was open, or loaded the page anew")
	}
	b.shoot(t, "hung4")
	j.cmd.Process.Signal(syscall.SIGTERM)
	b.wait(t, `document.querySelector('#report')`)
	if state := b.eval(t, `document.querySelector('#state').innerText`); !strings.HasPrefix(state, "interrupted, status ") {
		t.Errorf("in the end the job is %q", state)
	}
	if status := j.end(t); status == 0 {
		t.Error("status 0 of a job that was stopped")
	}
	origin := j.url[:strings.LastIndex(strings.TrimSuffix(j.url, "/"), "/")]
	b.check(t, origin)
	checkSaved(t, file)
}

// checkSaved checks that a saved page needs nothing else.
func checkSaved(t *testing.T, file string) {
	t.Helper()
	b := newTab(t)
	b.open(t, "file://"+file)
	b.wait(t, `document.querySelector('#live')`)
	text := b.eval(t, `document.body.textContent`)
	for _, part := range []string{"interrupted", "before the end: 3 PEs wait for PE 3", "was in barrier number", "PE 2 has begun <b>late</b>"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in the file", part)
		}
	}
	if n := b.eval(t, `document.querySelectorAll('script, link[href]:not([href^="data:"]), [src], #save').length`); n != "0" {
		t.Errorf("the file has %s references to others", n)
	}
	if color := b.eval(t, `getComputedStyle(document.querySelector('section')).borderTopStyle`); color != "solid" {
		t.Errorf("the file has no styles: borders are %q", color)
	}
	b.check(t, "file://"+file)
	b.shoot(t, "hung4-saved")
}

// TestDeadlock: a cycle is told as such.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	j := start(t, []string{"-n", "4"}, "hung", "locks")
	b.open(t, j.url)
	b.wait(t, `document.querySelector('#why')`)
	why := b.eval(t, `document.querySelector('#why').innerText`)
	if !strings.Contains(why, "The job hangs: PE 0-3 wait for each other") || !strings.Contains(why, "PE 1 waits for PE 2: in lock Lock[2]") {
		t.Errorf("of a deadlock of locks the page says: %s", why)
	}
	if state := b.eval(t, `document.querySelector('#state').innerText`); state != "hangs" {
		t.Errorf("the job is %q", state)
	}
	b.shoot(t, "locks4")
}

// TestTraffic: the map has what the PEs have moved; the last news of a job that succeeds says so; and the page can be
// saved from the browser when pgasrun has ended.
func TestTraffic(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	j := start(t, []string{"-n", "4"}, "gups", "-log", "16", "-updates", "60000000")
	b.open(t, j.url)
	b.wait(t, `document.querySelectorAll('svg.heat rect.cell').length === 32`)
	b.shoot(t, "gups4")
	b.click(t, `label[for="measure-1"]`)
	const other = `['#map-0', '#map-1'].map((m) => getComputedStyle(document.querySelector(m)).display).join() === 'none,block'`
	b.wait(t, other)
	b.wait(t, `document.querySelector('#live').dataset.ended`)
	if b.eval(t, other) != "true" {
		t.Error("updates of the page have switched the map back")
	}
	if status := j.end(t); status != 0 {
		t.Fatalf("status %d: %s", status, &j.stderr)
	}
	if state := b.eval(t, `document.querySelector('#state').innerText`); state != "succeeded" {
		t.Errorf("in the end the job is %q", state)
	}
	if text := b.eval(t, `document.querySelector('#text-0').textContent`); !strings.Contains(text, "all words are right") {
		t.Errorf("PE 0 has printed %q", text)
	}
	dir := t.TempDir()
	events := true
	_, err := chromedp.CallBrowser(b, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, EventsEnabled: &events})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan string, 1)
	err = chromedp.ListenBrowser(b, func(event any) {
		if e, ok := event.(*browser.EventDownloadProgress); ok && e.State == browser.DownloadProgressStateCompleted {
			done <- e.GUID
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.click(t, "#save")
	select {
	case <-done:
	case <-b.Done():
		t.Fatal("a click saves nothing")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.html"))
	if len(files) != 1 {
		t.Fatalf("saved %v", files)
	}
	b.open(t, "file://"+files[0])
	b.wait(t, `document.querySelectorAll('svg.heat rect.cell').length === 32 && getComputedStyle(document.querySelector('section')).borderTopStyle === 'solid'`)
}

// TestWithoutScript: the page loads itself anew where scripts are off.
func TestWithoutScript(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	j := start(t, []string{"-n", "2"}, "hung", "late")
	call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(t, j.url+"?out=1")
	see := func() (version, page string) {
		page, err := chromedp.Run(b, chromedp.OuterHTML(chromedp.CSS("#live")))
		if err != nil { // the page is being loaded
			return "", ""
		}
		_, version, _ = strings.Cut(page, `data-version="`)
		version, _, _ = strings.Cut(version, `"`)
		return version, page
	}
	first, page := see()
	for later := first; later == first || !strings.Contains(page, "PE 1 has begun"); time.Sleep(pause) {
		if b.Err() != nil {
			t.Fatalf("the page does not change: %s", page)
		}
		later, page = see()
	}
	u, _ := url.Parse(j.url)
	b.check(t, "http://"+u.Host)
}

// TestHiddenTab: a tab that is not seen asks for nothing.
func TestHiddenTab(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	j := start(t, []string{"-n", "2"}, "hung", "late")
	b.open(t, j.url)
	version := `document.querySelector('#live').dataset.version`
	b.wait(t, version+" > 3")
	b.eval(t, `Object.defineProperty(document, 'hidden', {configurable: true, get: () => true})`)
	b.eval(t, `document.dispatchEvent(new Event('visibilitychange'))`)
	// three seconds without news
	b.wait(t, `(() => { const v = `+version+`; if (window.seen !== v) { window.seen = v; window.times = 0 } return ++window.times > 60 })()`)
	asked := b.count()
	b.eval(t, `delete document.hidden`)
	b.eval(t, `document.dispatchEvent(new Event('visibilitychange'))`)
	b.wait(t, version+" > Number(window.seen) + 1")
	if b.count() == asked {
		t.Error("news came, but nothing was asked for")
	}
}

// TestManyPEs: 64 PEs fit: nothing is wider than the window, in dark either.
func TestManyPEs(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	j := start(t, []string{"-n", "64"}, "hung", "word")
	b.open(t, j.url)
	b.wait(t, `document.querySelector('#why') && document.querySelectorAll('table.pes tbody tr').length === 64`)
	for _, width := range []int64{1400, 700, 390} {
		b.size(t, width)
		if over := b.eval(t, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over != "0" {
			t.Errorf("in a window of %d the page is %s too wide", width, over)
		}
		if width == 390 {
			b.shoot(t, "hung64-narrow")
		}
	}
	b.size(t, 1400)
	b.shoot(t, "hung64")
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	b.shoot(t, "hung64-dark")
}

// size gives the window a width.
func (b *tab) size(t *testing.T, width int64) {
	t.Helper()
	call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 1000, DeviceScaleFactor: 1})
}
