package ckpt

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/internal/cuts"
)

// ownerName is the file that says which job saves in a Store.
const ownerName = "job.json"

// An owner is the job that has begun last with a Store. Two jobs that save in one Store would remove the cuts of each
// other. So a job that finds another owner when it saves gives up, as one does that was believed to be dead.
type owner struct {
	Term  uint64    `json:"term"`
	Job   uint64    `json:"job"`
	Host  string    `json:"host"` // of PE 0
	Began time.Time `json:"began"`
}

// own gives this start of the job a term after all others, and makes it the owner of the Store if there is one. PE 0
// calls it. all are the cuts of the Store.
func (s *Set) own(ctx context.Context, all []Cut) error {
	s.job = s.w.Random()
	for _, k := range s.found {
		s.term = max(s.term, k.Cut.Term+1)
	}
	if s.store == nil {
		return nil
	}
	last, err := s.owner(ctx)
	if err != nil && !cuts.Missing(err) {
		return err
	}
	s.term = max(s.term, last.Term+1)
	for _, c := range all {
		s.term = max(s.term, c.Term+1)
	}
	b, err := json.Marshal(owner{s.term, s.job, s.w.Host(), time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	if err := cuts.WriteFile(ctx, s.store, ownerName, append(b, '\n')); err != nil {
		return err
	}
	return cuts.Sweep(s.store, func(name string) bool { return name+".json" == ownerName })
}

// owner returns the owner of the Store. One that cannot be read is none.
func (s *Set) owner(ctx context.Context) (o owner, err error) {
	b, err := cuts.ReadFile(ctx, s.store, ownerName)
	if err == nil && json.Unmarshal(b, &o) != nil {
		o = owner{}
	}
	return o, err
}

// mustOwn returns an error if another job has begun with the Store since this one has. PE 0 calls it.
func (s *Set) mustOwn(ctx context.Context) error {
	o, err := s.owner(ctx)
	if err == nil && o.Job != s.job {
		err = fmt.Errorf("another job has begun with %v since, at %v on %s: give each job its own directory", s.store, o.Began, o.Host)
	}
	return err
}
