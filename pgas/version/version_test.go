package version

import (
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

func ofCheckout(version, modified string) debug.BuildInfo {
	return debug.BuildInfo{
		Main:     debug.Module{Path: Module, Version: version},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: modified}},
	}
}

func ofUser(gopgas debug.Module) debug.BuildInfo {
	gopgas.Path = Module
	info := ofCheckout("v3.0.0", "false")
	info.Main.Path = "example.com/heat"
	info.Deps = []*debug.Module{{Path: "golang.org/x/sys", Version: "v0.1.0"}, &gopgas}
	return info
}

func TestVersions(t *testing.T) {
	tests := []struct {
		name      string
		info      debug.BuildInfo
		want      string
		published bool
	}{
		{"nothing is known", debug.BuildInfo{}, Next + "-devel", false},
		{"a checkout without version control", debug.BuildInfo{Main: debug.Module{Path: Module, Version: "(devel)"}}, Next + "-devel", false},
		{"a checkout", ofCheckout("v0.0.0-20261122182700-0123456789ab", "false"), Next + "-devel+0123456789ab", false},
		{"a checkout after a tag", ofCheckout("v0.2.1-0.20261122182700-0123456789ab", "false"), Next + "-devel+0123456789ab", false},
		{"a checkout with changes", ofCheckout("v0.2.0+dirty", "true"), Next + "-devel+0123456789ab.dirty", false},
		{"a checkout of a tag", ofCheckout("v0.2.0", "false"), "v0.2.0", true},
		{"go install at a tag", debug.BuildInfo{Main: debug.Module{Path: Module, Version: "v0.2.0", Sum: "h1:…"}}, "v0.2.0", true},
		{"go install at a commit", debug.BuildInfo{Main: debug.Module{Path: Module, Version: "v0.0.0-20261122182700-0123456789ab", Sum: "h1:…"}}, "v0.0.0-20261122182700-0123456789ab", true},
		{"a program of a release", ofUser(debug.Module{Version: "v0.2.0"}), "v0.2.0", true},
		{"a program with a replace directive", ofUser(debug.Module{Version: "v0.2.0", Replace: &debug.Module{Path: "../gopgas"}}), Next + "-devel", false},
		{"a command of another module of the checkout", debug.BuildInfo{
			Main:     debug.Module{Path: Module + "/cmd/pgasbench", Version: "v0.0.0-20261122182700-0123456789ab"},
			Deps:     []*debug.Module{{Path: Module, Version: "(devel)"}},
			Settings: ofCheckout("", "false").Settings,
		}, Next + "-devel+0123456789ab", false},
		{"such a command of a release", debug.BuildInfo{
			Main: debug.Module{Path: Module + "/cmd/pgasbench", Version: "v0.2.0", Sum: "h1:…"},
			Deps: []*debug.Module{{Path: Module, Version: "v0.2.0", Sum: "h1:…"}},
		}, "v0.2.0", true},
		{"a program of a workspace", ofUser(debug.Module{Version: "(devel)"}), Next + "-devel", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := of(&test.info); got != test.want {
				t.Errorf("version %s, want %s", got, test.want)
			}
			if got := published(&test.info) != ""; got != test.published {
				t.Errorf("published: %v, want %v", got, test.published)
			}
		})
	}
}

// TestChangelog: Next is the first heading of the changelog, and what a tag of this commit is called.
func TestChangelog(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^## (\S+)`).FindSubmatch(text)
	if heading == nil || string(heading[1]) != Next {
		t.Errorf("the first heading of CHANGELOG.md is %q, and version.Next is %s", heading, Next)
	}
	tags, err := exec.Command("git", "tag", "--points-at", "HEAD", "v*").Output()
	if err != nil {
		t.Skip("no checkout: ", err)
	}
	for _, tag := range strings.Fields(string(tags)) {
		if tag != Next {
			t.Errorf("this commit is tagged %s, and version.Next is %s", tag, Next)
		}
	}
}
