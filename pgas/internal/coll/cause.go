package coll

// Why the context of another PE has ended, as an error.

import (
	"context"
	"errors"
)

// A cause is why another PE's context has ended.
type cause struct {
	text string
	is   error
}

func (c *cause) Error() string { return c.text }

func (c *cause) Unwrap() error { return c.is }

// remoteCause returns an error with the given text that wraps is, one of the errors of package context.
func remoteCause(text string, is error) error {
	if is == nil || text == is.Error() {
		if is != nil {
			return is
		}
		return errors.New(text)
	}
	return &cause{text, is}
}

// causeOf returns the error of package context that ctx has ended with.
func causeOf(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return context.Canceled
}
