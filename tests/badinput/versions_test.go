package badinput

// Other versions of the library, built from this one's source with a line changed, as a release would change it.

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// otherVersion is a program of another version.
type otherVersion struct {
	name, pkg string
	// by file: what stands there, as a pattern, and what stands there in the other version
	changes map[string][2]string
}

// The version that the next release will have, and the numbers that change with a protocol and a layout.
var (
	otherRelease  = [2]string{`const Next = "v[\d.]+"`, `const Next = "v0.99.0"`}
	otherProtocol = [2]string{`const Protocol = \d+`, `const Protocol = 99`}
	otherLayout   = [2]string{`SegmentMagic = 0x70676173_\d+`, `SegmentMagic = 0x70676173_00000099`}

	otherVersions = []otherVersion{
		{"pgasrun-release", "./cmd/pgasrun", map[string][2]string{"pgas/version/version.go": otherRelease}},
		{"pgasrun-protocol", "./cmd/pgasrun", map[string][2]string{"pgas/boot/launch/internal/frame/frame.go": otherProtocol}},
		{"hello-same", "./samples/hello", nil},
		{"hello-layout", "./samples/hello", map[string][2]string{"pgas/boot/segment.go": otherLayout}},
		{"hello-release", "./samples/hello", map[string][2]string{"pgas/boot/segment.go": otherLayout, "pgas/version/version.go": otherRelease}},
	}
)

// buildOthers builds the other versions into bin.
func buildOthers(root, bin, dir string, goEnv []string) error {
	for _, o := range otherVersions {
		overlay := map[string]map[string]string{"Replace": {}}
		for file, change := range o.changes {
			path := filepath.Join(root, file)
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			pattern := regexp.MustCompile(change[0])
			if len(pattern.FindAll(source, -1)) != 1 {
				return fmt.Errorf("%s does not have one %s", path, change[0])
			}
			changed := filepath.Join(dir, o.name+"-"+filepath.Base(file))
			if err := os.WriteFile(changed, pattern.ReplaceAll(source, []byte(change[1])), 0o644); err != nil {
				return err
			}
			overlay["Replace"][path] = changed
		}
		list, err := json.Marshal(overlay)
		if err != nil {
			return err
		}
		listed := filepath.Join(dir, o.name+".json")
		if err := os.WriteFile(listed, list, 0o644); err != nil {
			return err
		}
		if err := run(root, goEnv, "go", "build", "-overlay", listed, "-o", filepath.Join(bin, o.name), o.pkg); err != nil {
			return err
		}
	}
	return nil
}
