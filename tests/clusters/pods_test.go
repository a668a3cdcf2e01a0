package clusters

// A job of Kubernetes without Kubernetes: hosts of these tests run what the pods of the manifest would, with the user,
// the variables, the files and the resolver that it gives them.

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// manifest is what these tests need of the objects that `pgasrun k8s` prints.
type manifest struct {
	Kind string
	Data map[string]string
	Spec struct {
		Completions          int
		BackoffLimitPerIndex int
		PodFailurePolicy     struct{ Rules []podRule }
		Template             struct {
			Spec struct {
				Subdomain       string
				SecurityContext struct{ RunAsUser, RunAsGroup, FSGroup int }
				Containers      []struct {
					Command      []string
					Env          []struct{ Name, Value string }
					VolumeMounts []struct{ Name, MountPath string }
				}
				Volumes []struct {
					Name   string
					Secret struct{ DefaultMode uint32 }
				}
			}
		}
	}
}

// podRule is a rule of the manifest for pods that have failed.
type podRule struct {
	Action      string
	OnExitCodes struct {
		Operator string
		Values   []int
	}
	OnPodConditions []struct{ Type string }
}

// pods are the pods of a job.
type pods struct {
	t      *testing.T
	job    manifest
	secret map[string]string
	dns    *clusterDNS
	name   string // of the job
	claim  string // the directory that stands for the volume of -checkpoint
}

// newPods has pgasrun print a job of four PEs in two pods, of a program with arguments, which flags may precede. The
// resolvers know none of them yet.
func newPods(t *testing.T, command ...string) *pods {
	t.Helper()
	needHosts(t)
	if err := os.Chmod(dir, 0o755); err != nil { // the PEs are not root's
		t.Fatal(err)
	}
	argv := append([]string{"k8s", "-image", "image", "-n", "4", "-pods", "2"}, command...)
	cmd := exec.CommandContext(hangContext(t), bin+"/pgasrun", argv...)
	cmd.Env = append(os.Environ(), "PGAS_HEAP_MAX=64m")
	o := run(t, cmd)
	if o.status != 0 {
		t.Fatal(o)
	}
	program := slices.IndexFunc(command, filepath.IsAbs)
	p := &pods{t: t, name: filepath.Base(command[program]), dns: &clusterDNS{pods: map[string]string{}, asked: map[string]int{}}}
	for objects := yaml.NewDecoder(strings.NewReader(o.out)); ; {
		var o map[string]any
		if objects.Decode(&o) != nil {
			break
		}
		var m manifest
		if b, err := json.Marshal(o); err != nil || json.Unmarshal(b, &m) != nil { // which ignores the case of names
			t.Fatal(o, err)
		}
		switch m.Kind {
		case "Secret":
			p.secret = m.Data
		case "Job":
			p.job = m
		}
	}
	if p.job.Spec.Completions != 2 || len(p.secret) != 2 {
		t.Fatalf("not a job of two pods: %v", o)
	}
	resolve(t, p.dns)
	return p
}

// publish has the resolvers answer for pod i, which is on a host.
func (p *pods) publish(i, host int) {
	p.dns.publish(fmt.Sprintf("%s-%d.%s", p.name, i, p.job.Spec.Template.Spec.Subdomain), hosts.Addresses[host])
}

// files writes what the pod's volume of the Secret has, with its mode and group, and returns where.
func (p *pods) files() string {
	p.t.Helper()
	at, err := os.MkdirTemp(dir, "pod")
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.Chmod(at, 0o755); err != nil {
		p.t.Fatal(err)
	}
	spec := p.job.Spec.Template.Spec
	for name, value := range p.secret {
		content, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			p.t.Fatal(err)
		}
		path := filepath.Join(at, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			p.t.Fatal(err)
		}
		if err := os.Chown(path, 0, spec.SecurityContext.FSGroup); err != nil {
			p.t.Fatal(err)
		}
		if err := os.Chmod(path, os.FileMode(spec.Volumes[0].Secret.DefaultMode)); err != nil {
			p.t.Fatal(err)
		}
	}
	return at
}

// pod returns the command of the container of pod i, on a host. Its volume is elsewhere than the manifest has it, since
// the host has other files in the same place.
func (p *pods) pod(i, host int, env ...string) *exec.Cmd {
	p.t.Helper()
	spec := p.job.Spec.Template.Spec
	c := spec.Containers[0]
	user := []string{"setpriv", "--clear-groups", fmt.Sprint("--reuid=", spec.SecurityContext.RunAsUser), fmt.Sprint("--regid=", spec.SecurityContext.RunAsGroup)}
	argv := append([]string{"netns", "exec", hosts.Names[host]}, append(user, c.Command...)...)
	cmd := exec.CommandContext(hangContext(p.t), "ip", argv...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	at := p.files()
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "TESTS=" + dir}
	for _, e := range c.Env {
		if e.Name == "PGAS_HOST" { // from the pod's annotation
			e.Value = strconv.Itoa(i)
		}
		value := strings.ReplaceAll(e.Value, c.VolumeMounts[0].MountPath, at)
		if p.claim != "" {
			value = strings.ReplaceAll(value, c.VolumeMounts[2].MountPath, p.claim)
		}
		cmd.Env = append(cmd.Env, e.Name+"="+value)
	}
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// inPods is the job of the manifest. Its daemon is the first process of the pod.
var inPods = launcher{
	name: "pods",
	need: func(t testing.TB) { needHosts(t) },
	start: func(t *testing.T, _ string, argv ...string) []*exec.Cmd {
		p := newPods(t, argv...)
		p.publish(0, 0)
		p.publish(1, 1)
		return []*exec.Cmd{p.pod(0, 0), p.pod(1, 1)}
	},
	cancel: terminate,
	daemon: "pgasrun",
	report: []string{"pgasrun: PE 1 on host body-0.body (process ", "was killed by signal 9 (SIGKILL)"},
}

// TestPodsSlowDNS: pods start before the Service answers for each other, and it is slow.
func TestPodsSlowDNS(t *testing.T) {
	needHosts(t)
	p := newPods(t, bin+"/body")
	p.dns.delay = time.Second
	time.AfterFunc(2*time.Second, func() { p.publish(0, 0); p.publish(1, 1) })
	expectHello(t, start(t, p.pod(0, 0), p.pod(1, 1)), 4)
	p.dns.mu.Lock()
	defer p.dns.mu.Unlock()
	if p.dns.asked["body-0.body"] < 2 {
		t.Errorf("the resolver was asked for %v", p.dns.asked)
	}
}

// TestPodsNoDNS: a name that never resolves ends the start with one clear line.
func TestPodsNoDNS(t *testing.T) {
	needHosts(t)
	p := newPods(t, bin+"/body")
	both := func(timeout string) outcome { return start(t, p.pod(0, 0, timeout), p.pod(1, 1, timeout)) }
	expectMissing(t, both, 1,
		"1 of 4 processes have come within %s; missing: rank 1 (on body-0.body), 2 (on body-1.body), 3 (on body-1.body)",
		"lookup body-0.body on 127.0.0.1:53: no such host", "the headless Service of the job must exist")
	nothingLeft(t)
}

// TestPodEvicted: a pod that is asked to end has its contexts end, and the job ends.
func TestPodEvicted(t *testing.T) {
	needHosts(t)
	p := newPods(t, bin+"/body", "waits")
	p.publish(0, 0)
	p.publish(1, 1)
	zero, one := p.pod(0, 0), p.pod(1, 1)
	var rest sync.WaitGroup
	var other outcome
	rest.Go(func() { other = run(t, zero) })
	o := disturb(t, []*exec.Cmd{one}, 2, func(map[int]int) { terminate(t, "", []*exec.Cmd{one}) })
	rest.Wait()
	expect(t, o, failing, "PE 2: ", "PE 3: ")
	expect(t, other, failing, "body-1.body", "pgasrun: PE ")
	nothingLeft(t)
}

// TestPodStartedAgain: a pod that is started again is refused. While the first runs, the job goes on; when its host has
// gone without a word, the job ends.
func TestPodStartedAgain(t *testing.T) {
	needHosts(t)
	p := newPods(t, bin+"/body", "waits")
	p.publish(0, 0)
	p.publish(1, 1)
	var first, second sync.WaitGroup
	var zero, one outcome
	ready := make(chan struct{})
	pod0, pod1 := p.pod(0, 0), p.pod(1, 1)
	second.Go(func() { one = run(t, pod1) })
	first.Go(func() { zero = disturb(t, []*exec.Cmd{pod0}, 2, func(map[int]int) { close(ready) }) })
	<-ready
	expect(t, run(t, p.pod(1, 1)), 1, "rank 2 of this job is running already", "rank 3 of this job is running already")
	if pids := processes("body"); len(pids) != 4 {
		t.Errorf("%d PEs run beside the refused pod", len(pids))
	}
	link := func(state string) {
		out, err := exec.Command("ip", "-n", hosts.Bridge, "link", "set", "port1", state).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	link("down")
	p.publish(1, 2)
	expect(t, run(t, p.pod(1, 2)), 1, "if its host has failed, start the whole job anew")
	began := time.Now()
	first.Wait()
	t.Logf("the job has ended %v after the refusal", time.Since(began))
	expect(t, zero, failing, "PE 0: ", "PE 1: ", "on body-1.body has failed")
	link("up") // as when the kubelet is back: it ends what it still runs
	syscall.Kill(pod1.Process.Pid, syscall.SIGTERM)
	second.Wait()
	expect(t, one, failing, "PE 2: ", "PE 3: ")
	nothingLeft(t)
}
