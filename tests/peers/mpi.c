// mpi.c: locks by MPI's windows, one-sided operations, and messages. PE 0 prints.
//
//	mpicc -O3 -o mpi mpi.c
//	mpirun --allow-run-as-root --oversubscribe -np 2 ./mpi -bench lock -time 50ms
//
// A lock is the exclusive lock of one rank's part of a window. Under it the counter is read with a get and
// a flush, and written with a put, which the unlock completes.

#include <mpi.h>

#include "locks.h"

static int me, pes;
static struct options options;
static const char *transport;

static MPI_Win window;
static long *part;      // this rank's part of the window: the counter
static int home;        // the rank whose part is locked
static long own_count;  // what a rank that is alone counts

#include "rma.h"

static void count_alone(void *arg, long first, long n) {
	volatile long *count = arg;
	(void)first;
	while (n--) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, home, 0, window);
		++*count;
		MPI_Win_unlock(home, window);
	}
}

static void bench_alone(const char *bench, int at) {
	struct work w = {count_alone, &own_count, 1, BATCH_NS, NULL};
	if (!wanted(&options, bench))
		return;
	home = at;
	own_count = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == 0) {
		struct series s = measure(&w, options.point_ns);
		if (own_count != s.done)
			die("%s: counted to %ld in %ld operations", bench, own_count, s.done);
		report(bench, 8, pes, transport, &s, 1);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void lock_first(void) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window); }

static void unlock_first(void) { MPI_Win_unlock(0, window); }

static long count_turn(void) {
	static long before, after;  // MPI reads after until the window is unlocked
	MPI_Get(&before, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
	MPI_Win_flush(0, window);
	after = before + 1;
	MPI_Put(&after, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
	return before;
}

static long counted(void) {
	long count;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
	MPI_Get(&count, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
	MPI_Win_unlock(0, window);
	return count;
}

static void bench_contended(void) {
	static const char *bench = "lock-contended";
	struct share *shares = malloc(pes * sizeof *shares);
	if (!wanted(&options, bench))
		return;
	MPI_Barrier(MPI_COMM_WORLD);
	struct share mine = contend(bench, (struct contest){lock_first, count_turn, unlock_first}, options.point_ns);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Gather(&mine, sizeof mine / sizeof(double), MPI_DOUBLE, shares, sizeof mine / sizeof(double), MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (me == 0) {
		check_count(bench, counted(), shares, pes);
		report_shares(bench, pes, transport, shares);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	free(shares);
}

// Ping-pong: a message to the last rank and back. bytes is its length; the first eight count.

#define BIGGEST (4 << 20)

struct ball {
	size_t bytes;
	uint64_t wrong;  // bits that differed from what they had to be
};

static unsigned char *outbox, *inbox;

static void play(struct ball *b, long number, int other, int first) {
	uint64_t got;
	stamp(outbox, b->bytes, number);
	if (first)
		MPI_Send(outbox, b->bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
	MPI_Recv(inbox, b->bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	memcpy(&got, inbox, 8);
	b->wrong |= got ^ (uint64_t)number;
	if (!first)
		MPI_Send(outbox, b->bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
}

static void ping_pong(void *arg, long first, long n) {
	for (long i = first + 1; i <= first + n; i++) {
		if (me == 0)
			play(arg, i, pes - 1, 1);
		else if (me == pes - 1)
			play(arg, i, 0, 0);
	}
}

static long agree(long value) {
	MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	return value;
}

static void bench_messages(size_t bytes) {
	static const char *bench = "sendrecv-pingpong";
	struct ball b = {bytes, 0};
	struct work w = {ping_pong, &b, 1, BATCH_NS, agree};
	if (!wanted(&options, bench) || bytes < 8 || pes < 2)
		return;
	fill(outbox, bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	struct series s = measure(&w, options.point_ns);
	if (b.wrong)
		die("%s of %zu bytes: another message came", bench, bytes);
	if (me == 0 || me == pes - 1)
		check_payload(bench, inbox, bytes, s.done);
	if (me == 0)
		report(bench, bytes, pes, transport, &s, 2);
	else
		free(s.ns);
}

int main(int argc, char **argv) {
	program = "mpi";
	if (parse_options(&options, argc, argv) != argc)
		die("usage: mpi [-bench REGEXP] [-sizes N,N] [-time 50ms]");
	transport = "mpi";
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &pes);
	MPI_Win_allocate(sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, window);
	*part = 0;
	MPI_Win_unlock(me, window);
	bench_alone("lock-own", 0);
	bench_alone("lock-other", pes - 1);
	bench_contended();
	bench_words();
	outbox = malloc(BIGGEST);
	inbox = malloc(BIGGEST);
	if (!outbox || !inbox)
		die("no memory");
	for (int i = 0; i < options.nsizes; i++)
		bench_messages(options.sizes[i]);
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
