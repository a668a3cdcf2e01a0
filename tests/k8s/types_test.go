package k8s

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// jobSet is the part of a JobSet (jobset.x-k8s.io/v1alpha2) that is used. Its module cannot be had without a cluster's.
type jobSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Network struct {
			EnableDNSHostnames       *bool  `json:"enableDNSHostnames"`
			Subdomain                string `json:"subdomain"`
			PublishNotReadyAddresses *bool  `json:"publishNotReadyAddresses"`
		} `json:"network"`
		FailurePolicy struct {
			MaxRestarts int32 `json:"maxRestarts"`
			Rules       []struct {
				Name                string   `json:"name"`
				Action              string   `json:"action"`
				OnJobFailureReasons []string `json:"onJobFailureReasons"`
			} `json:"rules"`
		} `json:"failurePolicy"`
		Suspend        *bool `json:"suspend"`
		ReplicatedJobs []struct {
			Name     string                  `json:"name"`
			Replicas int32                   `json:"replicas"`
			Template batchv1.JobTemplateSpec `json:"template"`
		} `json:"replicatedJobs"`
	} `json:"spec"`
}

// objects are those of one golden file.
type objects struct {
	secret  corev1.Secret
	policy  networkingv1.NetworkPolicy
	service *corev1.Service
	job     batchv1.JobSpec
	meta    metav1.ObjectMeta // of the job
	jobSet  *jobSet
}

// golden returns the golden files of cmd/pgasrun/k8s, by name.
func golden(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../cmd/pgasrun/k8s/testdata/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	files := map[string][]byte{}
	for _, p := range paths {
		if files[strings.TrimSuffix(filepath.Base(p), ".yaml")], err = os.ReadFile(p); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func documents(file []byte) [][]byte { return bytes.Split(file, []byte("\n---\n")) }

// decode decodes every document into the type that its kind has. A field that the type does not have is an error.
func decode(t *testing.T, file []byte) objects {
	t.Helper()
	var o objects
	for _, doc := range documents(file) {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(doc, &kind); err != nil {
			t.Fatal(err)
		}
		var into any
		var job batchv1.Job
		switch kind.APIVersion + " " + kind.Kind {
		case "v1 Secret":
			into = &o.secret
		case "networking.k8s.io/v1 NetworkPolicy":
			into = &o.policy
		case "v1 Service":
			o.service = new(corev1.Service)
			into = o.service
		case "batch/v1 Job":
			into = &job
		case "jobset.x-k8s.io/v1alpha2 JobSet":
			o.jobSet = new(jobSet)
			into = o.jobSet
		default:
			t.Fatalf("an object of kind %v", kind)
		}
		if err := yaml.UnmarshalStrict(doc, into); err != nil {
			t.Errorf("%s: %v", kind.Kind, err)
		}
		switch {
		case kind.Kind == "Job":
			o.job, o.meta = job.Spec, job.ObjectMeta
		case o.jobSet != nil && kind.Kind == "JobSet":
			o.job, o.meta = o.jobSet.Spec.ReplicatedJobs[0].Template.Spec, o.jobSet.ObjectMeta
		}
	}
	return o
}

// TestTypes: the objects have fields that exist, with values of their types, and belong together.
func TestTypes(t *testing.T) {
	for name, file := range golden(t) {
		t.Run(name, func(t *testing.T) {
			o := decode(t, file)
			pod := o.job.Template.Spec
			checkNames(t, o)
			for _, labels := range []map[string]string{o.policy.Spec.PodSelector.MatchLabels, o.policy.Spec.Ingress[0].From[0].PodSelector.MatchLabels} {
				selects(t, labels, o.job.Template.Labels)
			}
			if o.service != nil {
				selects(t, o.service.Spec.Selector, o.job.Template.Labels)
			}
			if n := *o.job.Completions; n != *o.job.Parallelism || int(n) != bytes.Count(o.secret.Data["hosts"], []byte("\n")) {
				t.Errorf("%d completions, %d at a time, hosts:\n%s", n, *o.job.Parallelism, o.secret.Data["hosts"])
			}
			if v := pod.Volumes[0].Secret; v == nil || v.SecretName != o.secret.Name || *v.DefaultMode != 0o440 {
				t.Errorf("the secret is not mounted: %+v", pod.Volumes[0])
			}
			if len(o.secret.Data["secret"]) < 32 {
				t.Error("the secret is too short")
			}
			if pod.RestartPolicy != corev1.RestartPolicyNever {
				t.Error("the kubelet would start a PE again beside its job")
			}
			switch saves := strings.HasPrefix(name, "saved"); {
			case saves:
				checkSaves(t, o)
			case *o.job.BackoffLimit != 0 || len(o.job.PodFailurePolicy.Rules) != 2:
				t.Error("a PE could be started again")
			}
			if pod.ServiceAccountName != "" || *pod.AutomountServiceAccountToken {
				t.Error("the pod has a role's token")
			}
		})
	}
}

// checkNames: the first host of the list is the rendezvous, and each is the name that a pod will have.
func checkNames(t *testing.T, o objects) {
	t.Helper()
	first, _, _ := strings.Cut(string(o.secret.Data["hosts"]), ":")
	want, subdomain := o.meta.Name+"-0."+o.meta.Name, o.job.Template.Spec.Subdomain
	if o.jobSet != nil {
		want, subdomain = o.meta.Name+"-"+o.jobSet.Spec.ReplicatedJobs[0].Name+"-0-0."+o.meta.Name, o.jobSet.Spec.Network.Subdomain
	} else if o.service == nil || o.service.Name != subdomain || o.service.Spec.ClusterIP != corev1.ClusterIPNone || !o.service.Spec.PublishNotReadyAddresses {
		t.Errorf("no headless Service answers for the pods: %+v", o.service)
	}
	if first != want || subdomain != o.meta.Name {
		t.Errorf("the first host is %s in %s; its pod is %s", first, subdomain, want)
	}
	found := false
	for _, e := range o.job.Template.Spec.Containers[0].Env {
		found = found || e.Name == "PGAS_RENDEZVOUS" && e.Value == first+":7070"
	}
	if !found {
		t.Errorf("PGAS_RENDEZVOUS is not at %s", first)
	}
}

// checkSaves: the pods have the claim's volume where PGAS_CHECKPOINT is, and are started again, also after the status
// and the condition of pods that were asked to end: then without a limit.
func checkSaves(t *testing.T, o objects) {
	t.Helper()
	pod := o.job.Template.Spec
	mount := pod.Containers[0].VolumeMounts[2]
	v := pod.Volumes[2]
	if c := v.PersistentVolumeClaim; c == nil || c.ReadOnly || v.Name != mount.Name || mount.ReadOnly {
		t.Errorf("the claim is not mounted: %+v at %+v", v, mount)
	}
	if !slices.Contains(pod.Containers[0].Env, corev1.EnvVar{Name: "PGAS_CHECKPOINT", Value: mount.MountPath + "/" + o.meta.Name}) {
		t.Errorf("PGAS_CHECKPOINT is not in %s", mount.MountPath)
	}
	action := batchv1.PodFailurePolicyActionIgnore
	if o.jobSet != nil {
		action = batchv1.PodFailurePolicyActionFailJob
		policy := o.jobSet.Spec.FailurePolicy
		got := fmt.Sprint(*o.job.BackoffLimit, policy.Rules)
		want := fmt.Sprintf("0 [{timeout FailJobSet [%s]} {disruption RestartJobSetAndIgnoreMaxRestarts [%s]}]",
			batchv1.JobReasonDeadlineExceeded, batchv1.JobReasonPodFailurePolicy)
		if policy.MaxRestarts == 0 || got != want {
			t.Errorf("the Job of the JobSet is made anew by %d %s, want %s", policy.MaxRestarts, got, want)
		}
	} else if o.job.BackoffLimit != nil || *o.job.BackoffLimitPerIndex == 0 || *o.job.MaxFailedIndexes != 0 ||
		*o.job.PodReplacementPolicy != batchv1.Failed {
		t.Errorf("pods are not started again: %+v", o.job)
	}
	rules := o.job.PodFailurePolicy.Rules
	if len(rules) != 2 || rules[0].Action != action || rules[0].OnPodConditions[0].Type != corev1.DisruptionTarget ||
		rules[1].Action != action || !slices.Equal(rules[1].OnExitCodes.Values, []int32{75}) {
		t.Errorf("the rules are %+v", rules)
	}
}

func selects(t *testing.T, selector, labels map[string]string) {
	t.Helper()
	if len(selector) == 0 {
		t.Error("a selector selects everything")
	}
	for k, v := range selector {
		if labels[k] != v {
			t.Errorf("the selector %v does not select a pod with %v", selector, labels)
		}
	}
}
