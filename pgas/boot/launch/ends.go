package launch

// How a job ends, and how it goes on after a failure.
//
// After a failure the PEs are asked to end, and killed after a while. With Spec.Survive, when a PE or a host was lost,
// all other PEs are killed at once, or their processes leave the term to take part in the next one (pgas.Survive), and
// the agents start the PEs of the next term. The agents stay, so that a term begins sooner than a job. An agent that is
// lost is started again on its host. Every term has a name and a secret of its own. So a process of an older term that
// was given up and comes back, as those of a host that the network had lost, is a stranger to the PEs of the next one.
//
// World.GlobalExit: a PE ends the job. All PEs are ended, whatever they are doing, and none of them may report the end
// of others as a failure. So the PEs of all hosts are stopped first, and killed when all are stopped.

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// endTerm begins the next term when the PEs of all hosts are gone, or ends the agents. Until then these serve the
// exchange to other hosts.
func (j *job) endTerm() {
	if slices.ContainsFunc(j.hosts, j.isAwaited) {
		return
	}
	if !j.goesOn() {
		j.stopInstead()
		j.endAgents()
		return
	}
	plan := j.successors()
	// the processes of a host that is used again are killed before
	if !slices.ContainsFunc(j.hosts, func(h *host) bool { return !h.gone && (h.lost || h.unfit != nil && !h.done) && plan.uses(h) }) {
		j.beginTerm(plan)
	}
}

// isAwaited reports whether a term has not ended on h, be it before its PEs were started.
func (j *job) isAwaited(h *host) bool {
	switch {
	case h.link == nil || h.done || h.gone:
		return false
	case h.lost && j.mayGoOn(): // another agent kills what is left there
		return false
	case j.lostHost != nil && !h.started:
		return !h.hasAnswered()
	}
	return true
}

// endAgents ends all agents. Commands of agents that stay for another term are killed after a while if they do not end:
// their hosts may be gone.
func (j *job) endAgents() {
	if !j.closing && j.killTimer == nil && j.spec.Survive > 0 {
		j.killSteps = 1
		j.killTimer = time.After(agentTime)
	}
	j.closeInputs()
}

// isOver reports whether the last term is over, and ends each term when that is.
func (j *job) isOver() bool {
	j.endTerm()
	return j.finished() || j.outputStuck
}

// finished reports whether every agent that was started is gone.
func (j *job) finished() bool {
	return !slices.ContainsFunc(j.all(), func(h *host) bool { return h.link != nil && !h.gone }) &&
		!slices.ContainsFunc(j.relays, func(r *relayLink) bool { return !r.ended })
}

// abort ends a job that cannot start. The first reason counts.
func (j *job) abort(err error) {
	if j.startErr == nil {
		j.startErr = err
	}
	j.lostHost = nil // no term follows
	j.closeInputs()
	j.killAgentsAfter(agentTime)
}

// killAgentsAfter arms the steps of kill.
func (j *job) killAgentsAfter(d time.Duration) {
	j.terminating = true
	j.killTimer = time.After(d)
}

// endOthers ends the other PEs after the failure of one, or, with Spec.KeepGoing, says what those that run on can do.
func (j *job) endOthers(failed int) {
	if !j.spec.KeepGoing {
		j.terminate()
		return
	}
	j.stderr.Notice(fmt.Sprintf("pgasrun: -keep-going: PE %d has failed, and the others run on: they compute and access the memory of those that are left, and whatever has to wait returns the error\n", failed))
}

// notifyOthers tells the PEs of all hosts but h of a failure: their blocked calls return an error.
func (j *job) notifyOthers(h *host, d frame.Death) {
	for _, other := range j.hosts {
		if other != h && other.started && !other.gone {
			other.send.SendValue(frame.ToFailed, d)
		}
	}
}

// terminate asks every PE to end, unless the user has just done so, and kills those that are left after Spec.Grace.
func (j *job) terminate() {
	if j.terminating {
		return
	}
	j.terminatedAt, j.peerTimer = boot.Clock(), nil
	j.killAgentsAfter(j.spec.Grace)
	j.continueAgents()
	if j.userSignal == 0 {
		j.signal(frame.ToTerminate, syscall.SIGTERM)
	}
}

// kill takes the next step when a request to end has not been enough. The first step kills the PEs, the second the
// agents' commands. The third gives up waiting for processes that hold the output open.
func (j *job) kill() {
	j.killSteps++
	j.killTimer = time.After(agentTime)
	if j.killedForTerm && j.mayGoOn() && !j.closing {
		j.killAwaited()
		return
	}
	switch j.killSteps {
	case 1:
		j.signal(frame.ToSignal, syscall.SIGKILL)
		j.closeInputs()
	case 2:
		j.killAgents()
	default:
		j.outputStuck = true
	}
}

// killAwaited kills the commands of the agents that have not ended their PEs, where another term may follow. The next
// step kills the relays through which they are reached, too, and the one after gives up waiting. What is killed on a
// host by another agent takes its time, and has a limit of its own.
func (j *job) killAwaited() {
	for _, h := range j.hosts {
		if h.link == nil || h.done || h.ended {
			continue
		}
		h.kill()
		for _, r := range j.relays {
			if j.killSteps > 2 && !r.ended && slices.Contains(h.via, r.host) {
				r.link.Signal(unix.SIGKILL)
			}
		}
		j.outputStuck = j.killSteps > 3
	}
}

// killAgents kills the commands of all agents, with the local processes that they have started.
func (j *job) killAgents() {
	for _, h := range j.all() {
		h.kill()
	}
	j.signalRelays(unix.SIGKILL)
}

// closeInputs makes every agent kill its PEs and end. A command that has not become an agent yet is ended: it may
// be anything, and need not read its input.
func (j *job) closeInputs() {
	j.closing = true
	for _, h := range j.all() {
		if h.link != nil {
			h.link.In.Close()
		}
		if h.ready == nil && h.link != nil && !h.gone && !(h.idle && h.greeted) {
			j.endCommand(h.link)
		}
	}
	j.closeRelays()
}

// signal sends sig to every PE; k is ToSignal or ToTerminate.
func (j *job) signal(k frame.Kind, sig syscall.Signal) {
	for _, h := range j.hosts {
		if h.started && !h.gone {
			h.send.Send(k, []byte{byte(sig)})
		}
	}
}

// mayGoOnAfter reports whether another term may follow the end of a PE: it was killed, or lost, which need not happen
// again. An error or a panic of the program would.
func mayGoOnAfter(d frame.Death) bool {
	switch {
	case d.Accused != nil || d.CauseClass() == frame.Consequence || d.CauseClass() == frame.AbortedInC:
		return true
	case d.CauseClass() == frame.OwnFailure:
		return d.Status.Signaled() && d.Reason == boot.EndUnknown
	}
	return false
}

// mayGoOn reports whether another term may follow this one, as far as the launcher itself and the user are concerned.
func (j *job) mayGoOn() bool { return j.userSignal == 0 && j.mayRecover() }

// mayRecover is mayGoOn without the signals of the user.
func (j *job) mayRecover() bool {
	return j.recoveries < j.spec.Survive && !j.globalExiting && !j.outputStuck && !j.isFailed()
}

// isFailed reports whether the launcher itself has ended the job for a reason that is not the loss of a host.
func (j *job) isFailed() bool { return j.startErr != nil && j.lostHost == nil }

// goesOn reports, when the PEs of a term are gone, whether another term follows.
func (j *job) goesOn() bool { return j.mayGoOn() && j.isRecoverable() }

// isRecoverable reports, when the PEs of a term are gone, whether the reason was the loss of a PE or a host, and no PE
// had left the job before, since its results may be out. If a host is lost, errors of PEs do not count: a PE that does
// not reach the exchange may have failed before, and an error of the program comes again in the next term.
func (j *job) isRecoverable() bool {
	if j.lostHost == nil && len(j.deaths) == 0 {
		return false
	}
	for _, d := range j.ended {
		if !d.Failed() {
			return false
		}
	}
	if j.lostHost != nil {
		return true
	}
	o, lost := j.rootCause(j.tails)
	return lost >= 0 || mayGoOnAfter(o.Death)
}

// stopInstead makes the end of a job that has got SIGTERM a stop, where its PEs could not save: PEs or a host were lost
// and another term would follow without the signal, or the PEs had only begun.
func (j *job) stopInstead() {
	switch {
	case j.stopped || j.userSignal != syscall.SIGTERM || j.hurried || !j.keepsCuts() || j.isFailed():
	case j.mayRecover() && j.isRecoverable():
		j.stop(j.whyTermEnded())
	case j.isEndedBySignal():
		j.stop("the PEs have ended before they could save")
	}
}

// isEndedBySignal reports whether all PEs have ended because they were asked to, and some of them before they could
// save. In the first term these are PEs that had only begun. A program may keep no cuts at all: it returns the error of
// its context, and it would be started again for ever. In a later term the PEs may have been going to restore a cut.
func (j *job) isEndedBySignal() bool {
	unsaved := false
	for _, d := range j.ended {
		if !d.Failed() && d.ExitStatus() != boot.StopStatus || d.Failed() && d.CauseClass() != frame.NoFailure {
			return false
		}
		unsaved = unsaved || d.Failed() && (d.Reason == boot.EndUnknown || j.recoveries > 0)
	}
	return unsaved && len(j.ended) == j.npes
}

// keepsCuts reports whether the job has a directory for cuts, which a job that is started next finds.
func (j *job) keepsCuts() bool { return j.spec.settings.Checkpoint != "" }

// stop notes that SIGTERM ends the job while no PE can save. The status is as after a save.
func (j *job) stop(why string) {
	j.stopped = true
	j.stderr.Notice(fmt.Sprintf("pgasrun: %s: SIGTERM ends the job; when it is started again it goes on from its newest cut, if there is one\n", why))
}

// cannotRun handles that h cannot run the PEs of this term. In the first term that ends the job, so that the user
// mends it.
func (j *job) cannotRun(h *host, err error) {
	if j.recoveries == 0 || j.terminating && !j.killedForTerm || !j.mayGoOn() || !(plan{}).retire(h, j.hosts, j.idle, j.spec.SurviveMin) {
		j.abort(err)
		return
	}
	h.unfit = err
	if h.link != nil && !h.gone {
		j.endCommand(h.link) // the next term does not wait for it
	}
	j.lose(h, err)
}

// lose ends a term that has lost h.
func (j *job) lose(h *host, err error) {
	j.status = max(j.status, 1)
	if j.startErr == nil {
		j.startErr, j.lostHost = err, h
	}
	if h.started {
		j.killForTerm()
	}
}

// handleLostUnstarted handles the end of h's agent when it has not been told yet to start the PEs of this term.
func (j *job) handleLostUnstarted(h *host, err error) {
	switch {
	case h.unfit != nil:
	case j.recoveries == 0 || j.terminating || !j.mayGoOn():
		j.abort(h.endError(err))
	case !h.greeted:
		j.cannotRun(h, h.endError(err))
	default:
		h.lost, h.lostAlone = true, !j.relayIsLost(h)
		j.lose(h, h.endError(err))
	}
}

// killForTerm ends the PEs of a term that may be followed by another: agents kill those whose processes do not outlive
// it.
func (j *job) killForTerm() {
	j.terminatedAt, j.peerTimer = boot.Clock(), nil
	j.killedForTerm = true
	j.killSteps = 1 // the next is for agents that do not do it
	j.killAgentsAfter(termTime + j.spec.Grace)
	j.continueAgents()
	for _, h := range j.hosts {
		if h.started && !h.gone {
			h.send.Send(frame.ToEndTerm)
		}
	}
}

// agentTime is how long an agent may take to kill its PEs and to say so. Where a term follows it may take termTime: the
// images of its host end with it, and the kernel may need that long to free the memory of PEs.
const (
	agentTime = 5 * time.Second
	termTime  = time.Minute
)

// beginTerm begins the next term, in which spares take the places of hosts, or hosts are dropped, as p says.
func (j *job) beginTerm(p plan) {
	if err := refusal(j.hosts, p, j.startErr); err != nil {
		j.startErr = err
		j.abort(err)
		return
	}
	lost, before, why := j.lostHost, slices.Clone(j.hosts), j.whyTermEnded()
	for _, h := range before {
		if err := j.startPlace(h, p); err != nil {
			j.abort(err)
			return
		}
	}
	j.renumber(p)
	j.recoveries++
	j.stderr.Notice(fmt.Sprintf("pgasrun: %s: %s (%d of %s)\n", why, p.describe(lost, before), j.recoveries, plural.Count(j.spec.Survive, "time")))
	j.reset()
	j.inputOver.Store(true)
	j.connect.Reset(j.spec.ConnectTimeout)
	if j.live != nil {
		j.live.beginTerm(j.hosts)
	}
	for _, h := range j.hosts {
		h.hostTerm = hostTerm{}
		if h.greeted {
			j.sendConfig(h)
		}
	}
}

// startPlace sees to an agent for h's place in the next term, unless h is dropped: h's own, another one on h, or that
// of a spare. It adds h to p if another one cannot be started. Agents that do not run yet are told of the term when
// they greet.
func (j *job) startPlace(h *host, p plan) error {
	if p.uses(h) && h.gone {
		h.forget()
		h.mark = j.newMark()
		l, err := j.spec.start(h.agent)
		if err == nil {
			h.hostTerm, h.via, h.greeted, h.answered = hostTerm{}, nil, false, false
			j.follow(h, l)
			return nil
		}
		if !p.retire(h, j.hosts, j.idle, j.spec.SurviveMin) {
			return fmt.Errorf("host %s: %w", h.Name, err)
		}
	}
	if s := p[h]; s != nil {
		j.replace(h, s)
	}
	if !p.uses(h) {
		j.dismiss(h)
	}
	return nil
}

// successors returns which spares take the places of which hosts in the next term, and which hosts are dropped.
func (j *job) successors() plan {
	var killed *host
	if j.lostHost == nil && len(j.deaths) > 0 {
		o, lost := j.rootCause(j.tails)
		if killed = o.host; lost >= 0 {
			killed = j.hostOf(lost)
		}
	}
	if !j.counted {
		j.counted = true
		countFailures(j.hosts, killed, j.runningSince)
	}
	return successors(j.hosts, j.idle, j.spec.SurviveMin)
}

// replace gives h's place to s.
func (j *job) replace(h, s *host) {
	j.idle = slices.DeleteFunc(j.idle, func(o *host) bool { return o == s })
	s.PEs = h.PEs
	s.idle, s.spare, s.substitute = false, false, true
	j.hosts[h.index] = s
}

// renumber drops the hosts that p drops, and numbers the hosts of the next term and their PEs.
func (j *job) renumber(p plan) {
	j.hosts = slices.DeleteFunc(slices.Clone(j.hosts), p.drops)
	j.npes, j.spec.Hosts = 0, nil // a configuration that is being sent has the old hosts
	for i, h := range j.hosts {
		h.index, h.First = i, j.npes
		j.npes += h.PEs
		j.spec.Hosts = append(j.spec.Hosts, h.Host)
	}
}

// dismiss ends the agent of h, which has lost its place.
func (j *job) dismiss(h *host) {
	h.idle, h.spare = true, false
	j.idle = append(j.idle, h)
	if h.ended {
		return
	}
	h.link.In.Close()
	if h.unfit != nil || len(h.via) > 0 { // a relay closes no input of one host
		j.endCommand(h.link)
	}
}

// whyTermEnded says why the PEs of a term are gone, in one line.
func (j *job) whyTermEnded() string {
	if j.lostHost != nil && j.lostHost.unfit != nil {
		return j.lostHost.unfit.Error()
	}
	if j.lostHost != nil {
		return fmt.Sprintf("host %s is lost", j.lostHost.Name)
	}
	report := j.report(j.hosts, j.tails).String()
	line, _, _ := strings.Cut(report, "\n")
	return line
}

// sendConfig sends h's agent its configuration, which may be longer than a pipe holds.
func (j *job) sendConfig(h *host) { go h.send.SendValue(frame.ToConfig, j.config(h)) }

// outputTime is how long agents may take to pass on the last output.
const outputTime = 5 * time.Second

// handleGlobalExit begins the end of the job, for a PE of h that called GlobalExit. If a PE has failed before, that
// remains the reason.
func (j *job) handleGlobalExit(h *host, x frame.GlobalExit) {
	j.spec.Logf("host %s: PE %d ends the job with status %d", h.Name, x.PE, x.Status)
	if !j.globalExiting {
		j.globalExiting = true
		j.status = x.Status
		if len(j.deaths) > 0 {
			first, _ := j.rootCause(j.tails)
			j.status = max(x.Status, first.Death.ExitStatus())
		}
		j.killAgentsAfter(j.spec.Grace)
		for _, other := range j.hosts {
			if other != h && other.running() {
				other.send.Send(frame.ToStop)
			}
		}
	}
	j.killWhenStopped()
}

// killWhenStopped kills all PEs when those of every host have been stopped. The agents remain, to pass on
// what the PEs have written.
func (j *job) killWhenStopped() {
	if !j.globalExiting || j.globalExitKilled {
		return
	}
	for _, h := range j.hosts {
		if h.running() && !h.stopped {
			return
		}
	}
	j.globalExitKilled = true
	j.signal(frame.ToSignal, syscall.SIGKILL)
	j.killAgentsAfter(outputTime)
}
