package join

// PMIx, as mpirun, prun and `srun --mpi=pmix` serve it. The library of its client is C, so a package that links it is
// handed in (Options).

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
)

type pmixRendezvous struct{ open func() (PMIxClient, error) }

func (pmixRendezvous) Name() string { return "pmix" }

// Offered looks for a variable of the server's address. There is one for each version of the protocol.
func (pmixRendezvous) Offered(env Environment) string {
	if env["PMIX_RANK"] == "" {
		return ""
	}
	for name := range env {
		if strings.HasPrefix(name, "PMIX_SERVER_URI") {
			return env.shown("PMIX_NAMESPACE", "PMIX_RANK")
		}
	}
	return ""
}

func (r pmixRendezvous) Join(ctx context.Context, env Environment, set boot.Settings) (*boot.Job, error) {
	if r.open == nil {
		return nil, errors.New("this program has no client of PMIx: call pgas.Main or pgas.Init, which have")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bootTimeout(set)+answerTime, fmt.Errorf("the PMIx server has not answered within %v: is each process of the job running? (%s)", bootTimeout(set), boot.EnvBootTimeout))
	defer cancel()
	client, err := within(ctx, r.open)
	if err != nil {
		return nil, err
	}
	m := &meeting{child: true, listen: env.listen}
	m.rank, m.size, m.host = client.Place()
	m.share = func(ctx context.Context, mine *ticket) (*ticket, error) {
		text := ""
		if mine != nil {
			text = mine.encode(maxBody)
		}
		got, err := within(ctx, func() (string, error) { return client.Share(text) })
		if err != nil {
			return nil, err
		}
		client.Close() // a process that only ends afterwards is no failure to the server
		return decodeTicket(got)
	}
	return assemble(ctx, m, set)
}

// within returns what call returns, or the cause of ctx if that ends before. Then call goes on, in a process that is
// about to end.
func within[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := call()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
