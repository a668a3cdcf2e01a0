// Package k8s describes a job of PEs to Kubernetes: an Indexed Job whose pods are the hosts of the job, or a JobSet,
// and what it needs besides. It prints the objects and never talks to a cluster.
//
//	spec.go      what the user chooses, and what is wrong with it
//	objects.go   the parts of Kubernetes' objects that are used
//	manifest.go  the objects of a job
//
// A pod runs `pgasrun static PROGRAM`, which starts the PEs of one host. They find each other by the names that the
// headless Service gives the pods, and know each other by a secret (docs/use/kubernetes.md).
package k8s

import (
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
)

// Spec is a job as its user wants it. PEs, Image and Program are required.
type Spec struct {
	Name       string            // the name of the Job and of all that belongs to it; default: the program's
	Namespace  string            // the namespace; default: the one that kubectl has
	Image      string            // an image that has pgasrun and the program
	Program    string            // path in the image
	Args       []string          // its arguments, without its name
	PEs        int               // the PEs of the job
	Pods       int               // hosts of the job; default: 1
	CPU        string            // CPUs of a pod; default: one for each of its PEs
	Memory     string            // the memory of a pod, with the symmetric heaps of its PEs; default: 1Gi for each
	Queue      string            // a queue of Kueue, which then starts the job when there is room for all its pods
	JobSet     bool              // a JobSet instead of a Job
	Env        map[string]string // the environment of every PE
	Timeout    time.Duration     // the time after which Kubernetes ends the job; 0: never
	Grace      time.Duration     // the time between asking a pod to end and killing it; default: 30s
	Assembly   time.Duration     // how long pods wait for each other; default: 10m
	Tag        bool              // start every line with the number of its PE
	PullPolicy string            // when the image is pulled; default: what Kubernetes does
	Claim      string            // a PersistentVolumeClaim for what the program saves, so that pods are started again

	hostPEs []int // the PEs of each pod
}

// The container's user: nonroot of the distroless images. Any but root would do.
const user = 65532

// port is where PE 0 serves the exchange. A pod has its own address, so no other job uses it.
const port = 7070

// restarts is how often a job that saves is started again after failures: as often as Kubernetes starts a pod again if
// nothing else is said.
const restarts = 6

// maxPods bounds the list of hosts, which is in a Secret: 1 MiB.
const maxPods = 10000

// maxName leaves room for a pod's index: a pod's host name has 63 characters at most. A JobSet adds its job's name.
const maxName = 63 - len("-pes-0-0-") - 5

var (
	label    = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	noLabel  = regexp.MustCompile(`[^a-z0-9]+`)
	claim    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	quantity = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`)
)

// complete checks s and fills in defaults. The error names what is wrong, and what would be right.
func (s *Spec) complete() error {
	switch {
	case s.Image == "":
		return errors.New("no image: -image names one that has pgasrun and the program (`pgasgen init` writes a Containerfile)")
	case strings.ContainsAny(s.Image, " \t\n"):
		return fmt.Errorf("-image %q has a blank: give the name of one image", s.Image)
	case !path.IsAbs(s.Program):
		return fmt.Errorf("%s: the program must be the absolute path of a file in the image, such as /app/%s", s.Program, path.Base(s.Program))
	}
	if s.Name == "" {
		s.Name = strings.Trim(noLabel.ReplaceAllString(strings.ToLower(path.Base(s.Program)), "-"), "-")
	}
	if !label.MatchString(s.Name) || len(s.Name) > maxName {
		return fmt.Errorf("-name %q: Kubernetes needs small letters, digits and - after a letter, at most %d of them", s.Name, maxName)
	}
	if s.Namespace != "" && (!label.MatchString(s.Namespace) || len(s.Namespace) > 63) {
		return fmt.Errorf("-namespace %q: Kubernetes needs small letters, digits and - after a letter, at most 63 of them", s.Namespace)
	}
	if s.Queue != "" && (!label.MatchString(s.Queue) || len(s.Queue) > 63) {
		return fmt.Errorf("-queue %q is not the name of a LocalQueue of Kueue", s.Queue)
	}
	if s.Claim != "" && (!claim.MatchString(s.Claim) || len(s.Claim) > 253) {
		return fmt.Errorf("-checkpoint %q is not the name of a PersistentVolumeClaim: `kubectl get pvc` lists them", s.Claim)
	}
	if err := s.divide(); err != nil {
		return err
	}
	return s.completeResources()
}

// divide gives each pod its PEs: the first pods have one more if they cannot all have the same number.
func (s *Spec) divide() error {
	if s.Pods == 0 {
		s.Pods = 1
	}
	if s.PEs < 1 || s.Pods < 1 || s.Pods > s.PEs || s.Pods > maxPods {
		return fmt.Errorf("-n %d and -pods %d: a pod has at least one PE, and a job at most %d pods", s.PEs, s.Pods, maxPods)
	}
	s.hostPEs = make([]int, s.Pods)
	for i := range s.hostPEs {
		s.hostPEs[i] = s.PEs / s.Pods
		if i < s.PEs%s.Pods {
			s.hostPEs[i]++
		}
	}
	return nil
}

func (s *Spec) completeResources() error {
	most := s.hostPEs[0]
	if s.CPU == "" {
		s.CPU = strconv.Itoa(most)
	}
	if s.Memory == "" {
		s.Memory = strconv.Itoa(most) + "Gi"
	}
	if n, err := parseQuantity(s.CPU); err != nil || n == 0 {
		return fmt.Errorf("-cpu %s is not a number of CPUs, such as 4 or 500m", s.CPU)
	}
	if n, err := parseQuantity(s.Memory); err != nil || n < float64(most)*(16<<20) {
		return fmt.Errorf("-memory %s: a pod with %s needs a number of bytes such as %dGi, and 16Mi for each at least", s.Memory, plural.Count(most, "PE"), most)
	}
	if s.Grace == 0 {
		s.Grace = 30 * time.Second
	}
	if s.Assembly == 0 {
		s.Assembly = 10 * time.Minute
	}
	switch s.PullPolicy {
	case "", "Always", "IfNotPresent", "Never":
		return nil
	}
	return fmt.Errorf("the pull policy %q is not Always, IfNotPresent or Never", s.PullPolicy)
}

// parseQuantity returns what a quantity of Kubernetes is as a number.
func parseQuantity(q string) (float64, error) {
	m := quantity.FindStringSubmatch(q)
	if m == nil {
		return 0, fmt.Errorf("%q is not a quantity", q)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	switch unit := m[2]; {
	case unit == "m":
		n /= 1000
	case strings.HasSuffix(unit, "i"):
		n *= math.Pow(1024, float64(1+strings.Index("KMGT", unit[:1])))
	case unit != "":
		n *= math.Pow(1000, float64(1+strings.Index("kMGT", unit)))
	}
	return n, err
}

// seconds returns d in whole seconds, rounded up.
func seconds(d time.Duration) int64 { return int64(math.Ceil(d.Seconds())) }
