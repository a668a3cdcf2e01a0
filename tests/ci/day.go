package main

// What has its turn only on some days. What takes long and seldom finds anything is done in parts, another each day of
// UTC. The commands that a step prints name the part, and run-tests -long does all.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	week = 7 // for tests that compute for long, for random inputs, and for builds that differ little
	few  = 3 // for tests that other steps run too, in another build that differs much
)

// turn returns those of all whose turn is today: of each n things one, and each within n days.
func turn[T any](ctx context.Context, all []T, n int) []T {
	today := turnAt(ctx, all, n, time.Now())
	if len(today) < len(all) {
		fmt.Fprintf(laneOf(ctx).stdout(), "today %d of %d; run-tests -long does all\n", len(today), len(all))
	}
	return today
}

func turnAt[T any](ctx context.Context, all []T, n int, now time.Time) (today []T) {
	if ctx.Value(longKey{}) != nil {
		return all
	}
	n = max(1, min(n, len(all))) // a day without any would be one on which go test gets no package
	for i, one := range all {
		if i%n == int(dayOf(now)%int64(n)) {
			today = append(today, one)
		}
	}
	return today
}

func dayOf(now time.Time) int64 { return now.Unix() / (24 * 60 * 60) }

type longKey struct{}

// seedsOf returns the environment with which pgastest runs three of the simulator's ten adversaries: others each
// day, all within four days. With -long it runs all. The subtest of a seed that fails runs alone without this
// environment, too.
func seedsOf(ctx context.Context, now time.Time) []string {
	if ctx.Value(longKey{}) != nil {
		return nil
	}
	day := 3 * dayOf(now)
	return []string{fmt.Sprintf("TEST_ADVERSARIES=%d,%d,%d", day%10, (day+1)%10, (day+2)%10)}
}

// weeklyTests finds the tests that have the attribute, by package.
func weeklyTests(root string) (weekly []target, err error) {
	tests, err := markedFuncs(root, anyTest)
	for _, t := range tests {
		if slices.Contains(t.words, "weekly") {
			weekly = append(weekly, t.target)
		}
	}
	slices.SortFunc(weekly, func(a, b target) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name)) })
	return weekly, err
}

// namesOf returns the names, each once.
func namesOf(tests []target) (names []string) {
	for _, t := range tests {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
