// Package ucp is the transport between hosts: UCX, by way of the engine in ucx/engine, which says how it
// works. It reaches every PE of the job, those of this host and itself included, and maps no heap:
// what it carries takes the slow path, and can be seen there.
//
// PEs find each other through the job's Exchange: each publishes the address of its engine under
// "ucp/<pe>", and reads another's when it first talks to it.
//
//ci:nocgo=whole ucx
package ucp
