package main

// The side of the PEs: rounds, in which each PE does what its clients ask for.

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

// service is the map, and what a PE has for it.
type service struct {
	w     *pgas.World
	texts *containers.TextMap
	set   *ckpt.Set
	front *front
	load  chan error // what was wrong for the clients of -verify; closed when they have finished; nil without
}

// newService makes a map with room for some keys for the clients of f, and restores what was saved of it.
func newService(ctx context.Context, w *pgas.World, capacity int, f *front, opts ...ckpt.Option) (*service, error) {
	texts, err := containers.NewTextMap(ctx, w, containers.Capacity(capacity))
	if err != nil {
		return nil, err
	}
	s := &service{w: w, texts: texts, set: ckpt.New(w, opts...), front: f}
	s.set.Add("texts", texts)
	cut, ok, err := s.set.Restore(ctx)
	if ok && w.PE() == 0 {
		fmt.Println("goes on from cut", cut)
	}
	if err == nil { // what the values show is safe from here on
		_, err = s.set.Wait(ctx)
	}
	return s, err
}

// What a PE says of itself at the end of a round, the most urgent last.
const (
	isDone = iota // its clients have finished
	serves
	hasUpdates
)

// run does rounds, until the clients of all PEs have finished or the job is asked to stop.
func (s *service) run(ctx context.Context) error {
	for {
		batch := s.front.take(ctx)
		mine, err := s.apply(ctx, batch)
		if err != nil {
			return err
		}
		all, err := pgas.MaxValue(ctx, s.w.Team(), mine)
		switch {
		case err != nil:
			return err
		case all == hasUpdates:
			err = s.saveAndAnswer(ctx, batch)
		default: // what the values show is safe already
			s.front.answer(batch)
			_, err = s.set.SaveIfDue(ctx)
		}
		if err != nil || all == isDone {
			return err
		}
	}
}

// apply finds the answers to a batch, and returns what this PE says of itself.
func (s *service) apply(ctx context.Context, batch []*request) (state int, err error) {
	if state, err = s.clients(); err != nil {
		return state, err
	}
	for _, q := range batch {
		if !q.put {
			q.answer = answer{http.StatusNotFound, "there is no such key\n"}
			if value, ok := s.texts.Find(q.key); ok {
				q.answer = answer{http.StatusOK, value}
			}
			continue
		}
		switch err := s.texts.Set(ctx, q.key, q.value); {
		case err == nil:
			state, q.answer = hasUpdates, answer{http.StatusOK, "kept in memory alone\n"}
		case errors.As(err, new(*containers.MapFullError)):
			q.answer = answer{http.StatusInsufficientStorage, err.Error() + "\n"}
		default:
			return state, err
		}
	}
	return state, nil
}

// clients looks whether the clients of -verify have finished.
func (s *service) clients() (state int, err error) {
	if s.load == nil {
		return serves, nil
	}
	select {
	case err, more := <-s.load:
		if more {
			return serves, err
		}
		return isDone, nil
	default:
		return serves, nil
	}
}

// saveAndAnswer saves the updates of all PEs, and answers a batch when they are safe.
func (s *service) saveAndAnswer(ctx context.Context, batch []*request) error {
	stop := s.set.Save(ctx)
	if stop != nil && !errors.Is(stop, ckpt.ErrStop) {
		return stop
	}
	cut, err := s.set.Wait(ctx)
	if err != nil {
		return err
	}
	for _, q := range batch {
		if q.put && q.answer.status == http.StatusOK && cut != (ckpt.Cut{}) {
			q.answer.text = fmt.Sprintf("kept in cut %v\n", cut)
		}
	}
	s.front.answer(batch)
	return stop
}
