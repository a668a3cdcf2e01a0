// gups.c: RandomAccess of the HPC Challenge, by OpenSHMEM 1.4: random words of a table, which is spread
// over the PEs, are updated by exclusive or.
//
//	oshcc -O3 -o gups gups.c -lm
//	oshrun --allow-run-as-root --mca osc ^rdma -np 2 ./gups -log 22
//
// Each update is one remote atomic, so none is lost, where the rules allow one in a hundred. The rules let
// a PE look 1,024 updates ahead: it sorts as many by their owner, and waits for them together.

#include "kernel.h"

#define AHEAD 1024  // updates that a PE may know and not have made
#define POLYNOMIAL 7

static long logarithm;
static uint64_t words;   // of the table: a power of two
static uint64_t *first;  // word of each PE
static uint64_t *table;  // this PE's words

static uint64_t next(uint64_t x) { return x << 1 ^ ((int64_t)x < 0 ? POLYNOMIAL : 0); }

// stream_at is the n-th number of the stream. next is linear over GF(2): apply its powers of two.
static uint64_t stream_at(uint64_t n) {
	uint64_t power[64], x = 1;
	for (int i = 0; i < 64; i++)
		power[i] = next(1ull << i);
	for (; n; n >>= 1) {
		uint64_t square[64], y = 0;
		for (int i = 0; i < 64; i++)
			if (x >> i & 1)
				y ^= power[i];
		if (n & 1)
			x = y;
		for (int i = 0; i < 64; i++) {
			square[i] = 0;
			for (int j = 0; j < 64; j++)
				if (power[i] >> j & 1)
					square[i] ^= power[j];
		}
		memcpy(power, square, sizeof power);
	}
	return x;
}

// owner_of splits the table evenly without a division: PE p has the words from first[p].
static int owner_of(uint64_t index) { return index * pes >> logarithm; }

static void allocate(void) {
	words = 1ull << logarithm;
	first = malloc((pes + 1) * sizeof *first);
	for (int pe = 0; pe <= pes; pe++)
		first[pe] = (pe * words + pes - 1) / pes;
	table = symmetric((words / pes + 1) * sizeof *table);
	for (uint64_t i = first[me]; i < first[me + 1]; i++)
		table[i - first[me]] = i;
	shmem_barrier_all();
}

// A bucket holds the updates of one batch that one PE owns.
struct bucket {
	long count;
	uint64_t value[AHEAD];
};

static void update(struct bucket *buckets, uint64_t *x, long n) {
	for (long i = 0; i < n; i++) {
		*x = next(*x);
		struct bucket *b = &buckets[owner_of(*x & (words - 1))];
		b->value[b->count++] = *x;
	}
	for (int pe = 0; pe < pes; pe++) {
		struct bucket *b = &buckets[pe];
		for (long i = 0; i < b->count; i++)
			shmem_uint64_atomic_xor(table + ((b->value[i] & (words - 1)) - first[pe]), b->value[i], pe);
		b->count = 0;
	}
	shmem_quiet();
}

// run makes this PE's part of the updates.
static void run(uint64_t updates) {
	uint64_t from = updates * me / pes, to = updates * (me + 1) / pes;
	struct bucket *buckets = calloc(pes, sizeof *buckets);
	uint64_t x = stream_at(from);
	for (; from < to; from += AHEAD)
		update(buckets, &x, to - from < AHEAD ? to - from : AHEAD);
	free(buckets);
}

// errors undoes all updates of all PEs in this PE's words by itself, and counts those that are not what
// they were at first.
static double errors(uint64_t updates) {
	uint64_t x = stream_at(0), wrong = 0;
	for (uint64_t i = 0; i < updates; i++) {
		x = next(x);
		uint64_t index = x & (words - 1);
		if (index >= first[me] && index < first[me + 1])
			table[index - first[me]] ^= x;
	}
	for (uint64_t i = first[me]; i < first[me + 1]; i++)
		wrong += table[i - first[me]] != i;
	return sum(wrong);
}

int main(int argc, char **argv) {
	begin("gups");
	logarithm = number(argc, argv, "-log", 22);
	uint64_t updates = (uint64_t)number(argc, argv, "-updates", 4l << logarithm);
	if (logarithm < 10 || logarithm > 40 || updates == 0)
		die("-log must be from 10 to 40, and -updates more than 0");
	allocate();
	int64_t start = now_ns();
	run(updates);
	shmem_barrier_all();
	int64_t took = now_ns() - start;
	double wrong = errors(updates);
	if (wrong > 0)
		die("%.0f words of %llu are wrong", wrong, (unsigned long long)words);
	conclude(sizeof *table, (double)took / updates);
	return end();
}
