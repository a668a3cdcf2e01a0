package doctor

// Versions, and what can start a job here.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
)

func gopgas(s *System) finding    { return good(s.Gopgas) }
func goVersion(s *System) finding { return good(s.Go + " at build; " + s.goCommand()) }

// goCommand says which Go would build a package that pgasrun is given.
func (s *System) goCommand() string {
	if path := s.command("go"); path != "" {
		return path + " builds packages"
	}
	return "no go command on PATH, so pgasrun runs binaries only"
}

func kernel(s *System) finding {
	release := s.read("proc/sys/kernel/osrelease")
	if release == "" {
		return unknown
	}
	if name := s.distribution(); name != "" {
		release += ", " + name
	}
	return good(release)
}

func (s *System) distribution() string {
	for line := range strings.Lines(s.read("etc/os-release")) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(name, `"'`)
		}
	}
	return ""
}

// container says what of containers and control groups this process is in.
func container(s *System) finding {
	var in []string
	if s.exists(".dockerenv") {
		in = append(in, "docker")
	}
	if s.exists("run/.containerenv") {
		in = append(in, "podman")
	}
	if kind := s.env("container"); kind != "" {
		in = append(in, kind)
	}
	if len(in) == 0 {
		in = []string{"none seen"}
	}
	return good(strings.Join(slices.Compact(in), ", "))
}

// settings checks the variables that tune a job, and shows those that are set: they are what differs from other hosts.
func settings(s *System) finding {
	if _, err := boot.ParseSettings(s.Environ); err != nil {
		return problem(err.Error(), "correct or unset it; `pgasrun -env` lists the variables")
	}
	var set []string
	for _, v := range boot.StripEnv(s.Environ) {
		if slices.ContainsFunc(shown, func(prefix string) bool { return strings.HasPrefix(v, prefix) }) {
			set = append(set, v)
		}
	}
	if len(set) == 0 {
		return good("none set")
	}
	slices.Sort(set)
	return good(strings.Join(set, " "))
}

// shown are the variables of a report, by how their names begin.
var shown = []string{"PGAS_", "SHMEM_", "SMA_", "UCX_", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG"}

func ssh(s *System) finding {
	if path := s.command("ssh"); path != "" {
		return good(path)
	}
	return note("no ssh on PATH", "a job on other hosts needs a -launch of its own here, or an ssh client")
}

func slurm(s *System) finding {
	id, srun := s.env("SLURM_JOB_ID"), s.command("srun")
	switch {
	case id != "" && srun == "":
		return problem("in allocation "+id+", without srun on PATH", "pgasrun starts its agents by srun: add Slurm's bin directory to PATH, or give -launch")
	case id != "":
		return good(fmt.Sprintf("%s, in allocation %s with nodes %s", srun, id, s.env("SLURM_JOB_NODELIST")))
	case srun != "":
		return good(srun + ", in no allocation")
	}
	return good("none")
}

// libraries is where libraries are installed.
var libraries = []string{"usr/lib", "usr/lib64", "usr/local/lib", "lib", "lib64"}

// pmix looks for the library that a start by `mpirun` or `srun --mpi=pmix` needs.
func pmix(s *System) finding {
	offered := s.env("PMIX_NAMESPACE") != "" || s.env("PMIX_SERVER_URI41") != "" || s.env("PMIX_RANK") != ""
	found := s.findLibrary("libpmix.so")
	switch {
	case found != "" && offered:
		return good(found + ", and this process is one of a PMIx job")
	case found != "":
		return good(found)
	case offered:
		return problem("this process is one of a PMIx job, and there is no libpmix.so.2 where libraries are", "install libpmix2, or set LD_LIBRARY_PATH to that of the launcher")
	}
	return good("no library")
}

// findLibrary returns the path of a library, of the first version that it finds, or "".
func (s *System) findLibrary(name string) string {
	dirs := libraries
	for _, lib := range libraries[:2] {
		for _, sub := range s.list(lib) {
			if strings.HasSuffix(sub, "-linux-gnu") {
				dirs = append(slices.Clip(dirs), lib+"/"+sub)
			}
		}
	}
	for _, dir := range strings.Split(s.env("LD_LIBRARY_PATH"), ":") {
		if dir = strings.Trim(dir, "/"); dir != "" {
			dirs = append(slices.Clip(dirs), dir)
		}
	}
	for _, dir := range dirs {
		for _, file := range s.list(dir) {
			if strings.HasPrefix(file, name) {
				return "/" + dir + "/" + file
			}
		}
	}
	return ""
}

func kubernetes(s *System) finding {
	inside, kubectl := s.env("KUBERNETES_SERVICE_HOST") != "", s.command("kubectl")
	switch {
	case inside:
		return good("this is a pod")
	case kubectl != "":
		return good(kubectl + "; this is no pod")
	}
	return good("none")
}
