package join

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// asOrphan marks the processes that TestOrphan starts: a daemon, and its child.
const asOrphan = "BOOT_TEST_ORPHAN"

// TestOrphan: a PE whose parent is killed is asked to end, and ended if it does not; one that has left the job is not.
func TestOrphan(t *testing.T) {
	switch os.Getenv(asOrphan) {
	case "":
	case "daemon":
		child := exec.Command(os.Args[0], "-test.run=^TestOrphan$")
		child.Env = append(os.Environ(), asOrphan+"="+os.Getenv(asOrphan+"_CHILD"))
		child.Stdout = os.Stdout
		child.Start()
		time.Sleep(hang.Limit) // not select {}: without C, Go ends a program all of whose goroutines wait
		os.Exit(1)
	default:
		beOrphan(os.Getenv(asOrphan))
	}
	for verb, want := range map[string]string{"stays": "ready\nasked to end\n", "has left": "ready\nnot asked\n"} {
		daemon := exec.CommandContext(bounded(t), os.Args[0], "-test.run=^TestOrphan$")
		daemon.Env = append(os.Environ(), asOrphan+"=daemon", asOrphan+"_CHILD="+verb)
		pipe, err := daemon.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := daemon.Start(); err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(pipe)
		first, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		daemon.Process.Kill()
		rest, err := io.ReadAll(out) // until the child has ended
		if err != nil || first+string(rest) != want {
			t.Errorf("%s: %v: it says %q", verb, err, strings.TrimSpace(first+string(rest)))
		}
		daemon.Wait()
	}
}

// beOrphan is the child, which never ends by itself unless it has left the job.
func beOrphan(verb string) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	m := &member{left: make(chan struct{})}
	if verb == "has left" {
		close(m.left)
	}
	ended := make(chan struct{})
	parent := os.Getppid() // before it is told that it may be killed
	go func() {
		m.watchParent(parent)
		close(ended)
	}()
	limit, cancel := hang.Context(context.Background())
	defer cancel()
	fmt.Println("ready")
	for {
		select {
		case <-asked:
			fmt.Println("asked to end")
		case <-ended:
			time.Sleep(time.Millisecond)
			if len(asked) == 0 {
				fmt.Println("not asked")
			}
			os.Exit(0)
		case <-limit.Done():
			fmt.Println("not told of the end of its parent")
			os.Exit(1)
		}
	}
}
