package k8s

// The objects of a job. Nothing in them needs a role: no pod talks to the API server.

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
)

// Labels of Kubernetes and of those that start jobs in its place.
const (
	nameLabel  = "app.kubernetes.io/name"
	jobLabel   = "app.kubernetes.io/instance"
	byLabel    = "app.kubernetes.io/managed-by"
	queueLabel = "kueue.x-k8s.io/queue-name"
	indexField = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
)

// Where a pod finds what the job's Secret has.
const (
	secretDir  = "/etc/pgas"
	secretKey  = "secret"
	hostsKey   = "hosts"
	secretMode = 0o440 // with fsGroup: of root, for the group of the PEs
)

// claimDir is where a pod has the volume of a claim. Each job has a directory of its name there, so that several have
// the claim in common, and a job that is printed anew finds what it has saved.
const claimDir = "/checkpoint"

// replicated is the name of a JobSet's only job.
const replicated = "pes"

// Write prints the objects of the job that s describes, as YAML, with a new secret: what a process knows of a job that
// has ended, or of another one of the same name, is of no use in this one. It returns an error if s cannot be a job, or
// that of w.
func Write(w io.Writer, s Spec) error {
	if err := s.complete(); err != nil {
		return err
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	return s.write(w, secret)
}

func (s *Spec) write(w io.Writer, secret []byte) error {
	if _, err := io.WriteString(w, s.header()); err != nil {
		return err
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	for _, o := range s.objects(secret) {
		if err := enc.Encode(o); err != nil {
			return err
		}
	}
	return enc.Close()
}

func (s *Spec) header() string {
	kind := "job"
	if s.JobSet {
		kind = "jobset"
	}
	again := "for another, delete this one and print the file anew."
	if s.Claim != "" {
		again = "to go on after that, or for another, delete this one and print the file anew."
	}
	return fmt.Sprintf("# %s of %s in %s. `kubectl create -f FILE` starts them, `kubectl delete -f FILE` removes them and their logs.\n"+
		"# `kubectl logs -f -l %s=%s --prefix` follows what they print; `kubectl wait --for=condition=Complete %s/%s` waits.\n"+
		"# The secret is for one run: %s\n",
		plural.Count(s.PEs, "PE"), s.Program, plural.Count(s.Pods, "pod"), jobLabel, s.Name, kind, s.Name, again)
}

func (s *Spec) objects(secret []byte) []object {
	hosts := s.hosts()
	var lines strings.Builder
	for i, h := range hosts {
		fmt.Fprintf(&lines, "%s:%d\n", h, s.hostPEs[i])
	}
	objects := []object{
		{APIVersion: "v1", Kind: "Secret", Metadata: s.metadata(), Type: "Opaque", Immutable: true, Data: map[string]binary{secretKey: secret, hostsKey: []byte(lines.String())}},
		{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy", Metadata: s.metadata(), Spec: networkPolicySpec{
			PodSelector: s.selector(),
			PolicyTypes: []string{"Ingress"},
			Ingress:     []ingressRule{{From: []policyPeer{{PodSelector: s.selector()}}}},
		}},
	}
	meta := s.metadata()
	if s.Queue != "" {
		meta.Labels[queueLabel] = s.Queue
	}
	if s.JobSet {
		return append(objects, object{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Metadata: meta, Spec: jobSetSpec{
			Network:        jobSetNetwork{EnableDNSHostnames: true, Subdomain: s.Name, PublishNotReadyAddresses: true},
			FailurePolicy:  s.failurePolicy(),
			Suspend:        s.Queue != "",
			ReplicatedJobs: []replicatedJob{{Name: replicated, Replicas: 1, Template: jobTemplate{s.job(hosts[0], "", false)}}},
		}})
	}
	service := object{APIVersion: "v1", Kind: "Service", Metadata: s.metadata(), Spec: serviceSpec{
		ClusterIP: "None", PublishNotReadyAddresses: true, Selector: s.labels(), Ports: []servicePort{{Name: "exchange", Port: port}},
	}}
	return append(objects, service, object{APIVersion: "batch/v1", Kind: "Job", Metadata: meta, Spec: s.job(hosts[0], s.Name, s.Queue != "")})
}

// hosts returns the name of each pod, as the headless Service of the job answers for it, or that of the JobSet.
func (s *Spec) hosts() []string {
	prefix := s.Name + "-"
	if s.JobSet {
		prefix += replicated + "-0-"
	}
	names := make([]string, s.Pods)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i) + "." + s.Name
	}
	return names
}

// labels returns those that are on all pods of the job, and on no other.
func (s *Spec) labels() map[string]string {
	return map[string]string{jobLabel: s.Name, byLabel: "pgasrun"}
}

func (s *Spec) selector() selector { return selector{s.labels()} }

func (s *Spec) metadata() metadata {
	labels := s.labels()
	labels[nameLabel] = "gopgas"
	return metadata{Name: s.Name, Namespace: s.Namespace, Labels: labels}
}

// job returns the Indexed Job. Every pod that fails, or is evicted, fails the whole: a PE cannot be started again.
//
// A job that saves goes on. When a pod has failed, the PEs of the others find that out and end, so each pod of the job
// fails, and each is started again. The limit is one for each index: with one for all of them Kubernetes would take the
// pods of a single failure for as many failures, and double the time until it starts them with each.
func (s *Spec) job(first, subdomain string, suspend bool) jobSpec {
	j := jobSpec{
		CompletionMode: "Indexed", Completions: s.Pods, Parallelism: s.Pods, Suspend: suspend,
		BackoffLimit: new(int), ActiveDeadlineSeconds: seconds(s.Timeout),
		Template: podTemplate{Metadata: metadata{Labels: s.labels()}, Spec: s.pod(first, subdomain)},
	}
	disrupted := []podCondition{{"DisruptionTarget", "True"}}
	stopped := &onExitCodes{"In", []int{boot.StopStatus}}
	switch {
	case s.Claim == "":
		j.PodFailurePolicy.Rules = []podFailureRule{
			{Action: "FailJob", OnPodConditions: disrupted},
			{Action: "FailJob", OnExitCodes: &onExitCodes{"NotIn", []int{0}}},
		}
	case s.JobSet: // which makes the whole Job anew, and counts no failure by a rule (failurePolicy)
		j.PodFailurePolicy.Rules = []podFailureRule{
			{Action: "FailJob", OnPodConditions: disrupted},
			{Action: "FailJob", OnExitCodes: stopped},
		}
	default:
		limit := restarts
		j.BackoffLimit, j.BackoffLimitPerIndex, j.MaxFailedIndexes = nil, &limit, new(int)
		j.PodReplacementPolicy = "Failed"
		j.PodFailurePolicy.Rules = []podFailureRule{
			{Action: "Ignore", OnPodConditions: disrupted},
			{Action: "Ignore", OnExitCodes: stopped},
		}
	}
	return j
}

// failurePolicy returns what a JobSet does when its Job has failed. A job that saves is started again: not after the
// time of -timeout, and without counting it if a pod was evicted, or if the job was asked to stop and has saved.
func (s *Spec) failurePolicy() failurePolicy {
	if s.Claim == "" {
		return failurePolicy{}
	}
	return failurePolicy{MaxRestarts: restarts, Rules: []failureRule{
		{"timeout", "FailJobSet", []string{"DeadlineExceeded"}},
		{"disruption", "RestartJobSetAndIgnoreMaxRestarts", []string{"PodFailurePolicy"}},
	}}
}

func (s *Spec) pod(first, subdomain string) podSpec {
	p := podSpec{
		Subdomain: subdomain, RestartPolicy: "Never", TerminationGracePeriodSeconds: seconds(s.Grace),
		SecurityContext: podSecurity{RunAsNonRoot: true, RunAsUser: user, RunAsGroup: user, FSGroup: user, SeccompProfile: seccompProfile{"RuntimeDefault"}},
		TopologySpreadConstraints: []spreadConstraint{{
			MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "ScheduleAnyway", LabelSelector: s.selector(),
		}},
		Containers: []container{s.container(first)},
		Volumes: []volume{
			{Name: "pgas", Secret: &secretVolume{s.Name, secretMode}},
			{Name: "tmp", EmptyDir: &emptyDir{}},
		},
	}
	if s.Claim != "" {
		p.Volumes = append(p.Volumes, volume{Name: "checkpoint", Claim: &claimVolume{s.Claim}})
		c := &p.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, volumeMount{"checkpoint", claimDir, false})
	}
	return p
}

func (s *Spec) container(first string) container {
	command := []string{"pgasrun", "static"}
	if s.Tag {
		command = append(command, "-tag")
	}
	amount := map[string]string{"cpu": s.CPU, "memory": s.Memory}
	return container{
		Name: "pes", Image: s.Image, ImagePullPolicy: s.PullPolicy,
		Command:   literal(append(append(command, s.Program), s.Args...)),
		Env:       s.environ(first),
		Resources: resources{Requests: amount, Limits: maps.Clone(amount)},
		SecurityContext: containerSecurity{
			ReadOnlyRootFilesystem: true, Capabilities: capabilities{Drop: []string{"ALL"}},
		},
		VolumeMounts: []volumeMount{{"pgas", secretDir, true}, {"tmp", "/tmp", false}},
	}
}

// literal returns words that Kubernetes takes as they are: it replaces $(NAME) by the value of a variable, and $$ by $.
func literal(words []string) []string {
	l := make([]string, len(words))
	for i, w := range words {
		l[i] = strings.ReplaceAll(w, "$", "$$")
	}
	return l
}

// environ returns the variables of a static start (docs/use/clusters.md), and the user's.
func (s *Spec) environ(first string) []envVar {
	env := []envVar{
		{Name: "PGAS_HOST", ValueFrom: &valueFrom{fieldRef{indexField}}},
		{Name: "PGAS_HOSTS", Value: "@" + secretDir + "/" + hostsKey},
		{Name: "PGAS_RENDEZVOUS", Value: first + ":" + strconv.Itoa(port)},
		{Name: "PGAS_SECRET_FILE", Value: secretDir + "/" + secretKey},
		{Name: "PGAS_BOOT_TIMEOUT", Value: s.Assembly.String()},
	}
	if s.Claim != "" {
		env = append(env, envVar{Name: boot.EnvCheckpoint, Value: claimDir + "/" + s.Name})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env = append(env, envVar{Name: name, Value: literal([]string{s.Env[name]})[0]})
	}
	return env
}

// MarshalYAML returns b in base64.
func (b binary) MarshalYAML() (any, error) { return base64.StdEncoding.EncodeToString(b), nil }
