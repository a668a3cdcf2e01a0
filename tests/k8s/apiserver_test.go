//go:build apiserver

package k8s

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"sigs.k8s.io/yaml"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// strategies are what the API server does to an object before it creates it, by kind.
var strategies = map[string]rest.RESTCreateStrategy{
	"Secret": secret.Strategy, "Service": service.Strategy, "NetworkPolicy": networkpolicy.Strategy, "Job": job.Strategy,
}

// complaints returns what the API server has against the objects of a file.
func complaints(t *testing.T, file []byte) (all []string) {
	t.Helper()
	codec := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDecoder()
	for _, doc := range documents(file) {
		o, kind, err := codec.Decode(asJob(t, doc), nil, nil)
		if err != nil {
			all = append(all, err.Error())
			continue
		}
		ctx := genericapirequest.WithNamespace(t.Context(), namespaceOf(o))
		ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "create", APIGroup: kind.Group, APIVersion: kind.Version})
		all = append(all, create(ctx, strategies[kind.Kind], o)...)
	}
	return all
}

// TestAPIServer: the API server would create every object, and has no warning for it.
func TestAPIServer(t *testing.T) {
	for name, file := range golden(t) {
		for _, c := range complaints(t, file) {
			t.Errorf("%s: %s", name, c)
		}
	}
}

// TestAPIServerRefuses: a mistake in the objects would be found.
func TestAPIServerRefuses(t *testing.T) {
	file := string(golden(t)["job"])
	for old, mistake := range map[string]string{
		"restartPolicy: Never": "restartPolicy: Always", "operator: NotIn": "operator: In", "name: word-count\n": "name: word_count\n",
		"memory: 4Gi": "memory: 4GB", "mountPath: /tmp": "mountPath: /etc/pgas", "completions: 2": "completions: -2",
		"backoffLimit": "backOffLimit", "secretName: word-count": "secretName: \"\"", "port: 7070": "port: 70700",
	} {
		if !strings.Contains(file, old) || len(complaints(t, []byte(strings.ReplaceAll(file, old, mistake)))) == 0 {
			t.Errorf("%q instead of %q is not found", mistake, old)
		}
	}
}

// asJob returns the Job of a JobSet, and other objects as they are.
func asJob(t *testing.T, doc []byte) []byte {
	t.Helper()
	var s jobSet
	if yaml.Unmarshal(doc, &s) != nil || s.Kind != "JobSet" {
		return doc
	}
	b, err := yaml.Marshal(batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: s.Name + "-" + s.Spec.ReplicatedJobs[0].Name + "-0"},
		Spec:       s.Spec.ReplicatedJobs[0].Template.Spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// namespaceOf returns the namespace of o, and sets it if there is none, as the API server does.
func namespaceOf(o runtime.Object) string {
	m := o.(metav1.Object)
	if m.GetNamespace() == "" {
		m.SetNamespace(metav1.NamespaceDefault)
	}
	return m.GetNamespace()
}

// create returns what the API server has against o.
func create(ctx context.Context, s rest.RESTCreateStrategy, o runtime.Object) (complaints []string) {
	if s, ok := o.(*core.Service); ok { // the registry copies it, and allocates one if it is not None
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
	}
	rest.FillObjectMetaSystemFields(o.(metav1.Object))
	if err := rest.BeforeCreate(s, ctx, o); err != nil {
		complaints = append(complaints, err.Error())
	}
	return append(complaints, s.WarningsOnCreate(ctx, o)...)
}
