package main

// -ui and -ui-save: the page of the job, while it runs and as a file at the end. Whatever is wrong with either, the job itself goes
// on.

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasrun/ui"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// jobPage is the page of one job.
type jobPage struct {
	page   *ui.Page
	server *ui.Server // nil: nobody can look at it
	file   *newFile   // nil: it is not kept
	news   io.Writer
}

// openPage makes the page that the flags ask for, has the job tell it what it needs, and says where it is. It returns nil if there
// is none.
func openPage(o *options, spec *launch.Spec, news io.Writer) *jobPage {
	if o.ui == "" && o.uiSave == "" {
		return nil
	}
	job := ui.Job{Program: spec.Program, Args: spec.Args, PEs: npes(spec.Hosts), Began: time.Now()}
	p := &jobPage{page: ui.New(job), news: news}
	if o.ui != "" {
		var err error
		if p.server, err = p.page.Listen(o.ui); err != nil {
			p.say("-ui: %v; the job runs without a page", err)
		} else {
			p.say("the page of this job is %s", p.server.URL)
		}
	}
	if o.uiSave != "" {
		var err error
		if p.file, err = createFile(o.uiSave); err != nil {
			p.say("-ui-save: %v; the page is not saved", err)
		}
	}
	if p.server == nil && p.file == nil {
		return nil
	}
	spec.Live, spec.Output = both(spec.Live, p.page.Watch), bothOutputs(spec.Output, func(pe int, _ launch.Stream, piece []byte) { p.page.Output(pe, piece) })
	return p
}

// both returns a launch.Spec.Live that tells two of the job; a may be nil.
func both(a, b func(now func() launch.Snapshot)) func(now func() launch.Snapshot) {
	if a == nil {
		return b
	}
	return func(now func() launch.Snapshot) {
		a(now)
		b(now)
	}
}

func (p *jobPage) say(format string, args ...any) {
	fmt.Fprintf(p.news, "pgasrun: "+format+"\n", args...)
}

// finish tells the page how the job has ended, and keeps it.
func (p *jobPage) finish(res launch.Result, status int, err error) {
	p.page.End(outcomeOf(res, status, err))
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
		p.say("-ui-save: %s cannot be written: %v: the page is not saved", p.file.path, err)
		return
	}
	p.say("the page is saved in %s", p.file.path)
}

// outcomeOf says how a job has ended, as pgasrun does.
func outcomeOf(res launch.Result, status int, err error) ui.Outcome {
	o := ui.Outcome{State: ui.Failed, Status: status}
	switch {
	case errors.As(err, new(errTimeout)):
		o.State = ui.TimedOut
	case err == nil && status == 0:
		o.State, o.Report = ui.Succeeded, "All PEs have ended with exit status 0."
	case res.First != nil && res.First.AfterUserSignal():
		o.State = ui.Interrupted
	}
	if res.First != nil {
		o.Report = res.First.String()
	}
	if err != nil {
		o.Report = err.Error() + "\n" + o.Report
	}
	return o
}
