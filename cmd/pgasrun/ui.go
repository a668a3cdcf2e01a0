package main

// -ui: the page of the job, while it runs and as a file at the end. Whatever is wrong with either, the job itself goes
// on.

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasrun/ui"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// pageFlag is what -ui asks for.
type pageFlag struct {
	addr string // where the page is shown; "": nowhere
	file string // where it is saved; "": nowhere
}

// String is that of flag.Value.
func (f *pageFlag) String() string { return f.addr }

// Set takes an address, or save:FILE. It is that of flag.Value.
func (f *pageFlag) Set(text string) error {
	file, save := strings.CutPrefix(text, "save:")
	switch {
	case text == "" || save && file == "":
		return errors.New("write auto, a port, host:port, or save:FILE")
	case save:
		f.file = file
	default:
		f.addr = text
	}
	return nil
}

// jobPage is the page of one job.
type jobPage struct {
	asked  pageFlag
	news   io.Writer
	page   *ui.Page
	server *ui.Server // nil: nobody can look at it
	file   *newFile   // nil: it is not kept
}

// open makes the page, and says where it is.
func (p *jobPage) open(job *launch.Spec) error {
	p.page = ui.New(ui.Job{Program: job.Program, Args: job.Args, PEs: npes(job.Hosts), Began: time.Now()})
	if p.asked.addr != "" {
		var err error
		if p.server, err = p.page.Listen(p.asked.addr); err != nil {
			p.say("-ui: %v; the job runs without a page", err)
		} else {
			p.say("the page of this job is %s", p.server.URL)
		}
	}
	if p.asked.file != "" {
		var err error
		if p.file, err = createFile(p.asked.file); err != nil {
			p.say("-ui save: %v; the page is not saved", err)
		}
	}
	return nil
}

// attach has the launcher tell the page of the job, if there is anything to show it with.
func (p *jobPage) attach(job *launch.Spec) {
	if p.server == nil && p.file == nil {
		return
	}
	job.Live = bothLive(job.Live, p.page.Watch)
	job.Output = bothOutputs(job.Output, func(pe int, _ launch.Stream, piece []byte) { p.page.Output(pe, piece) })
}

func (p *jobPage) say(format string, args ...any) {
	fmt.Fprintf(p.news, "pgasrun: "+format+"\n", args...)
}

// finish tells the page how the job has ended, and keeps it.
func (p *jobPage) finish(end *ending) {
	p.page.End(outcomeOf(end))
	if p.file != nil {
		p.save()
	}
	if p.server != nil {
		p.server.Close()
	}
}

func (p *jobPage) save() {
	if err := p.file.replace(p.page.Save(p.file.temp)); err != nil {
		p.file.discard()
		p.say("-ui save: %s cannot be written: %v: the page is not saved", p.file.path, err)
		return
	}
	p.say("the page is saved in %s", p.file.path)
}

// outcomeOf says how a job has ended, as pgasrun does.
func outcomeOf(end *ending) ui.Outcome {
	o := ui.Outcome{State: ui.Failed, Status: end.status}
	switch {
	case errors.As(end.err, new(errTimeout)):
		o.State = ui.TimedOut
	case end.err == nil && end.status == 0:
		o.State, o.Report = ui.Succeeded, "All PEs have ended with exit status 0."
	case end.First != nil && end.First.AfterUserSignal():
		o.State = ui.Interrupted
	}
	if end.First != nil {
		o.Report = end.First.String()
	}
	if end.err != nil {
		o.Report = end.err.Error() + "\n" + o.Report
	}
	return o
}
