package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain makes this binary the program that busy starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "busy" {
		if err := busyCommand(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestHundred: every run is counted, and each failure by the name of its test; other tests do not run.
func TestHundred(t *testing.T) {
	moduleOf(t, helpers+`
func runs() int {
	text, _ := os.ReadFile("log")
	return strings.Count(string(text), "run")
}

func TestSometimes(t *testing.T) {
	log(t, "run")
	t.Run("third", func(t *testing.T) {
		if runs()%3 == 0 {
			t.Error("a third time")
		}
	})
	if runs() == 7 {
		fmt.Println("it ends in the middle")
		os.Exit(1)
	}
}

func TestOther(t *testing.T) { log(t, "other") }

func TestNever(t *testing.T) { t.Skip("never") }
`)
	err := hundred(t.Context(), "^TestSometimes$", nil, 10, 1)
	want := `run-tests: ./p failed in 4 of 10 runs:
    4  TestSometimes
    3  TestSometimes/third`
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	logged, _ := os.ReadFile("p/log")
	if got := strings.Join(strings.Fields(string(logged)), " "); got != strings.TrimSpace(strings.Repeat("run ", 10)) {
		t.Errorf("the tests have logged %s", got)
	}
	if err := hundred(t.Context(), "TestFine", []string{"q"}, 3, 0); err != nil {
		t.Errorf("tests that pass: %v", err)
	}
	if err := hundred(t.Context(), "TestNever", nil, 3, 0); err == nil || !strings.Contains(err.Error(), "skipped") {
		t.Errorf("tests that are skipped: %v", err)
	}
	var usage usageError
	for pattern, dirs := range map[string][]string{"TestNo": nil, "TestFine": {"./p"}, "(": nil} {
		if err := hundred(t.Context(), pattern, dirs, 1, 0); !errors.As(err, &usage) {
			t.Errorf("%s in %v: %v", pattern, dirs, err)
		}
	}
}

// TestBusyEnds: the loops end with the call of end. It closes their input, as the kernel does if their parent is
// killed.
func TestBusyEnds(t *testing.T) {
	end, err := busy(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	end() // returns when the process has ended
}
