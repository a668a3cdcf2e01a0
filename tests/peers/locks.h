// locks.h: how locks are measured, by osh.c and mpi.c, and by cmd/pgasbench/locks.go in the same way.
//
//	lock-own        lock, count, unlock by PE 0 alone; the lock's words are its own
//	lock-other      the same, the lock's words are the last PE's
//	lock-contended  all PEs at one lock, for a fixed time: lock, read a counter of PE 0, write it, unlock
//
// While PE 0 is alone the others wait in a barrier. A PE counts in its own memory then.
//
// A contended run ends by the clock and not after so many operations, because a lock may let a PE starve.
// What a PE's wait was is taken from the clock once for each operation: the time since its last one, which
// is a wait and little else. The counter shows at the end whether another PE held the lock meanwhile.

#ifndef PEERS_LOCKS_H
#define PEERS_LOCKS_H

#include "measure.h"

#define CONTENDED 10   // points that a contended run is long, so that unfairness shows
#define PATIENCE_S 20  // beyond that: a PE still waits then, and the program ends

// What one PE has got of a lock.
struct share {
	double got;      // operations
	double longest;  // ns between two of them
	double took;     // ns in all
};

static const char *contended_for;

static inline void on_starving(int signal) {
	char text[200];
	(void)signal;
	int n = snprintf(text, sizeof text, "%s: %s: a PE has waited for %d s, the others having stopped\n", program, contended_for, PATIENCE_S);
	if (write(2, text, n) == n)
		_exit(1);
	_exit(1);
}

// contend runs once again and again for the time of a contended run.
static inline struct share contend(const char *bench, void (*once)(void *), void *arg, int64_t point_ns) {
	struct share s = {0, 0, 0};
	int64_t length = CONTENDED * point_ns, begun, before, after;
	contended_for = bench;
	signal(SIGALRM, on_starving);
	alarm(length / 1000000000 + PATIENCE_S);
	before = begun = now_ns();
	do {
		once(arg);
		after = now_ns();
		if (after - before > s.longest)
			s.longest = after - before;
		before = after;
		s.got++;
	} while (after - begun < length);
	alarm(0);
	s.took = after - begun;
	return s;
}

// report_shares prints the JSON line of a contended run. The rate is the sum of the PEs' own, since they
// do not end at one moment.
static inline void report_shares(const char *bench, int pes, const char *transport, const struct share *s) {
	double per_ns = 0, longest = 0, least = s[0].got, most = 0;
	for (int pe = 0; pe < pes; pe++) {
		per_ns += s[pe].got / s[pe].took;
		longest = s[pe].longest > longest ? s[pe].longest : longest;
		least = s[pe].got < least ? s[pe].got : least;
		most = s[pe].got > most ? s[pe].got : most;
	}
	printf("{\"bench\":\"%s\",\"bytes\":8,\"pes\":%d,\"transport\":\"%s\",\"p50_ns\":%.5g,\"mops\":%.5g,\"max_ns\":%.5g,\"least\":%.0f,\"most\":%.0f}\n",
	       bench, pes, transport, 1 / per_ns, per_ns * 1e3, longest, least, most);
	fflush(stdout);
}

static inline void check_count(const char *bench, long count, const struct share *s, int pes) {
	double all = 0;
	for (int pe = 0; pe < pes; pe++)
		all += s[pe].got;
	if (count != (long)all)
		die("%s: %.0f times the lock was held, but the counter under it is %ld", bench, all, count);
}

#endif
