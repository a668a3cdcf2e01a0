package main

import (
	"testing"

	"github.com/gopgas/gopgas/samples/npb/npbtest"
)

func TestClassS(t *testing.T) { npbtest.Verify(t, program(), "S") }
