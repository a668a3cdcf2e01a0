package doctor

// The table of checks, in the order of the report.

// finding is a check's result, before it has its name.
type finding struct {
	value  string
	state  State
	remedy string
}

func good(value string) finding            { return finding{value: value, state: OK} }
func note(value, remedy string) finding    { return finding{value, Note, remedy} }
func problem(value, remedy string) finding { return finding{value, Problem, remedy} }

// unknown is the result of a check that this host does not let look.
var unknown = good("not known")

var checks = []struct {
	name string
	run  func(*System) finding
}{
	{"gopgas", gopgas},
	{"go", goVersion},
	{"kernel", kernel},
	{"container", container},
	{"variables", settings},

	{"memory", memory},
	{"address space", addressSpace},
	{"file size limit", fileSize},
	{"locked memory", lockedMemory},
	{"/dev/shm", devShm},
	{"huge pages", hugePages},
	{"userfaultfd", userfaultfd},

	{"cpus", cpus},
	{"cpu quota", cpuQuota},
	{"cpu governor", governor},
	{"numa", numa},
	{"autogroups", autogroups},

	{"interfaces", networkInterfaces},
	{"rdma cards", cards},
	{"ephemeral ports", ephemeralPorts},
	{"open files", openFiles},

	{"clock source", clockSource},
	{"clock", clock},

	{"ssh", ssh},
	{"slurm", slurm},
	{"pmix", pmix},
	{"kubernetes", kubernetes},
}

// Examine runs every check of a host.
func Examine(s *System) []Check {
	found := make([]Check, len(checks))
	for i, c := range checks {
		f := c.run(s)
		found[i] = Check{Name: c.name, Value: f.value, State: f.state, Remedy: f.remedy}
	}
	return found
}
