package k8s

// The fields of Kubernetes' objects that a job uses, with the names that the API has for them (batch/v1, v1,
// networking.k8s.io/v1, jobset.x-k8s.io/v1alpha2). tests/k8s compares what is printed with the API's own types.

type object struct {
	APIVersion string            `yaml:"apiVersion"`
	Kind       string            `yaml:"kind"`
	Metadata   metadata          `yaml:"metadata"`
	Type       string            `yaml:"type,omitempty"`      // the type of a Secret
	Immutable  bool              `yaml:"immutable,omitempty"` // a Secret
	Data       map[string]binary `yaml:"data,omitempty"`      // the data of a Secret
	Spec       any               `yaml:"spec,omitempty"`
}

// binary is encoded in base64.
type binary []byte

type metadata struct {
	Name        string            `yaml:"name,omitempty"`
	Namespace   string            `yaml:"namespace,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

type serviceSpec struct {
	ClusterIP                string            `yaml:"clusterIP"`
	PublishNotReadyAddresses bool              `yaml:"publishNotReadyAddresses"`
	Selector                 map[string]string `yaml:"selector"`
	Ports                    []servicePort     `yaml:"ports"`
}

type servicePort struct {
	Name string `yaml:"name"`
	Port int    `yaml:"port"`
}

type networkPolicySpec struct {
	PodSelector selector      `yaml:"podSelector"`
	PolicyTypes []string      `yaml:"policyTypes"`
	Ingress     []ingressRule `yaml:"ingress"`
}

type ingressRule struct {
	From []policyPeer `yaml:"from"`
}

type policyPeer struct {
	PodSelector selector `yaml:"podSelector"`
}

type selector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

type jobSetSpec struct {
	Network        jobSetNetwork   `yaml:"network"`
	FailurePolicy  failurePolicy   `yaml:"failurePolicy"`
	Suspend        bool            `yaml:"suspend,omitempty"`
	ReplicatedJobs []replicatedJob `yaml:"replicatedJobs"`
}

type jobSetNetwork struct {
	EnableDNSHostnames       bool   `yaml:"enableDNSHostnames"`
	Subdomain                string `yaml:"subdomain"`
	PublishNotReadyAddresses bool   `yaml:"publishNotReadyAddresses"`
}

type failurePolicy struct {
	MaxRestarts int           `yaml:"maxRestarts"`
	Rules       []failureRule `yaml:"rules,omitempty"`
}

type failureRule struct {
	Name                string   `yaml:"name"`
	Action              string   `yaml:"action"`
	OnJobFailureReasons []string `yaml:"onJobFailureReasons"`
}

type replicatedJob struct {
	Name     string      `yaml:"name"`
	Replicas int         `yaml:"replicas"`
	Template jobTemplate `yaml:"template"`
}

type jobTemplate struct {
	Spec jobSpec `yaml:"spec"`
}

type jobSpec struct {
	CompletionMode        string           `yaml:"completionMode"`
	Completions           int              `yaml:"completions"`
	Parallelism           int              `yaml:"parallelism"`
	BackoffLimit          *int             `yaml:"backoffLimit,omitempty"`
	BackoffLimitPerIndex  *int             `yaml:"backoffLimitPerIndex,omitempty"`
	MaxFailedIndexes      *int             `yaml:"maxFailedIndexes,omitempty"`
	ActiveDeadlineSeconds int64            `yaml:"activeDeadlineSeconds,omitempty"`
	Suspend               bool             `yaml:"suspend,omitempty"`
	PodReplacementPolicy  string           `yaml:"podReplacementPolicy,omitempty"`
	PodFailurePolicy      podFailurePolicy `yaml:"podFailurePolicy"`
	Template              podTemplate      `yaml:"template"`
}

type podFailurePolicy struct {
	Rules []podFailureRule `yaml:"rules"`
}

type podFailureRule struct {
	Action          string         `yaml:"action"`
	OnExitCodes     *onExitCodes   `yaml:"onExitCodes,omitempty"`
	OnPodConditions []podCondition `yaml:"onPodConditions,omitempty"`
}

type onExitCodes struct {
	Operator string `yaml:"operator"`
	Values   []int  `yaml:"values"`
}

type podCondition struct {
	Type   string `yaml:"type"`
	Status string `yaml:"status"`
}

type podTemplate struct {
	Metadata metadata `yaml:"metadata"`
	Spec     podSpec  `yaml:"spec"`
}

type podSpec struct {
	Subdomain                     string             `yaml:"subdomain,omitempty"`
	RestartPolicy                 string             `yaml:"restartPolicy"`
	TerminationGracePeriodSeconds int64              `yaml:"terminationGracePeriodSeconds"`
	AutomountServiceAccountToken  bool               `yaml:"automountServiceAccountToken"`
	EnableServiceLinks            bool               `yaml:"enableServiceLinks"`
	SecurityContext               podSecurity        `yaml:"securityContext"`
	TopologySpreadConstraints     []spreadConstraint `yaml:"topologySpreadConstraints,omitempty"`
	Containers                    []container        `yaml:"containers"`
	Volumes                       []volume           `yaml:"volumes"`
}

type podSecurity struct {
	RunAsNonRoot   bool           `yaml:"runAsNonRoot"`
	RunAsUser      int            `yaml:"runAsUser"`
	RunAsGroup     int            `yaml:"runAsGroup"`
	FSGroup        int            `yaml:"fsGroup"`
	SeccompProfile seccompProfile `yaml:"seccompProfile"`
}

type seccompProfile struct {
	Type string `yaml:"type"`
}

type spreadConstraint struct {
	MaxSkew           int      `yaml:"maxSkew"`
	TopologyKey       string   `yaml:"topologyKey"`
	WhenUnsatisfiable string   `yaml:"whenUnsatisfiable"`
	LabelSelector     selector `yaml:"labelSelector"`
}

type container struct {
	Name            string            `yaml:"name"`
	Image           string            `yaml:"image"`
	ImagePullPolicy string            `yaml:"imagePullPolicy,omitempty"`
	Command         []string          `yaml:"command"`
	Env             []envVar          `yaml:"env"`
	Resources       resources         `yaml:"resources"`
	SecurityContext containerSecurity `yaml:"securityContext"`
	VolumeMounts    []volumeMount     `yaml:"volumeMounts"`
}

type envVar struct {
	Name      string     `yaml:"name"`
	Value     string     `yaml:"value,omitempty"`
	ValueFrom *valueFrom `yaml:"valueFrom,omitempty"`
}

type valueFrom struct {
	FieldRef fieldRef `yaml:"fieldRef"`
}

type fieldRef struct {
	FieldPath string `yaml:"fieldPath"`
}

type resources struct {
	Requests map[string]string `yaml:"requests"`
	Limits   map[string]string `yaml:"limits"`
}

type containerSecurity struct {
	AllowPrivilegeEscalation bool         `yaml:"allowPrivilegeEscalation"`
	ReadOnlyRootFilesystem   bool         `yaml:"readOnlyRootFilesystem"`
	Capabilities             capabilities `yaml:"capabilities"`
}

type capabilities struct {
	Drop []string `yaml:"drop"`
}

type volumeMount struct {
	Name      string `yaml:"name"`
	MountPath string `yaml:"mountPath"`
	ReadOnly  bool   `yaml:"readOnly,omitempty"`
}

type volume struct {
	Name     string        `yaml:"name"`
	Secret   *secretVolume `yaml:"secret,omitempty"`
	EmptyDir *emptyDir     `yaml:"emptyDir,omitempty"`
	Claim    *claimVolume  `yaml:"persistentVolumeClaim,omitempty"`
}

type claimVolume struct {
	ClaimName string `yaml:"claimName"`
}

type secretVolume struct {
	SecretName  string `yaml:"secretName"`
	DefaultMode int    `yaml:"defaultMode"`
}

type emptyDir struct {
	Medium    string `yaml:"medium,omitempty"`
	SizeLimit string `yaml:"sizeLimit,omitempty"`
}
