// Package stranger attacks a job from outside: a program in C that does not belong to it, and knows the address
// and the ports of its PEs, runs on a host that has nothing to do with the job, as another user on a host of
// the job, and on a host of the job as the worst of neighbours. The job must compute what it computes
// undisturbed. docs/use/security.md says what is promised. A process of an earlier term of the job is an attacker, too.
//
//ci:waits
package stranger
