package frame

// The greeting of an agent, a line that says which version it is. The launcher talks only to agents of its own: what
// they exchange, and the segments that they make, may differ in any other.

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/gopgas/gopgas/pgas/version"
)

// GreetingMark begins the greeting of every version.
const GreetingMark = "\x00pgas-agent "

// Greeting is what an agent of this program says: protocol, and the version of gopgas. The protocol changes with
// the frames, also between two commits that no version tells apart.
var Greeting = GreetingMark + ownVersion() + "\n"

func ownVersion() string { return fmt.Sprintf("%d %s", Protocol, version.Current()) }

var greetingLine = regexp.MustCompile(`^` + GreetingMark + `(\d+)(?: ([\w.+-]+))?\n$`)

// CheckGreeting returns an error if the greeting is that of an agent of another version. It says which that is, and
// which the launcher is.
func CheckGreeting(text string) error {
	if text == Greeting {
		return nil
	}
	if strings.ReplaceAll(text, "\r", "") == Greeting {
		return errors.New("the launch command gives its agent a terminal, which changes what it writes: leave out -t, as in ssh -t or docker exec -t")
	}
	its := "of an unknown version"
	if m := greetingLine.FindStringSubmatch(text); m != nil && m[2] != "" {
		its = fmt.Sprintf("%s (protocol %s)", m[2], m[1])
	} else if m != nil {
		its = fmt.Sprintf("older (protocol %s)", m[1])
	}
	own := strings.Fields(ownVersion())
	return fmt.Errorf("its pgasrun is %s, and this one is %s (protocol %s): install the same on every host, or have -stage copy this one there", its, own[1], own[0])
}
