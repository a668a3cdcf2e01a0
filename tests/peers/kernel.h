// kernel.h: what the kernels have in common: transpose.c, stencil.c, gups.c. Each is one of ours in
// samples/, by OpenSHMEM 1.4 and the same algorithm, with the same flags and the same line of JSON.

#ifndef PEERS_KERNEL_H
#define PEERS_KERNEL_H

#include <math.h>
#include <shmem.h>

#include "measure.h"

static int me, pes;

static void begin(const char *name) {
	program = name;
	shmem_init();
	me = shmem_my_pe();
	pes = shmem_n_pes();
}

static int end(void) {
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}

// number reads flag -name N, or returns otherwise.
static long number(int argc, char **argv, const char *name, long otherwise) {
	for (int i = 1; i + 1 < argc; i += 2)
		if (!strcmp(argv[i], name)) {
			char *end;
			long n = strtol(argv[i + 1], &end, 10);
			if (end == argv[i + 1] || *end || n < 0)
				die("%s %s is not a number", name, argv[i + 1]);
			return n;
		}
	return otherwise;
}

// word reads flag -name WORD, or returns otherwise.
static inline const char *word(int argc, char **argv, const char *name, const char *otherwise) {
	for (int i = 1; i + 1 < argc; i += 2)
		if (!strcmp(argv[i], name))
			return argv[i + 1];
	return otherwise;
}

static void *symmetric(size_t bytes) {
	void *p = shmem_malloc(bytes);
	if (!p)
		die("no symmetric memory for %zu bytes: SHMEM_SYMMETRIC_SIZE=2G in the environment may help", bytes);
	memset(p, 0, bytes);
	return p;
}

// sum adds value over all PEs, and returns the total on all.
static inline double sum(double value) {
	static double source, target, work[1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
	static long sync[SHMEM_REDUCE_SYNC_SIZE];
	for (size_t i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
		sync[i] = SHMEM_SYNC_VALUE;
	source = value;
	shmem_barrier_all();
	shmem_double_sum_to_all(&target, &source, 1, 0, 0, pes, work, sync);
	shmem_barrier_all();
	return target;
}

// total adds an integer over all PEs, modulo 2^64, and returns the total on all.
static inline uint64_t total(uint64_t value) {
	static long source, target, work[1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE], sync[SHMEM_REDUCE_SYNC_SIZE];
	for (size_t i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
		sync[i] = SHMEM_SYNC_VALUE;
	source = value;
	shmem_barrier_all();
	shmem_long_sum_to_all(&target, &source, 1, 0, 0, pes, work, sync);
	shmem_barrier_all();
	return target;
}

// What a kernel has computed, in words, if ours says the same in its line of JSON.
static char computed[200];

// conclude prints PE 0's line: what one operation took, how large what it works on is, and what was computed.
static inline void conclude(size_t bytes, double ns) {
	if (me == 0)
		printf("{\"bench\":\"%s\",\"bytes\":%zu,\"pes\":%d,\"transport\":\"oshmem\",\"p50_ns\":%.6g,\"mbps\":%.5g,\"mops\":%.5g%s%s%s}\n",
		       program, bytes, pes, ns, bytes * 1e3 / ns, 1e3 / ns, *computed ? ",\"computed\":\"" : "", computed, *computed ? "\"" : "");
	fflush(stdout);
}

#endif
