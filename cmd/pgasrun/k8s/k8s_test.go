package k8s

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the golden files anew")

// specs are the jobs of the golden files, which tests/k8s compares with Kubernetes' own types.
var specs = map[string]Spec{
	"job": {Image: "registry.example/app:1", Program: "/app/Word_Count", Args: []string{"-input", "$(HOME)/a b", "$$"}, PEs: 7, Pods: 2},
	"all": {
		Name: "waves", Namespace: "physics", Image: "waves", Program: "/bin/waves", PEs: 64, Pods: 16, CPU: "3500m", Memory: "9.5Gi",
		Env: map[string]string{"PGAS_HEAP_MAX": "1g", "A": "$x"}, Timeout: 90 * time.Minute, Grace: 5 * time.Second, Assembly: time.Hour,
		Tag: true, PullPolicy: "Never", Queue: "lab-a",
	},
	"saved":    {Image: "heat", Program: "/bin/heat", PEs: 8, Pods: 2, Claim: "cuts", Timeout: time.Hour},
	"savedset": {Image: "heat", Program: "/bin/heat", PEs: 8, Pods: 2, Claim: "cuts", Timeout: time.Hour, JobSet: true},
	"jobset":   {Name: "ring", Image: "ring", Program: "/ring", PEs: 3, Pods: 3, JobSet: true, Queue: "lab-a"},
}

func TestGolden(t *testing.T) {
	for name, s := range specs {
		t.Run(name, func(t *testing.T) {
			if err := s.complete(); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := s.write(&got, []byte("the secret of a test, and of no job")); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || !bytes.Equal(want, got.Bytes()) {
				t.Errorf("%s differs (%v); see what changed with `go test ./cmd/pgasrun/k8s -update` and git diff\n%s", golden, err, got.Bytes())
			}
		})
	}
}

// TestSecretsDiffer: each print has a secret of its own.
func TestSecretsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		var text bytes.Buffer
		if err := Write(&text, specs["job"]); err != nil {
			t.Fatal(err)
		}
		var o struct{ Data map[string]string }
		if err := yaml.NewDecoder(&text).Decode(&o); err != nil || len(o.Data["secret"]) < 44 {
			t.Fatalf("%v, %v", o, err)
		}
		seen[o.Data["secret"]] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d secrets in 3 prints", len(seen))
	}
}

func TestMistakes(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		"no image: -image names one":                   func(s *Spec) { s.Image = "" },
		"-image \"a b\" has a blank":                   func(s *Spec) { s.Image = "a b" },
		"./app: the program must be the absolute path": func(s *Spec) { s.Program = "./app" },
		"-name \"A\": Kubernetes needs":                func(s *Spec) { s.Name = "A" },
		"-name \"\": Kubernetes needs":                 func(s *Spec) { s.Program = "/" },
		"at most 49 of them":                           func(s *Spec) { s.Name = strings.Repeat("a", 50) },
		"-namespace \"a_b\"":                           func(s *Spec) { s.Namespace = "a_b" },
		"-queue \"-\" is not the name":                 func(s *Spec) { s.Queue = "-" },
		"-n 2 and -pods 3:":                            func(s *Spec) { s.PEs, s.Pods = 2, 3 },
		"-n 0 and -pods 1:":                            func(s *Spec) { s.PEs, s.Pods = 0, 1 },
		"-cpu four is not a number of CPUs":            func(s *Spec) { s.CPU = "four" },
		"-memory 63Mi: a pod with 4 PEs needs":         func(s *Spec) { s.Memory = "63Mi" },
		"-checkpoint \"/cuts\" is not the name":        func(s *Spec) { s.Claim = "/cuts" },
		"the pull policy \"often\" is not Always":      func(s *Spec) { s.PullPolicy = "often" },
	} {
		s := Spec{Image: "i", Program: "/app", PEs: 7, Pods: 2}
		change(&s)
		var out bytes.Buffer
		err := Write(&out, s)
		if err == nil || !strings.Contains(err.Error(), want) || out.Len() != 0 {
			t.Errorf("%v; want %s; printed %d bytes", err, want, out.Len())
		}
	}
}

func TestParseQuantity(t *testing.T) {
	for text, want := range map[string]float64{"4": 4, "500m": 0.5, "1.5k": 1500, "2M": 2e6, "1Ki": 1024, "64Mi": 64 << 20, "9.5Gi": 9.5 * (1 << 30), "1T": 1e12, "1Ti": 1 << 40} {
		if got, err := parseQuantity(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "1mi", "1 Gi", "Gi", "1e3", "0x1"} {
		if got, err := parseQuantity(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
