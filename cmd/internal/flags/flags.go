// Package flags has the values of the flags of commands. Each value answers a mistake with what to write, where package
// flag would say "parse error".
package flags

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Values of flags; each is a flag.Value.
type (
	Text     string
	Bool     bool
	Int      int
	Uint64   uint64
	Duration time.Duration // not negative
)

// New returns an empty set of flags. Parse of it prints nothing, and returns its errors.
func New(command string) *flag.FlagSet {
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// BoolVar is the method of a FlagSet, for a Bool.
func BoolVar(fs *flag.FlagSet, p *bool, name string, value bool, usage string) {
	*p = value
	fs.Var((*Bool)(p), name, usage)
}

// IntVar is the method of a FlagSet, for an Int.
func IntVar(fs *flag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	fs.Var((*Int)(p), name, usage)
}

// Uint64Var is the method of a FlagSet, for a Uint64.
func Uint64Var(fs *flag.FlagSet, p *uint64, name string, value uint64, usage string) {
	*p = value
	fs.Var((*Uint64)(p), name, usage)
}

// DurationVar is the method of a FlagSet, for a Duration.
func DurationVar(fs *flag.FlagSet, p *time.Duration, name string, value time.Duration, usage string) {
	*p = value
	fs.Var((*Duration)(p), name, usage)
}

func (v *Text) String() string { return string(*v) }

// Set takes any text.
func (v *Text) Set(text string) error {
	*v = Text(text)
	return nil
}

func (v *Bool) String() string { return strconv.FormatBool(bool(*v)) }

// IsBoolFlag lets the flag stand without a value.
func (v *Bool) IsBoolFlag() bool { return true }

// Set takes what package flag takes for a truth value.
func (v *Bool) Set(text string) error {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("write the flag alone, or =false behind it")
	}
	*v = Bool(b)
	return nil
}

// errNumber answers what is no number.
var errNumber = errors.New("write a whole number, such as 4")

func (v *Int) String() string { return strconv.Itoa(int(*v)) }

// Set takes a whole number.
func (v *Int) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return errNumber
	}
	*v = Int(n)
	return nil
}

func (v *Uint64) String() string { return strconv.FormatUint(uint64(*v), 10) }

// Set takes a whole number that is not negative.
func (v *Uint64) Set(text string) error {
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return errNumber
	}
	*v = Uint64(n)
	return nil
}

func (v *Duration) String() string { return time.Duration(*v).String() }

// Set takes a duration that is not negative.
func (v *Duration) Set(text string) error {
	d, err := time.ParseDuration(text)
	_, bare := strconv.Atoi(text)
	switch {
	case err != nil && bare == nil && text[0] != '-':
		return fmt.Errorf("write %ss for seconds, or %sm for minutes", text, text)
	case err != nil:
		return errors.New("write a number with its unit, such as 5s or 1m30s")
	case d < 0:
		return errors.New("it is negative: write a time such as 5s")
	}
	*v = Duration(d)
	return nil
}
