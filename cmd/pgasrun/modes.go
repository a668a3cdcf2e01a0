package main

// The two modes in which pgasrun is not the launcher of a whole job: -static starts the PEs of this host alone, -k8s
// prints what makes Kubernetes start pods that do so.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasrun/k8s"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/join"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

const k8sPrefix = "k8s"

// k8sFlags declares the flags that describe a job to Kubernetes.
func (o *options) k8sFlags(fs *flag.FlagSet) {
	fs.BoolVar(&o.k8s, k8sPrefix, false, "with -dry-run: print the objects of an Indexed Job for kubectl; PROGRAM is a path in the image")
	fs.StringVar(&o.job.Image, "k8s-image", "", "`image` that has pgasrun and PROGRAM")
	fs.IntVar(&o.job.Pods, "k8s-pods", 1, "divide the PEs among `N` pods: each is a host of the job")
	fs.StringVar(&o.job.Name, "k8s-name", "", "`name` of the job and all that belongs to it (default: the program's)")
	fs.StringVar(&o.job.Namespace, "k8s-namespace", "", "`namespace` of Kubernetes (default: kubectl's)")
	fs.StringVar(&o.job.CPU, "k8s-cpu", "", "`CPUs` of a pod (default: one for each of its PEs)")
	fs.StringVar(&o.job.Memory, "k8s-memory", "", "`memory` of a pod with its PEs' heaps, such as 8Gi (default: 1Gi for each PE)")
	fs.StringVar(&o.job.Queue, "k8s-queue", "", "local `queue` of Kueue, which starts all pods at once when there is room")
	fs.BoolVar(&o.job.JobSet, "k8s-jobset", false, "print a JobSet instead of a Job")
	fs.StringVar(&o.job.PullPolicy, "k8s-pull", "", "when nodes pull the image: `Always`, IfNotPresent or Never (default: Kubernetes')")
}

// elsewhere are the flags that say on which hosts a launcher starts agents, and how.
var elsewhere = []string{"n", "hosts", "hostfile", "netns", "launch", "boot-addr", "stage", "fan-out", "connect-timeout"}

// checkModes returns an error if flags are given that mean nothing together.
func (o *options) checkModes() error {
	if err := o.checkNetns(); err != nil {
		return err
	}
	isK8s := func(name string) bool { return strings.HasPrefix(name, k8sPrefix+"-") }
	switch {
	case o.static && o.k8s:
		return errors.New("-static and -k8s: a pod runs the one, the other prints the pod; give one of them")
	case o.stats && (o.static || o.k8s):
		return errors.New("-stats needs pgasrun to start the whole job: without -static and -k8s")
	case o.metrics != "" && (o.static || o.k8s):
		return errors.New("-metrics needs pgasrun to start the whole job: without -static and -k8s; a program serves its own with package metrics")
	case o.trace != "" && (o.static || o.k8s):
		return errors.New("-trace needs pgasrun to start the whole job: without -static and -k8s")
	case (o.ui != "" || o.uiSave != "") && (o.static || o.k8s):
		return errors.New("-ui and -ui-save need pgasrun to start the whole job: without -static and -k8s")
	case slices.Contains(o.given, "stall") && (o.static || o.k8s):
		return errors.New("-stall needs pgasrun to start the whole job: without -static and -k8s")
	case o.trace == "" && o.traceEvents != 0:
		return errors.New("-trace-events without -trace: there is no trace for them")
	case o.static:
		for _, name := range o.given {
			if slices.Contains(elsewhere, name) || isK8s(name) || name == "dry-run" {
				return fmt.Errorf("-static with -%s: a static start has its hosts from PGAS_HOSTS, and starts no PEs but those of this one", name)
			}
		}
	case o.k8s:
		for _, name := range o.given {
			if slices.Contains(elsewhere, name) && name != "n" || name == "keep-going" || name == "unbound" || name == "v" {
				return fmt.Errorf("-k8s with -%s: Kubernetes chooses the hosts and starts the pods", name)
			}
		}
		if o.pprof != "" {
			return fmt.Errorf("-k8s with -pprof: nothing collects profiles from pods; set %s to a directory of a volume that they have", boot.EnvProfiles)
		}
		if o.output != "" {
			return errors.New("-k8s with -output: kubectl logs has what pods print, and -tag says of which PE")
		}
		if o.wdir != "" {
			return errors.New("-k8s with -wdir: PEs start in the working directory of the image, which its WORKDIR sets")
		}
		if !o.dryRun {
			return errors.New("-k8s prints the objects and starts nothing: write `pgasrun -k8s -dry-run …` and pipe it into `kubectl create -f -`")
		}
		if !o.nSet {
			return errors.New("-k8s needs the number of PEs: add -n 8, and -k8s-pods 2 for two pods")
		}
	case slices.ContainsFunc(o.given, isK8s):
		i := slices.IndexFunc(o.given, isK8s)
		return fmt.Errorf("-%s means nothing without -k8s -dry-run", o.given[i])
	}
	return nil
}

// placeStatic returns the hosts of a static start, and notes which of them this is.
func (o *options) placeStatic() ([]boot.Host, error) {
	hosts, index, err := join.StaticPlace(join.NewEnvironment(os.Environ()))
	o.index = index
	if err != nil {
		return nil, err
	}
	return hosts, launch.CheckHosts(hosts)
}

// printK8s prints the objects of the job.
func (o *options) printK8s(w io.Writer) int {
	if err := o.settings(); err != nil {
		return complain(err, statusUsage)
	}
	o.job.Program, o.job.Args, o.job.PEs = o.program, o.args, o.n
	o.job.Tag, o.job.Timeout = o.tag, o.timeout
	if slices.Contains(o.given, "grace") {
		o.job.Grace = o.grace
	}
	o.job.Env = map[string]string{}
	for _, kv := range (&launch.Spec{Env: o.environ()}).Environ() {
		name, value, _ := strings.Cut(kv, "=")
		o.job.Env[name] = value
	}
	if within, err := time.ParseDuration(o.job.Env[boot.EnvBootTimeout]); err == nil {
		o.job.Assembly = within
	}
	delete(o.job.Env, boot.EnvBootTimeout)
	if err := k8s.Write(w, o.job); err != nil {
		return complain(err, statusUsage)
	}
	return 0
}
