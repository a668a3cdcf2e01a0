// collectives.h: the collectives of osh.c, by the active-set routines of OpenSHMEM 1.4 over all PEs.
//
// A size is what one PE contributes: the message of a broadcast, the block of a collect, the block for
// one other PE of an alltoall, the vector of a sum. The root of broadcasts goes round, so that no PE runs
// ahead of the others and is timed alone. Every operation carries its number in the first word of each
// contribution, and the first word of what arrives is looked at each time; all of it after the last.
//
// Targets and pSync arrays alternate: an operation may still be under way elsewhere when the next begins.

#ifndef PEERS_COLLECTIVES_H
#define PEERS_COLLECTIVES_H

struct collective {
	long words;       // of a contribution
	long *source;     // for alltoall one contribution for each PE
	long *target[2];  // of the operations with even and with odd numbers
	long *sync[2];
	long *scratch;  // that reductions ask for
	long wrong;     // bits that differed from what they had to be
};

// signed_by is word w of what PE pe contributes to operation number. Blocks of an alltoall differ by tag.
static long signed_by(long pe, long w, long number, long tag) { return w == 0 ? number + 1000 * pe + tag : 7 * w + pe; }

static void prepare(struct collective *c, size_t bytes) {
	size_t blocks = pes * bytes;
	c->words = bytes / sizeof(long);
	c->wrong = 0;
	c->source = shmem_malloc(blocks);
	c->scratch = shmem_malloc(bytes / 2 + 8 * (1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE));
	for (int i = 0; i < 2; i++) {
		c->target[i] = shmem_malloc(blocks);
		c->sync[i] = shmem_malloc(SHMEM_SYNC_SIZE * sizeof(long));
		if (!c->source || !c->scratch || !c->target[i] || !c->sync[i])
			die("no memory for collectives of %zu bytes", bytes);
		for (size_t j = 0; j < SHMEM_SYNC_SIZE; j++)
			c->sync[i][j] = SHMEM_SYNC_VALUE;
	}
	for (int pe = 0; pe < pes; pe++)
		for (long w = 0; w < c->words; w++)
			c->source[pe * c->words + w] = signed_by(me, w, 0, 0);
	shmem_barrier_all();
}

static void dismiss(struct collective *c) {
	shmem_barrier_all();
	for (int i = 1; i >= 0; i--) {
		shmem_free(c->sync[i]);
		shmem_free(c->target[i]);
	}
	shmem_free(c->scratch);
	shmem_free(c->source);
}

static int root_of(long number) { return number % pes; }

static long sum_of_pes(void) { return (long)pes * (pes - 1) / 2; }

// expect_first looks at the first word of what PE pe has contributed to operation number.
static void expect_first(struct collective *c, long number, int pe, long tag) {
	c->wrong |= c->target[number & 1][pe * c->words] ^ signed_by(pe, 0, number, tag);
}

static void broadcasts(void *arg, long first, long n) {
	struct collective *c = arg;
	for (long i = first; i < first + n; i++) {
		int root = root_of(i);
		c->source[0] = signed_by(me, 0, i, 0);
		shmem_broadcast64(c->target[i & 1], c->source, c->words, root, 0, 0, pes, c->sync[i & 1]);
		if (me != root)
			c->wrong |= c->target[i & 1][0] ^ signed_by(root, 0, i, 0);
	}
}

static void fcollects(void *arg, long first, long n) {
	struct collective *c = arg;
	for (long i = first; i < first + n; i++) {
		c->source[0] = signed_by(me, 0, i, 0);
		shmem_fcollect64(c->target[i & 1], c->source, c->words, 0, 0, pes, c->sync[i & 1]);
		expect_first(c, i, root_of(i), 0);
	}
}

static void collects(void *arg, long first, long n) {
	struct collective *c = arg;
	for (long i = first; i < first + n; i++) {
		c->source[0] = signed_by(me, 0, i, 0);
		shmem_collect64(c->target[i & 1], c->source, c->words, 0, 0, pes, c->sync[i & 1]);
		expect_first(c, i, root_of(i), 0);
	}
}

static void alltoalls(void *arg, long first, long n) {
	struct collective *c = arg;
	for (long i = first; i < first + n; i++) {
		for (int pe = 0; pe < pes; pe++)
			c->source[pe * c->words] = signed_by(me, 0, i, pe);
		shmem_alltoall64(c->target[i & 1], c->source, c->words, 0, 0, pes, c->sync[i & 1]);
		expect_first(c, i, root_of(i), me);
	}
}

static void sums(void *arg, long first, long n) {
	struct collective *c = arg;
	for (long i = first; i < first + n; i++) {
		c->source[0] = signed_by(me, 0, i, 0);
		shmem_long_sum_to_all(c->target[i & 1], c->source, c->words, 0, 0, pes, c->scratch, c->sync[i & 1]);
		c->wrong |= c->target[i & 1][0] ^ (pes * i + 1000 * sum_of_pes());
	}
}

static void check_word(const char *bench, long w, long got, long want) {
	if (got != want)
		die("%s: word %ld is %ld, not %ld", bench, w, got, want);
}

// check_blocks looks at all words of the last operation's target: a block of each PE.
static void check_blocks(const char *bench, const struct collective *c, long last, int tag) {
	for (int pe = 0; pe < pes; pe++)
		for (long w = 0; w < c->words; w++)
			check_word(bench, w, c->target[last & 1][pe * c->words + w], signed_by(pe, w, last, tag));
}

static void check_broadcast(const char *bench, const struct collective *c, long last) {
	int root = root_of(last);
	for (long w = 0; me != root && w < c->words; w++)
		check_word(bench, w, c->target[last & 1][w], signed_by(root, w, last, 0));
}

static void check_collect(const char *bench, const struct collective *c, long last) { check_blocks(bench, c, last, 0); }

static void check_alltoall(const char *bench, const struct collective *c, long last) { check_blocks(bench, c, last, me); }

static void check_sum(const char *bench, const struct collective *c, long last) {
	check_word(bench, 0, c->target[last & 1][0], pes * last + 1000 * sum_of_pes());
	for (long w = 1; w < c->words; w++)
		check_word(bench, w, c->target[last & 1][w], 7 * w * pes + sum_of_pes());
}

static const struct {
	const char *bench;
	void (*batch)(void *, long, long);
	void (*check)(const char *, const struct collective *, long);
} collectives[] = {
	{"broadcast", broadcasts, check_broadcast},
	{"fcollect", fcollects, check_collect},
	{"collect", collects, check_collect},
	{"alltoall", alltoalls, check_alltoall},
	{"sum", sums, check_sum},
};

static void bench_collectives(size_t bytes) {
	for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
		const char *bench = collectives[i].bench;
		struct collective c;
		if (!wanted(&options, bench) || bytes % sizeof(long))
			continue;
		prepare(&c, bytes);
		long done = join(bench, (struct work){collectives[i].batch, &c, 1, LONG_BATCH_NS, NULL}, bytes, 1);
		if (c.wrong)
			die("%s of %zu bytes: a word of another operation arrived", bench, bytes);
		collectives[i].check(bench, &c, done - 1);
		dismiss(&c);
	}
}

#endif
