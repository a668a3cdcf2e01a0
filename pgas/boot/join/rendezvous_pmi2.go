package join

// PMI-2, as Slurm's plugin pmi2 speaks it over a socket that each process inherits in PMI_FD. After a line by which the
// process asks for version 2, every message is six characters with its length in decimal, and then
//
//	cmd=NAME;key=value;key=value;
//
// where a semicolon in a value is doubled. An answer's name is that of the question with -response. Rank 0 puts the
// ticket, all fence, and the others get it.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
)

type pmi2Rendezvous struct{}

func (pmi2Rendezvous) Name() string { return "pmi2" }

func (pmi2Rendezvous) Offered(env Environment) string { return env.shown("PMI_FD") }

func (pmi2Rendezvous) Join(ctx context.Context, env Environment, set boot.Settings) (*boot.Job, error) {
	conn, err := inheritedConn(env["PMI_FD"])
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	served, cancel := context.WithTimeoutCause(ctx, bootTimeout(set), fmt.Errorf("the PMI-2 server has not answered within %v: is each process of the job running? (%s)", bootTimeout(set), boot.EnvBootTimeout))
	defer cancel()
	defer context.AfterFunc(served, func() { conn.Close() })()
	p := &pmi2{conn: conn, in: bufio.NewReader(conn)}
	m := &meeting{host: nodeName(env), child: true, listen: env.listen}
	m.share = func(_ context.Context, mine *ticket) (*ticket, error) { return p.share(served, mine) }
	if m.rank, m.size, err = p.begin(served, env["PMI_RANK"], env["PMI_JOBID"]); err != nil {
		return nil, err
	}
	return assemble(ctx, m, set)
}

// inheritedConn returns the socket of a descriptor. It is closed in programs that this process starts.
func inheritedConn(fd string) (net.Conn, error) {
	n, err := strconv.Atoi(fd)
	if err != nil || n < 3 {
		return nil, fmt.Errorf("PMI_FD=%s is not a descriptor", fd)
	}
	f := os.NewFile(uintptr(n), "PMI_FD")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("PMI_FD=%s is not a socket (%w): a PE or a wrapper that closes files has started this process, not the launcher: clear PMI_* in its environment", fd, err)
	}
	return conn, nil
}

// nodeName returns the name of this host, as Slurm or the host itself knows it.
func nodeName(env Environment) string {
	if name := env["SLURMD_NODENAME"]; name != "" {
		return name
	}
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// pmi2 is a connection to the server.
type pmi2 struct {
	conn net.Conn
	in   *bufio.Reader
	id   string
	rank int
}

const (
	pmi2Greeting  = "cmd=init pmi_version=2 pmi_subversion=0\n"
	pmi2LengthLen = 6
	// pmi2MaxValue is the most bytes of a value that the server keeps.
	pmi2MaxValue = 1024
	pmi2Key      = "pgas-ticket"
)

// begin introduces this process and returns its rank and the size of the job. It returns the cause of ctx if that ends
// first, which closes the connection.
func (p *pmi2) begin(ctx context.Context, rank, jobID string) (int, int, error) {
	r, n, err := p.introduce(rank, jobID)
	return r, n, pmi2Error(ctx, err)
}

func pmi2Error(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("PMI-2: %w", err)
}

func (p *pmi2) introduce(rank, jobID string) (int, int, error) {
	if _, err := io.WriteString(p.conn, pmi2Greeting); err != nil {
		return 0, 0, err
	}
	line, err := p.in.ReadString('\n')
	if err != nil {
		return 0, 0, fmt.Errorf("the server does not answer: %w", err)
	}
	if !strings.Contains(line, "pmi_version=2") || !strings.Contains(line, "rc=0") {
		return 0, 0, fmt.Errorf("the server does not speak version 2 (%s): use a launcher that does, such as `srun --mpi=pmi2`, one with PMIx, or pgasrun -hosts", strings.TrimSpace(line))
	}
	about := []string{"pmirank", rank, "threaded", "FALSE"}
	if jobID != "" {
		about = append([]string{"pmijobid", jobID}, about...)
	}
	answer, err := p.ask("fullinit", about...)
	if err != nil {
		return 0, 0, err
	}
	p.id = answer["pmijobid"]
	if p.id == "" {
		p.id = jobID
	}
	r, err1 := strconv.Atoi(answer["rank"])
	n, err2 := strconv.Atoi(answer["size"])
	if errors.Join(err1, err2) != nil {
		return 0, 0, fmt.Errorf("the server names no rank and size (%v): use `srun --mpi=pmi2`", answer)
	}
	p.rank = r
	return r, n, nil
}

// share puts rank 0's ticket and returns it on every process, and takes leave of the server: a process that only ends
// afterwards is no failure to it.
func (p *pmi2) share(ctx context.Context, mine *ticket) (*ticket, error) {
	t, err := p.exchange(mine)
	if err != nil {
		return nil, pmi2Error(ctx, err)
	}
	return t, nil
}

func (p *pmi2) exchange(mine *ticket) (*ticket, error) {
	if mine != nil {
		if _, err := p.ask("kvs-put", "key", pmi2Key, "value", mine.encode(pmi2MaxValue)); err != nil {
			return nil, err
		}
	}
	if _, err := p.ask("kvs-fence"); err != nil {
		return nil, err
	}
	t := mine
	if mine == nil {
		answer, err := p.ask("kvs-get", "jobid", p.id, "srcid", "0", "key", pmi2Key)
		if err != nil {
			return nil, err
		}
		if t, err = decodeTicket(answer["value"]); err != nil {
			return nil, err
		}
	}
	_, err := p.ask("finalize")
	return t, err
}

// ask sends a command with keys and values, and returns those of the answer.
func (p *pmi2) ask(command string, pairs ...string) (map[string]string, error) {
	body := "cmd=" + command + ";"
	for i := 0; i < len(pairs); i += 2 {
		body += pairs[i] + "=" + strings.ReplaceAll(pairs[i+1], ";", ";;") + ";"
	}
	if _, err := fmt.Fprintf(p.conn, "%*d%s", pmi2LengthLen, len(body), body); err != nil {
		return nil, fmt.Errorf("asking for %s: %w", command, err)
	}
	answer, err := p.receive()
	switch {
	case err != nil:
		return nil, fmt.Errorf("asking for %s: %w", command, err)
	case answer["cmd"] != command+"-response":
		return nil, fmt.Errorf("asking for %s, the server answers %v", command, answer)
	case answer["rc"] != "0":
		return nil, fmt.Errorf("asking for %s, the server refuses: rc=%s %s", command, answer["rc"], answer["errmsg"])
	}
	return answer, nil
}

// receive returns the keys and values of one message.
func (p *pmi2) receive() (map[string]string, error) {
	head := make([]byte, pmi2LengthLen)
	if _, err := io.ReadFull(p.in, head); err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(head)))
	if err != nil || n < 0 || n > maxBody {
		return nil, fmt.Errorf("a message's length is %q", head)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(p.in, body); err != nil {
		return nil, err
	}
	return parsePMI2(string(body)), nil
}

// parsePMI2 splits a message. A doubled semicolon is one of a value.
func parsePMI2(body string) map[string]string {
	fields := map[string]string{}
	var field strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] != ';' {
			field.WriteByte(body[i])
			continue
		}
		if i+1 < len(body) && body[i+1] == ';' {
			field.WriteByte(';')
			i++
			continue
		}
		if key, value, ok := strings.Cut(field.String(), "="); ok {
			fields[key] = value
		}
		field.Reset()
	}
	return fields
}

// encode returns t as a text of at most a number of bytes, with as many of its addresses as fit.
func (t *ticket) encode(most int) string {
	short := *t
	for {
		if text := string(encodeJSON(short)); len(text) <= most || len(short.Addrs) <= 1 {
			return text
		}
		short.Addrs = short.Addrs[:len(short.Addrs)-1]
	}
}

func decodeTicket(text string) (*ticket, error) {
	var t ticket
	if err := json.Unmarshal([]byte(text), &t); err != nil || len(t.Secret) == 0 || len(t.Addrs) == 0 {
		return nil, errors.New("rank 0 has published no ticket that this process understands: install the same program on every host")
	}
	return &t, nil
}
