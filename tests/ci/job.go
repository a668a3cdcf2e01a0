package main

// The main job, on one machine and on two hosts. Hosts are network namespaces: each has an address of
// its own, and messages between them go through UCX over TCP.

import (
	"context"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

func mainJob(ctx context.Context, input string) error {
	if err := show(ctx, nil, "go", "build", "-o", "bin/", "./cmd/pgasrun", "./samples/wordcount"); err != nil {
		return fmt.Errorf("run-main-job: building failed: %w", err)
	}
	program := []string{"bin/wordcount", "-verify"}
	if input != "" {
		program = append(program, "-input", input)
	}

	fmt.Println("\n== four PEs on this machine ==")
	if err := job(ctx, []string{"-n", "4"}, program); err != nil {
		return err
	}

	fmt.Println("\n== two PEs on each of two hosts, over UCX ==")
	if err := netns.Usable(); err != nil {
		fmt.Printf("skipped: %v\n", err)
		return nil
	}
	return job(ctx, []string{"-netns", "2x2"}, program)
}

func job(ctx context.Context, flags, program []string) error {
	start := time.Now()
	argv := append(append([]string{"bin/pgasrun"}, flags...), program...)
	if err := show(ctx, nil, argv...); err != nil {
		return fmt.Errorf("run-main-job: the job failed (%w): see above, and run that line by hand", err)
	}
	fmt.Printf("== done in %.1f s\n", time.Since(start).Seconds())
	return nil
}
