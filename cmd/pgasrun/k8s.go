package main

// pgasrun k8s: the objects that make Kubernetes start pods, each of which runs pgasrun static.

import (
	"errors"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasrun/k8s"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

const k8sHelp = `pgasrun k8s prints the objects of a job for Kubernetes, and starts nothing.

usage: pgasrun k8s [flags] PROGRAM [ARGS]

  pgasrun k8s -image reg/app -n 8 -pods 2 /app/app | kubectl create -f -
                                                 eight PEs in two pods

PROGRAM is a path in the image, which has pgasrun, too (pgasgen init writes a Containerfile). What is printed begins with the
commands that follow, wait for and remove the job. docs/use/kubernetes.md says more.

`

const usageClaim = "a PersistentVolumeClaim, ReadWriteMany, in which the program keeps what it saves (package ckpt); " +
	"pods that fail or are evicted are started again, and the job goes on: the `name` of the claim"

// k8sOptions are the command line of pgasrun k8s.
type k8sOptions struct {
	job      k8s.Spec
	exported assignments
}

// insteadOfK8s says what to do in place of flags of a job that mean nothing to Kubernetes.
var insteadOfK8s = map[string]string{
	"dry-run": "leave it out: pgasrun k8s prints the objects and starts nothing",
	"output":  "kubectl logs has what pods print, and -tag says of which PE",
	"wdir":    "PEs start in the working directory of the image, which its WORKDIR sets",
	"pprof":   "nothing collects profiles from pods: set " + boot.EnvProfiles + " to a directory of a volume that they have",
	"metrics": "a program serves its own with package metrics",
	"topo":    retired["topo"],
	"restart": "with -checkpoint Kubernetes starts pods again",
}

func (o *k8sOptions) flags() *flagSet {
	instead := maps.Clone(insteadOfK8s)
	for name := range retired {
		if now, is := strings.CutPrefix(name, "k8s-"); is {
			instead[name] = "write -" + now
		}
	}
	s := newFlags("pgasrun k8s", "Kubernetes chooses the hosts and starts the pods; `pgasrun k8s -h` lists the flags", instead)
	const job, pods = "flags of the job", "flags of its pods"
	s.number(job, &o.job.PEs, "n", "run `N` PEs; must be given")
	o.job.Pods = 1
	s.number(job, &o.job.Pods, "pods", "divide the PEs among `N` pods: each is a host of the job")
	s.text(job, &o.job.Name, "name", "`name` of the job and all that belongs to it (default: the program's)")
	s.text(job, &o.job.Namespace, "namespace", "`namespace` of Kubernetes (default: kubectl's)")
	s.text(job, &o.job.Queue, "queue", "local `queue` of Kueue, which starts all pods at once when there is room")
	s.truth(job, &o.job.JobSet, "jobset", "print a JobSet instead of a Job")
	s.period(job, &o.job.Timeout, "timeout", "Kubernetes ends a job that runs longer than `time`")
	s.text(pods, &o.job.Image, "image", "`image` that has pgasrun and PROGRAM; must be given")
	s.text(pods, &o.job.PullPolicy, "pull", "when nodes pull the image: `Always`, IfNotPresent or Never (default: Kubernetes')")
	s.text(pods, &o.job.CPU, "cpu", "`CPUs` of a pod (default: one for each of its PEs)")
	s.text(pods, &o.job.Memory, "memory", "`memory` of a pod with its PEs' heaps, such as 8Gi (default: 1Gi for each PE)")
	s.text(pods, &o.job.Claim, "checkpoint", usageClaim)
	s.value(pods, &o.exported, "x", usageX)
	s.truth(pods, &o.job.Tag, "tag", usageTag)
	s.period(pods, &o.job.Grace, "grace", usageGrace+" (default: 30s)")
	return s
}

// k8sUsage is what -h prints.
func k8sUsage() string { return k8sHelp + new(k8sOptions).flags().help() }

// runK8s is pgasrun k8s.
func runK8s(args []string, out io.Writer) (int, error) {
	var o k8sOptions
	s := o.flags()
	if err := s.parse(args); err != nil {
		return statusUsage, err
	}
	switch {
	case s.NArg() == 0:
		return statusUsage, errors.New("k8s: no PROGRAM given: name its path in the image, as `pgasrun k8s -h` shows")
	case !s.given("n"):
		return statusUsage, errors.New("k8s needs the number of PEs: add -n 8, and -pods 2 for two pods")
	}
	if _, err := checkSettings(o.exported); err != nil {
		return statusUsage, err
	}
	o.job.Program, o.job.Args = s.Arg(0), s.Args()[1:]
	o.job.Env = map[string]string{}
	for _, kv := range (&launch.Spec{Env: o.exported}).Environ() {
		name, value, _ := strings.Cut(kv, "=")
		o.job.Env[name] = value
	}
	if within, err := time.ParseDuration(o.job.Env[boot.EnvBootTimeout]); err == nil {
		o.job.Assembly = within
	}
	delete(o.job.Env, boot.EnvBootTimeout)
	if o.job.Claim != "" {
		delete(o.job.Env, boot.EnvCheckpoint)
	}
	if err := k8s.Write(out, o.job); err != nil {
		return statusUsage, err
	}
	return 0, nil
}
