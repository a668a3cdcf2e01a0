// locks.h: how locks are measured, by osh.c and mpi.c, and by cmd/pgasbench/locks.go in the same way.
//
//	lock-own        lock, count, unlock by PE 0 alone; the lock's words are its own
//	lock-other      the same, the lock's words are the last PE's
//	lock-contended  all PEs at one lock, for a fixed time: lock, read a counter of PE 0, write it, unlock
//
// While PE 0 is alone the others wait in a barrier. A PE counts in its own memory then.
//
// A contended run ends by the clock and not after so many operations, because a lock may let a PE starve.
// The clock is read when the lock is asked for, which is when the turn before ends, and when it is acquired.
// The counter is that of all turns: what it has grown by between two turns of a PE is how often others passed
// it, and at the end it shows whether another PE held the lock meanwhile.

#ifndef PEERS_LOCKS_H
#define PEERS_LOCKS_H

#include "measure.h"

#define CONTENDED 10   // points that a contended run is long, so that unfairness shows
#define PATIENCE_S 20  // beyond that: a PE still waits then, and the program ends

// What one PE has got of a lock. Times are in ns. It has doubles only: it travels as an array of them.
struct share {
	double got;      // turns
	double took;     // in all
	double p50;      // of the waits from request to acquisition
	double p99;      // of them
	double longest;  // of them
	double passed;   // the most turns that others had between two of its own, or before its first
};

// What PEs compete for. count adds a turn to those that all PEs have had, and returns how many there were before.
struct contest {
	void (*lock)(void);
	long (*count)(void);
	void (*unlock)(void);
};

// A histogram of times: below 16 ns a bucket each, then 16 for each power of two. The same buckets stand in
// cmd/pgasbench/histogram.

#define BUCKETS 640

static int bucket_of(int64_t ns) {
	if (ns < 16)
		return ns < 0 ? 0 : ns;
	int e = 63 - __builtin_clzll(ns), i = 16 * (e - 3) + ((ns >> (e - 4)) & 15);
	return i < BUCKETS ? i : BUCKETS - 1;
}

static double middle_of(int i) {
	if (i < 16)
		return i;
	int64_t width = 1LL << (i / 16 - 1);
	return (16 + i % 16) * width + (width - 1) / 2.0;
}

// histogram_quantile is the time that a part q of all did not exceed: the longest at most.
static double histogram_quantile(const uint32_t *counts, long all, double q, double longest) {
	long below = 0;
	for (int i = 0; i < BUCKETS; i++) {
		below += counts[i];
		if (below > 0 && below >= q * all)
			return middle_of(i) < longest ? middle_of(i) : longest;
	}
	return longest;
}

static const char *contended_for;

static inline void on_starving(int signal) {
	char text[200];
	(void)signal;
	int n = snprintf(text, sizeof text, "%s: %s: a PE has waited for %d s, the others having stopped\n", program, contended_for, PATIENCE_S);
	if (write(2, text, n) == n)
		_exit(1);
	_exit(1);
}

// contend takes turns for the time of a contended run.
static inline struct share contend(const char *bench, struct contest c, int64_t point_ns) {
	static uint32_t waits[BUCKETS];
	struct share s = {0};
	int64_t length = CONTENDED * point_ns, begun, asked, wait;
	long before, last = -1;
	contended_for = bench;
	memset(waits, 0, sizeof waits);
	signal(SIGALRM, on_starving);
	alarm(length / 1000000000 + PATIENCE_S);
	begun = asked = now_ns();
	do {
		c.lock();
		wait = now_ns() - asked;
		before = c.count();
		c.unlock();
		waits[bucket_of(wait)]++;
		if (wait > s.longest)
			s.longest = wait;
		if (before - last - 1 > s.passed)
			s.passed = before - last - 1;
		last = before;
		asked = now_ns();
		s.got++;
	} while (asked - begun < length);
	alarm(0);
	s.took = asked - begun;
	s.p50 = histogram_quantile(waits, s.got, 0.5, s.longest);
	s.p99 = histogram_quantile(waits, s.got, 0.99, s.longest);
	return s;
}

// report_shares prints the JSON line of a contended run. The rate is the sum of the PEs' own, since they
// do not end at one moment. The waits are those of the PE that waited longest.
static inline void report_shares(const char *bench, int pes, const char *transport, const struct share *s) {
	double per_ns = 0, passed = 0, least = s[0].got, most = 0;
	const struct share *worst = s;
	for (int pe = 0; pe < pes; pe++) {
		per_ns += s[pe].got / s[pe].took;
		worst = s[pe].longest > worst->longest ? &s[pe] : worst;
		passed = s[pe].passed > passed ? s[pe].passed : passed;
		least = s[pe].got < least ? s[pe].got : least;
		most = s[pe].got > most ? s[pe].got : most;
	}
	printf("{\"bench\":\"%s\",\"bytes\":8,\"pes\":%d,\"transport\":\"%s\",\"p50_ns\":%.5g,\"mops\":%.5g,\"wait_p50_ns\":%.5g,\"p99_ns\":%.5g,"
	       "\"max_ns\":%.5g,\"passed\":%.0f,\"least\":%.0f,\"most\":%.0f}\n",
	       bench, pes, transport, 1 / per_ns, per_ns * 1e3, worst->p50, worst->p99, worst->longest, passed, least, most);
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
