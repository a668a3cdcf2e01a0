// rma.h: MPI's one-sided operations, part of mpi.c. Rank 0 puts, gets and updates words of the last rank in an epoch of
// MPI_Win_lock_all, and flushes each. The others wait in a barrier, which lets MPI serve them.

static MPI_Win words;
static uint64_t *word;  // this rank's part of the window

static void put_flush(void *arg, long first, long n) {
	(void)arg;
	for (long i = first; i < first + n; i++) {
		uint64_t v = i;
		MPI_Put(&v, 1, MPI_UINT64_T, pes - 1, 0, 1, MPI_UINT64_T, words);
		MPI_Win_flush(pes - 1, words);
	}
}

#define GOT 0x5bd1e995u

static void get_flush(void *arg, long first, long n) {
	uint64_t *wrong = arg, v;
	for (long i = first; i < first + n; i++) {
		v = 0;
		MPI_Get(&v, 1, MPI_UINT64_T, pes - 1, 0, 1, MPI_UINT64_T, words);
		MPI_Win_flush(pes - 1, words);
		*wrong |= v ^ GOT;
	}
}

static void fetch_add(void *arg, long first, long n) {
	uint64_t *wrong = arg, one = 1, old;
	for (long i = first; i < first + n; i++) {
		MPI_Fetch_and_op(&one, &old, MPI_UINT64_T, pes - 1, 0, MPI_SUM, words);
		MPI_Win_flush(pes - 1, words);
		*wrong |= old ^ (uint64_t)i;
	}
}

static void compare_swap(void *arg, long first, long n) {
	uint64_t *wrong = arg, old;
	for (long i = first; i < first + n; i++) {
		uint64_t expected = i, next = i + 1;
		MPI_Compare_and_swap(&next, &expected, &old, MPI_UINT64_T, pes - 1, 0, words);
		MPI_Win_flush(pes - 1, words);
		*wrong |= old ^ expected;
	}
}

// set_word sets every rank's word.
static void set_word(uint64_t v) {
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, words);
	*word = v;
	MPI_Win_unlock(me, words);
	MPI_Barrier(MPI_COMM_WORLD);
}

// bench_rma measures one operation. The word of the last rank is begin before it, and end, plus scale for each
// operation, after it.
static void bench_rma(const char *bench, void (*batch)(void *, long, long), uint64_t begin, uint64_t end, uint64_t scale) {
	uint64_t wrong = 0;
	struct work w = {batch, &wrong, 1, BATCH_NS, NULL};
	long done = 0;
	if (!wanted(&options, bench))
		return;
	set_word(begin);
	if (me == 0) {
		MPI_Win_lock_all(0, words);
		struct series s = measure(&w, options.point_ns);
		done = s.done;
		MPI_Win_unlock_all(words);
		report(bench, 8, pes, transport, &s, 1);
	}
	MPI_Bcast(&done, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	if (wrong)
		die("%s: a value is wrong", bench);
	MPI_Win_lock(MPI_LOCK_SHARED, me, 0, words);
	if (me == pes - 1 && *word != end + scale * (uint64_t)done)
		die("%s: the word is %lu after %ld operations", bench, (unsigned long)*word, done);
	MPI_Win_unlock(me, words);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void bench_words(void) {
	MPI_Win_allocate(sizeof *word, sizeof *word, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &words);
	bench_rma("put-quiet", put_flush, 0, -1, 1);
	bench_rma("get", get_flush, GOT, GOT, 0);
	bench_rma("fetch-add", fetch_add, 0, 0, 1);
	bench_rma("compare-swap", compare_swap, 0, 0, 1);
	MPI_Win_free(&words);
}
