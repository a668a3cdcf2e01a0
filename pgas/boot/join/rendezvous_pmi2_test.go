package join

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// pmi2Server answers the messages of one process, each by its command, and says nothing to those that it does not have.
// The first is the greeting.
type pmi2Server map[string]string

const (
	pmi2Welcome  = "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n"
	pmi2FullInit = "cmd=fullinit-response;rc=0;rank=1;size=2;pmijobid=7.0;"
)

// serve returns the descriptor that the process inherits.
func (s pmi2Server) serve(t *testing.T) string {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fds[0]), "server")
	conn, err := net.FileConn(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		in := bufio.NewReader(conn)
		if _, err := in.ReadString('\n'); err != nil {
			return
		}
		io.WriteString(conn, s["init"])
		for {
			fields, err := (&pmi2{in: in}).receive()
			if err != nil {
				return
			}
			if answer := s[fields["cmd"]]; answer != "" {
				fmt.Fprintf(conn, "%6d%s", len(answer), answer)
			}
		}
	}()
	return fmt.Sprint(fds[1])
}

// TestPMI2Mistakes: a server that does not answer, for one process of the job has not come, ends the start in time, and
// one that refuses is quoted.
func TestPMI2Mistakes(t *testing.T) {
	const within = 100 * time.Millisecond
	silence := "the PMI-2 server has not answered within 100ms: is each process of the job running? (PGAS_BOOT_TIMEOUT)"
	for name, c := range map[string]struct {
		server pmi2Server
		want   string
	}{
		"says nothing":        {pmi2Server{}, silence},
		"welcomes only":       {pmi2Server{"init": pmi2Welcome}, silence},
		"one never comes":     {pmi2Server{"init": pmi2Welcome, "fullinit": pmi2FullInit}, silence},
		"speaks version 1":    {pmi2Server{"init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"}, "PMI-2: the server does not speak version 2 (cmd=response_to_init pmi_version=1"},
		"names no rank":       {pmi2Server{"init": pmi2Welcome, "fullinit": "cmd=fullinit-response;rc=0;size=2;"}, "PMI-2: the server names no rank and size"},
		"contradicts itself":  {pmi2Server{"init": pmi2Welcome, "fullinit": "cmd=fullinit-response;rc=0;rank=2;size=2;"}, "this is rank 2 of 2: the launcher contradicts itself"},
		"refuses":             {pmi2Server{"init": pmi2Welcome, "fullinit": pmi2FullInit, "kvs-fence": "cmd=kvs-fence-response;rc=9;errmsg=no;"}, "PMI-2: asking for kvs-fence, the server refuses: rc=9 no"},
		"has not the ticket":  {pmi2Server{"init": pmi2Welcome, "fullinit": pmi2FullInit, "kvs-fence": "cmd=kvs-fence-response;rc=0;", "kvs-get": "cmd=kvs-get-response;rc=0;found=FALSE;"}, "PMI-2: "},
		"answers another one": {pmi2Server{"init": pmi2Welcome, "fullinit": "cmd=kvs-put-response;rc=0;"}, "PMI-2: asking for fullinit, the server answers"},
	} {
		t.Run(name, func(t *testing.T) {
			env := Environment{"PMI_FD": c.server.serve(t), "PMI_RANK": "1", "PMI_JOBID": "7.0"}
			_, err := pmi2Rendezvous{}.Join(bounded(t), env, boot.Settings{BootTimeout: within})
			if !strings.HasPrefix(errorText(err), c.want) {
				t.Errorf("%v; want %s", err, c.want)
			}
		})
	}
	t.Run("the user gives up", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(bounded(t))
		env := Environment{"PMI_FD": pmi2Server{}.serve(t), "PMI_RANK": "1"}
		time.AfterFunc(within, func() { cancel(errors.New("enough")) })
		if _, err := (pmi2Rendezvous{}).Join(ctx, env, boot.Settings{}); errorText(err) != "enough" {
			t.Error(err)
		}
	})
}
