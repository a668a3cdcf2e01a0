// measure.h: how the peer programs measure and report, so that they and pgasbench can be compared.
//
// An operation is repeated in batches. The batch length is doubled until a batch takes BATCH_NS, so
// that reading the clock is well below 1 % of what is measured; then batches follow each other, with
// one clock reading between two, for the time of a point. A sample is the time of a batch divided by
// its operations; a line reports the median, the least and the 99th percentile of the samples.
//
// The same rules and numbers stand in cmd/pgasbench/result/plan.go: change both or neither.

#ifndef PEERS_MEASURE_H
#define PEERS_MEASURE_H

#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH_NS 20000         // least length of a batch
#define LONG_BATCH_NS 1000000  // of operations that hand over the CPU: a median of short batches would hide the waits
#define LEAST_BATCHES 20       // however slow the operation
#define MOST_BATCHES 20000     // however fast
// of a batch length; the best one counts, so that one preemption does not end the doubling
#define TRIES 3
#define WINDOW 64              // non-blocking operations between two quiets
#define RING_BYTES 65536       // small operations walk through a ring of this size
#define MOST_SLOTS 1024        // of that ring

static const char *program = "peer";

static void die(const char *format, ...) {
	va_list args;
	va_start(args, format);
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

// end_with_child ends this process when its child fails: it may be spinning for a word from it.
static inline void on_child(int signal) {
	int status;
	(void)signal;
	if (waitpid(-1, &status, WNOHANG) > 0 && status != 0)
		_exit(1);
}

static inline void end_with_child(void) { signal(SIGCHLD, on_child); }

static int64_t now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// What the command line asks for: which benches, which sizes, how long each point may take.
struct options {
	regex_t bench;
	size_t sizes[32];
	int nsizes;
	int64_t point_ns;
};

// duration_ns reads a duration as Go writes it: 50ms, 2s, 300us.
static int64_t duration_ns(const char *text) {
	char *unit;
	double value = strtod(text, &unit);
	double scale = !strcmp(unit, "s") ? 1e9 : !strcmp(unit, "ms") ? 1e6 : !strcmp(unit, "us") ? 1e3 : 0;
	if (unit == text || scale == 0 || value <= 0)
		die("-time %s is not a duration: write 50ms or 2s", text);
	return value * scale;
}

static void parse_sizes(struct options *o, const char *text) {
	o->nsizes = 0;
	while (*text) {
		char *end;
		long n = strtol(text, &end, 10);
		if (end == text || n < 1 || n > (4 << 20) || (*end && *end != ',') || o->nsizes == 32)
			die("-sizes wants up to 32 byte counts from 1 to 4194304, divided by commas");
		o->sizes[o->nsizes++] = n;
		text = *end ? end + 1 : end;
	}
}

// parse_options reads -bench, -sizes and -time and returns the index of the first argument that is
// none of them.
static inline int parse_options(struct options *o, int argc, char **argv) {
	const char *bench = ".";
	int i = 1;
	parse_sizes(o, "8,1024,65536,1048576");
	o->point_ns = 50000000;
	for (; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "-bench"))
			bench = argv[i + 1];
		else if (!strcmp(argv[i], "-sizes"))
			parse_sizes(o, argv[i + 1]);
		else if (!strcmp(argv[i], "-time"))
			o->point_ns = duration_ns(argv[i + 1]);
		else
			break;
	}
	if (regcomp(&o->bench, bench, REG_EXTENDED | REG_NOSUB))
		die("-bench %s is not a regular expression", bench);
	return i;
}

static inline int wanted(const struct options *o, const char *bench) { return !regexec(&o->bench, bench, 0, 0, 0); }

// A piece of work to measure. batch runs operations first … first+n-1; first grows from batch to
// batch, so that operations can carry their number and be checked. agree returns the leader's value on
// all PEs that take part; it is NULL when the leader works alone.
struct work {
	void (*batch)(void *arg, long first, long n);
	void *arg;
	long step;         // batches are a multiple of this
	int64_t batch_ns;  // least length of a batch
	long (*agree)(long value);
};

// Samples of one point, sorted: ns[0 … count-1], each the mean of one batch.
struct series {
	double *ns;
	long count;
	long done;  // operations run, calibration included
};

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static long agreed(const struct work *w, long value) { return w->agree ? w->agree(value) : value; }

static int64_t best_of_tries(const struct work *w, long *next, long n) {
	int64_t best = INT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		int64_t t = now_ns();
		w->batch(w->arg, *next, n);
		t = now_ns() - t;
		*next += n;
		if (t < best)
			best = t;
	}
	return best;
}

// measure runs w for about point_ns. All PEs that take part in w call it.
static inline struct series measure(const struct work *w, int64_t point_ns) {
	long n = w->step, next = 0;
	int64_t took = best_of_tries(w, &next, n);
	while (agreed(w, took < w->batch_ns)) {
		n *= 2;
		took = best_of_tries(w, &next, n);
	}
	long batches = point_ns / (took > 0 ? took : 1);
	if (batches < LEAST_BATCHES)
		batches = LEAST_BATCHES;
	if (batches > MOST_BATCHES)
		batches = MOST_BATCHES;
	batches = agreed(w, batches);

	struct series s = {malloc(batches * sizeof(double)), batches, 0};
	int64_t before = now_ns();
	for (long b = 0; b < batches; b++, next += n) {
		w->batch(w->arg, next, n);
		int64_t after = now_ns();
		s.ns[b] = (double)(after - before) / n;
		before = after;
	}
	s.done = next;
	qsort(s.ns, s.count, sizeof *s.ns, ascending);
	return s;
}

// quantile is the sample below which a part q of the others lie (nearest rank).
static double quantile(const struct series *s, double q) {
	long i = q * s->count;
	return s->ns[i < s->count ? i : s->count - 1];
}

// report prints one JSON line. scale divides the time of an operation: 2 for one way of a round trip.
static inline void report(const char *bench, size_t bytes, int pes, const char *transport, struct series *s, double scale) {
	double p50 = quantile(s, 0.5) / scale;
	printf("{\"bench\":\"%s\",\"bytes\":%zu,\"pes\":%d,\"transport\":\"%s\",\"p50_ns\":%.4g,\"min_ns\":%.4g,"
	       "\"p99_ns\":%.4g,\"mbps\":%.5g,\"mops\":%.5g}\n",
	       bench, bytes, pes, transport, p50, s->ns[0] / scale, quantile(s, 0.99) / scale, bytes * 1e3 / p50, 1e3 / p50);
	fflush(stdout);
	free(s->ns);
}

// slots_of is how many operands of so many bytes the ring holds: a power of two.
static inline long slots_of(size_t bytes) {
	long slots = 1;
	while (slots < MOST_SLOTS && 2 * slots * bytes <= RING_BYTES)
		slots *= 2;
	return slots;
}

// A payload carries the number of its operation in its first bytes and a pattern behind them.

static inline void fill(unsigned char *p, size_t bytes) {
	for (size_t i = 0; i < bytes; i++)
		p[i] = i * 7 + 3;
}

static inline void stamp(unsigned char *p, size_t bytes, uint64_t number) {
	memcpy(p, &number, bytes < 8 ? bytes : 8);
}

// check_payload dies unless p is what operation number wrote.
static inline void check_payload(const char *bench, const unsigned char *p, size_t bytes, uint64_t number) {
	uint64_t want = 0, got = 0;
	size_t head = bytes < 8 ? bytes : 8;
	memcpy(&want, &number, head);
	memcpy(&got, p, head);
	if (got != want)
		die("%s of %zu bytes: operation %llu arrived, %llu was sent last", bench, bytes, (unsigned long long)got, (unsigned long long)want);
	for (size_t i = head; i < bytes; i++)
		if (p[i] != (unsigned char)(i * 7 + 3))
			die("%s of %zu bytes: byte %zu is wrong", bench, bytes, i);
}

// last_in_slot is the last operation below done that fell into the slot.
static inline uint64_t last_in_slot(long done, long slots, long slot) {
	return done - 1 - ((done - 1 - slot) % slots + slots) % slots;
}

// kilobytes reads one field of /proc/self/smaps_rollup ("Rss:", "Pss:").
static inline long kilobytes(const char *field) {
	char line[256];
	long kb = -1;
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	if (!f)
		die("/proc/self/smaps_rollup: cannot be read");
	while (fgets(line, sizeof line, f))
		if (!strncmp(line, field, strlen(field)))
			kb = atol(line + strlen(field));
	fclose(f);
	return kb;
}

#endif
