// osh.c: the operations of pgasbench, by OpenSHMEM 1.4. PE 0 works with the last PE and prints.
//
//	oshcc -O3 -o osh osh.c
//	oshrun --allow-run-as-root --oversubscribe --mca osc ^rdma --mca mpi_yield_when_idle 1 -np 2 ./osh -bench put -sizes 8 -time 50ms
//
// Debian's Open MPI 4.1.4 dies of a segmentation fault in shmem_finalize, after all output, unless
// osc ^rdma is given: the component's finalization frees memory through a hook of a library that has
// been unloaded by then. oshrun may lose output of a job that dies so.

#include <shmem.h>

#include "locks.h"
#include "measure.h"

static int me, pes, partner;
static struct options options;
static const char *transport;

#define BIGGEST (4 << 20)

// The symmetric memory that all benches share.
static unsigned char *area;   // target of puts, source of gets
static uint64_t *word;        // target of atomics; the flag of the ping-pongs
static uint64_t *agreement;   // what the leader decided
static unsigned char *local;  // private memory of this PE

static void allocate(void) {
	size_t ring = RING_BYTES > BIGGEST ? RING_BYTES : BIGGEST;
	area = shmem_malloc(ring);
	word = shmem_malloc(64);
	agreement = shmem_malloc(64);
	local = malloc(ring);
	if (!area || !word || !agreement || !local)
		die("no memory");
	fill(area, ring);
	fill(local, ring);
	*word = 0;
	shmem_barrier_all();
}

static long agree(long value) {
	if (me == 0)
		for (int pe = 0; pe < pes; pe++)
			shmem_uint64_p(agreement, value, pe);
	shmem_barrier_all();
	value = *(volatile uint64_t *)agreement;
	shmem_barrier_all();
	return value;
}

// What a batch of a one-sided or ping-pong bench works on.
struct job {
	size_t bytes;
	long slots;
	uint64_t wrong;  // bits that differed from what they had to be
};

static unsigned char *slot_of(const struct job *j, unsigned char *ring, long i) { return ring + (i & (j->slots - 1)) * j->bytes; }

// lead measures work of PE 0 alone while the others wait in a barrier, which lets Open MPI serve them.
// It returns how many operations were run, on every PE.
static long lead(const char *bench, struct work w, size_t bytes, double scale) {
	long done = 0;
	shmem_barrier_all();
	if (me == 0) {
		struct series s = measure(&w, options.point_ns);
		done = s.done;
		report(bench, bytes, pes, transport, &s, scale);
		shmem_quiet();
	}
	return agree(done);
}

// join measures work that every PE takes part in.
static long join(const char *bench, struct work w, size_t bytes, double scale) {
	w.agree = agree;
	shmem_barrier_all();
	struct series s = measure(&w, options.point_ns);
	long done = s.done;
	if (me == 0)
		report(bench, bytes, pes, transport, &s, scale);
	else
		free(s.ns);
	shmem_barrier_all();
	return done;
}

// Puts and gets.

static void put_words(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++)
		shmem_uint64_p((uint64_t *)slot_of(j, area, i), i, partner);
}

static void put_bytes(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++) {
		stamp(local, j->bytes, i);
		shmem_putmem(slot_of(j, area, i), local, j->bytes, partner);
	}
}

static void put_word_quiet(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++) {
		shmem_uint64_p((uint64_t *)slot_of(j, area, i), i, partner);
		shmem_quiet();
	}
}

static void put_bytes_quiet(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++) {
		stamp(local, j->bytes, i);
		shmem_putmem(slot_of(j, area, i), local, j->bytes, partner);
		shmem_quiet();
	}
}

static void get_words(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++)
		j->wrong |= shmem_uint64_g((uint64_t *)slot_of(j, area, i), partner) ^ (uint64_t)(i & (j->slots - 1));
}

static void get_bytes(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++) {
		shmem_getmem(local, slot_of(j, area, i), j->bytes, partner);
		j->wrong |= local[0] ^ (unsigned char)(i & (j->slots - 1));
	}
}

// put_rate puts without waiting and quiets once a window. Sources are not reused before the quiet.
static void put_rate(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++) {
		unsigned char *source = local + (i & (WINDOW - 1)) * j->bytes;
		stamp(source, j->bytes, i);
		shmem_putmem_nbi(slot_of(j, area, i), source, j->bytes, partner);
		if ((i & (WINDOW - 1)) == WINDOW - 1)
			shmem_quiet();
	}
}

// put_stream is put_rate for large messages: one source and one target, stamped once a window.
static void put_stream(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++) {
		if (i % WINDOW == 0)
			stamp(local, j->bytes, i);
		shmem_putmem_nbi(area, local, j->bytes, partner);
		if ((i & (WINDOW - 1)) == WINDOW - 1)
			shmem_quiet();
	}
}

static void check_slots(const char *bench, const struct job *j, long done) {
	if (me == partner)
		for (long slot = 0; slot < j->slots && slot < done; slot++)
			check_payload(bench, area + slot * j->bytes, j->bytes, last_in_slot(done, j->slots, slot));
	shmem_barrier_all();
}

static void bench_puts(size_t bytes) {
	struct job j = {bytes, slots_of(bytes), 0};
	struct work w = {NULL, &j, 1, BATCH_NS, NULL};
	fill(local, bytes);
	for (long slot = 0; slot < j.slots; slot++)
		fill(area + slot * bytes, bytes);
	if (wanted(&options, "put")) {
		w.batch = bytes == 8 ? put_words : put_bytes;
		check_slots("put", &j, lead("put", w, bytes, 1));
	}
	if (wanted(&options, "put-quiet")) {
		w.batch = bytes == 8 ? put_word_quiet : put_bytes_quiet;
		check_slots("put-quiet", &j, lead("put-quiet", w, bytes, 1));
	}
}

static void bench_gets(size_t bytes) {
	struct job j = {bytes, slots_of(bytes), 0};
	struct work w = {bytes == 8 ? get_words : get_bytes, &j, 1, BATCH_NS, NULL};
	if (!wanted(&options, "get"))
		return;
	for (long slot = 0; slot < j.slots; slot++) {
		fill(area + slot * bytes, bytes);
		stamp(area + slot * bytes, bytes, slot);
	}
	long done = lead("get", w, bytes, 1);
	if (j.wrong)
		die("get of %zu bytes: a value is wrong", bytes);
	if (me == 0 && bytes != 8)
		check_payload("get", local, bytes, (done - 1) & (j.slots - 1));
	shmem_barrier_all();
}

static void bench_rate(size_t bytes) {
	struct job j = {bytes, slots_of(bytes), 0};
	struct work w = {put_rate, &j, WINDOW, BATCH_NS, NULL};
	if (!wanted(&options, "rate") || bytes > 1024)
		return;
	for (long i = 0; i < WINDOW; i++)
		fill(local + i * bytes, bytes);
	for (long slot = 0; slot < j.slots; slot++)
		fill(area + slot * bytes, bytes);
	check_slots("rate", &j, lead("rate", w, bytes, 1));
}

static void bench_bandwidth(size_t bytes) {
	struct job j = {bytes, 1, 0};
	struct work w = {put_stream, &j, WINDOW, BATCH_NS, NULL};
	if (!wanted(&options, "bandwidth"))
		return;
	fill(area, bytes);
	fill(local, bytes);
	long done = lead("bandwidth", w, bytes, 1);
	if (me == partner)
		check_payload("bandwidth", area, bytes, done - WINDOW);
	shmem_barrier_all();
}

// Atomics. One PE works on the word, so every old value is known.

static void fetch_adds(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++)
		j->wrong |= shmem_ulong_atomic_fetch_add(word, 1, partner) ^ (uint64_t)i;
}

static void compare_swaps(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++)
		j->wrong |= shmem_ulong_atomic_compare_swap(word, i, i + 1, partner) ^ (uint64_t)i;
}

static void swaps(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++)
		j->wrong |= shmem_ulong_atomic_swap(word, i + 1, partner) ^ (uint64_t)i;
}

static void fetches(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++)
		j->wrong |= shmem_ulong_atomic_fetch(word, partner);
}

static void bench_atomic(const char *bench, void (*batch)(void *, long, long), int counts) {
	struct job j = {8, 1, 0};
	struct work w = {batch, &j, 1, BATCH_NS, NULL};
	if (!wanted(&options, bench))
		return;
	*word = 0;
	shmem_barrier_all();
	long done = lead(bench, w, 8, 1);
	if (j.wrong)
		die("%s: an old value is wrong", bench);
	if (me == partner && *(volatile uint64_t *)word != (uint64_t)(counts ? done : 0))
		die("%s: the word is %llu after %ld operations", bench, (unsigned long long)*word, done);
	shmem_barrier_all();
}

// Ping-pong: a payload, a fence, a flag that counts up; eight bytes are the flag itself. Or a quiet instead of
// the fence; eight bytes are a payload then, too.

static int quietly;

static int has_payload(const struct job *j) { return j->bytes > 8 || quietly; }

static void send_flag(const struct job *j, long number, int to) {
	if (has_payload(j)) {
		stamp(local, j->bytes, number);
		shmem_putmem(area, local, j->bytes, to);
		if (quietly)
			shmem_quiet();
		else
			shmem_fence();
	}
	shmem_uint64_p(word, number, to);
}

static void await_flag(struct job *j, long number) {
	shmem_uint64_wait_until(word, SHMEM_CMP_GE, number);
	if (has_payload(j)) {
		uint64_t got;
		memcpy(&got, area, 8);
		j->wrong |= got ^ (uint64_t)number;
	}
}

static void ping_pong(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first + 1; i <= first + n; i++) {
		if (me == 0) {
			send_flag(j, i, partner);
			await_flag(j, i);
		} else if (me == partner) {
			await_flag(j, i);
			send_flag(j, i, 0);
		}
	}
}

static void bench_flag(const char *bench, int with_quiet, size_t bytes) {
	struct job j = {bytes, 1, 0};
	struct work w = {ping_pong, &j, 1, BATCH_NS, NULL};
	if (!wanted(&options, bench) || bytes < 8 || pes < 2)
		return;
	quietly = with_quiet;
	*word = 0;
	fill(local, bytes);
	fill(area, bytes);
	shmem_barrier_all();
	long done = join(bench, w, bytes, 2);
	if (j.wrong)
		die("%s of %zu bytes: a flag came before its payload", bench, bytes);
	if (has_payload(&j) && (me == 0 || me == partner))
		check_payload(bench, area, bytes, done);
	shmem_barrier_all();
}

static void barriers(void *arg, long first, long n) {
	(void)arg, (void)first;
	while (n--)
		shmem_barrier_all();
}

static void bench_barrier(void) {
	struct work w = {barriers, NULL, 1, LONG_BATCH_NS, NULL};
	if (wanted(&options, "barrier"))
		join("barrier", w, 0, 1);
}

#include "collectives.h"

// Locks. locks.h says what is measured.

static long *locks;           // one for each home
static long *home_lock;       // the one in use
static long *counter;         // of PE 0's copy
static struct share *shares;  // of all PEs, on PE 0

// lock_at is the lock whose words are PE pe's: Open MPI takes the PE from the lock's place in the heap, which
// begins at a page. It is so for numbers of PEs that are powers of two.
static long *lock_at(int pe) {
	long *lock = locks;
	while ((int)((uintptr_t)lock / sizeof *lock % pes) != pe)
		lock++;
	return lock;
}

static void allocate_locks(void) {
	locks = shmem_calloc(pes, sizeof *locks);
	counter = shmem_calloc(64, 1);
	shares = shmem_calloc(pes, sizeof *shares);
	if (!locks || !counter || !shares)
		die("no memory for locks");
	shmem_barrier_all();
}

static void count_alone(void *arg, long first, long n) {
	volatile long *count = arg;
	(void)first;
	while (n--) {
		shmem_set_lock(home_lock);
		++*count;
		shmem_clear_lock(home_lock);
	}
}

static void bench_lock_alone(const char *bench, int home) {
	struct work w = {count_alone, counter, 1, BATCH_NS, NULL};
	if (!wanted(&options, bench))
		return;
	home_lock = lock_at(home);
	*counter = 0;
	long done = lead(bench, w, 8, 1);
	if (me == 0 && *counter != done)
		die("%s: counted to %ld in %ld operations", bench, *counter, done);
	shmem_barrier_all();
}

static void lock_home(void) { shmem_set_lock(home_lock); }

static void unlock_home(void) { shmem_clear_lock(home_lock); }

static long count_turn(void) {
	long before = shmem_long_g(counter, 0);
	shmem_long_p(counter, before + 1, 0);
	return before;
}

static void bench_lock_contended(void) {
	static const char *bench = "lock-contended";
	if (!wanted(&options, bench))
		return;
	home_lock = lock_at(0);
	*counter = 0;
	shmem_barrier_all();
	struct share mine = contend(bench, (struct contest){lock_home, count_turn, unlock_home}, options.point_ns);
	shmem_putmem(shares + me, &mine, sizeof mine, 0);
	shmem_barrier_all();
	if (me == 0) {
		check_count(bench, *(volatile long *)counter, shares, pes);
		report_shares(bench, pes, transport, shares);
	}
	shmem_barrier_all();
}

static void bench_locks(void) {
	allocate_locks();
	bench_lock_alone("lock-own", 0);
	bench_lock_alone("lock-other", partner);
	bench_lock_contended();
}

// idle reports what a PE that has done nothing but start and meet the others takes of memory: the
// median of the PEs.
static void idle(void) {
	uint64_t *rss = shmem_malloc(pes * sizeof *rss), *pss = shmem_malloc(pes * sizeof *pss);
	shmem_barrier_all();
	long r = kilobytes("Rss:"), p = kilobytes("Pss:");
	shmem_barrier_all();
	shmem_uint64_p(rss + me, r, 0);
	shmem_uint64_p(pss + me, p, 0);
	shmem_barrier_all();
	if (me == 0) {
		double *sorted = malloc(2 * pes * sizeof *sorted);
		for (int pe = 0; pe < pes; pe++)
			sorted[pe] = rss[pe], sorted[pes + pe] = pss[pe];
		qsort(sorted, pes, sizeof *sorted, ascending);
		qsort(sorted + pes, pes, sizeof *sorted, ascending);
		printf("{\"bench\":\"idle\",\"pes\":%d,\"transport\":\"%s\",\"rss_kb\":%.0f,\"pss_kb\":%.0f}\n", pes, transport, sorted[pes / 2],
		       sorted[pes + pes / 2]);
	}
	shmem_barrier_all();
}

static void bench_all(void) {
	allocate();
	for (int i = 0; i < options.nsizes; i++) {
		bench_puts(options.sizes[i]);
		bench_gets(options.sizes[i]);
		bench_rate(options.sizes[i]);
		bench_bandwidth(options.sizes[i]);
		bench_flag("flag-pingpong", 0, options.sizes[i]);
		bench_flag("quiet-pingpong", 1, options.sizes[i]);
		bench_collectives(options.sizes[i]);
	}
	bench_atomic("fetch-add", fetch_adds, 1);
	bench_atomic("compare-swap", compare_swaps, 1);
	bench_atomic("swap", swaps, 1);
	bench_atomic("fetch", fetches, 0);
	bench_barrier();
	bench_locks();
}

int main(int argc, char **argv) {
	program = "osh";
	int mode = parse_options(&options, argc, argv);
	transport = getenv("OSH_TRANSPORT") ? getenv("OSH_TRANSPORT") : "oshmem";
	shmem_init();
	me = shmem_my_pe();
	pes = shmem_n_pes();
	partner = pes - 1;
	if (mode == argc)
		bench_all();
	else if (!strcmp(argv[mode], "hello"))
		printf("hello from PE %d of %d\n", me, pes);
	else if (!strcmp(argv[mode], "idle"))
		idle();
	else
		die("usage: osh [-bench REGEXP] [-sizes N,N] [-time 50ms] [hello | idle]");
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
