// bale.c: five kernels of bale (J. DeVinney and J. Gilbert, 2020), by OpenSHMEM 1.4, an access at a time: atomics, gets
// and puts of single words.
//
//	oshcc -O3 -o bale bale.c -lm
//	oshrun --allow-run-as-root --mca osc ^rdma -np 2 ./bale -kernel histogram
//
// Flags, what is drawn, what is checked and the line of JSON are those of samples/bale. Row, word and place i are on
// PE i mod n.

#include "kernel.h"

static long logarithm, ops, degree;

// draw is number k of stream s.
static uint64_t draw(uint64_t s, uint64_t k) {
	uint64_t x = (s + 1) * 0x9e3779b97f4a7c15 + (k + 1) * 0xd1b54a32d192ed03;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t below(uint64_t s, uint64_t k, uint64_t n) { return draw(s, k) % n; }

static long share(long n, int pe) { return (long)((__int128)n * pe / pes); }

// on returns how many of n things dealt in turn this PE has.
static long on(long n) { return (n - me + pes - 1) / pes; }

static void *own(size_t bytes) {
	void *p = malloc(bytes + 8);
	if (!p)
		die("no memory for %zu bytes", bytes);
	return p;
}

static int64_t started;

static void start(void) {
	shmem_barrier_all();
	started = now_ns();
}

static void finish(const char *name, double wrong, long operations, size_t bytes, int64_t took) {
	if (sum(wrong) != 0)
		die("%s: the result is wrong", name);
	program = name;
	conclude(bytes, (double)took / operations);
}

static uint64_t *drawn_indexes(long *n) {
	long lo = share(ops, me), hi = share(ops, me + 1);
	uint64_t *idx = own((hi - lo) * sizeof *idx);
	for (long k = lo; k < hi; k++)
		idx[k - lo] = below(0, k, 1ul << logarithm);
	*n = hi - lo;
	return idx;
}

static void histogram(void) {
	long words = 1l << logarithm, n;
	long *table = symmetric((words / pes + 1) * sizeof *table);
	uint64_t *idx = drawn_indexes(&n);
	start();
	for (long k = 0; k < n; k++)
		shmem_long_atomic_inc(&table[idx[k] / pes], idx[k] % pes);
	shmem_barrier_all();
	int64_t took = now_ns() - started;
	for (long k = 0; k < ops; k++) {
		uint64_t i = below(0, k, words);
		if ((int)(i % pes) == me)
			table[i / pes]--;
	}
	double wrong = 0;
	for (long at = 0; at < on(words); at++)
		wrong += table[at] != 0;
	finish("histogram", wrong, ops, sizeof *table, took);
}

static void gather(void) {
	long words = 1l << logarithm, n;
	long *table = symmetric((words / pes + 1) * sizeof *table);
	for (long at = 0; at < on(words); at++)
		table[at] = (long)draw(1, at * pes + me);
	uint64_t *idx = drawn_indexes(&n);
	long *got = own(n * sizeof *got);
	start();
	for (long k = 0; k < n; k++)
		got[k] = shmem_long_g(&table[idx[k] / pes], idx[k] % pes);
	shmem_barrier_all();
	int64_t took = now_ns() - started;
	double wrong = 0;
	for (long k = 0; k < n; k++)
		wrong += got[k] != (long)draw(1, idx[k]);
	finish("gather", wrong, ops, sizeof *table, took);
}

// permutation throws darts at twice as many places, each until it hits a free one, and writes them down in the order of
// their places: PE by PE.
static void permutation(void) {
	long n = 1l << logarithm, places = 2 * n;
	// 8 bytes, for a compare-and-swap of 4 bytes writes past the end of a variable in Open MPI 4.1.4.
	long *board = symmetric((places / pes + 1) * sizeof *board);
	unsigned *result = symmetric((n / pes + 2) * sizeof *result);
	long *counts = symmetric(pes * sizeof *counts), *seen = symmetric((n / pes + 1) * sizeof *seen);
	start();
	for (long k = share(n, me); k < share(n, me + 1); k++)
		for (uint64_t thrown = 0;; thrown++) {
			uint64_t place = below(k + 1, thrown, places);
			if (shmem_long_atomic_compare_swap(&board[place / pes], 0, k + 1, place % pes) == 0)
				break;
		}
	shmem_barrier_all();
	long hits = 0, before = 0;
	for (long at = 0; at < on(places); at++)
		hits += board[at] != 0;
	for (int pe = 0; pe < pes; pe++)
		shmem_long_p(&counts[me], hits, pe);
	shmem_barrier_all();
	for (int pe = 0; pe < me; pe++)
		before += counts[pe];
	int owner = 0;
	for (long at = 0; at < on(places); at++)
		if (board[at]) {
			while (before >= share(n, owner + 1))
				owner++;
			shmem_uint_p(&result[before - share(n, owner)], board[at] - 1, owner);
			before++;
		}
	shmem_barrier_all();
	int64_t took = now_ns() - started;
	for (long at = 0; at < share(n, me + 1) - share(n, me); at++)
		shmem_long_atomic_inc(&seen[result[at] / pes], result[at] % pes);
	shmem_barrier_all();
	double wrong = 0;
	for (long at = 0; at < on(n); at++)
		wrong += seen[at] != 1;
	finish("permutation", wrong, n, sizeof *result, took);
}

// The rows of this PE: row i is at place i / pes.
struct matrix {
	long rows, nonzeros;
	unsigned *starts, *columns;
};

static int by_column(const void *a, const void *b) {
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return (x > y) - (x < y);
}

// draw_row draws the columns of a row, and returns how many there are.
static long draw_row(long row, long bound, unsigned *columns) {
	long n = 0;
	if (bound == 0)
		return 0;
	for (long k = 0; k < degree; k++)
		columns[k] = below(row + 2, k, bound);
	qsort(columns, degree, sizeof *columns, by_column);
	for (long k = 0; k < degree; k++)
		if (n == 0 || columns[n - 1] != columns[k])
			columns[n++] = columns[k];
	return n;
}

static struct matrix new_matrix(int lower) {
	struct matrix m = {.rows = 1l << logarithm};
	m.starts = symmetric((m.rows / pes + 2) * sizeof *m.starts);
	m.columns = symmetric((m.rows / pes + 1) * degree * sizeof *m.columns);
	for (long at = 0; at < on(m.rows); at++) {
		long row = at * pes + me;
		m.nonzeros += draw_row(row, lower ? row : m.rows, m.columns + m.nonzeros);
		m.starts[at + 1] = m.nonzeros;
	}
	return m;
}

static void transpose(void) {
	struct matrix m = new_matrix(0);
	double all = sum(m.nonzeros);
	long mine = on(m.rows);
	// starts[at + 1] counts, then starts[at] is where the next element of row at goes.
	long *starts = symmetric((m.rows / pes + 2) * sizeof *starts), *next = symmetric((m.rows / pes + 2) * sizeof *next);
	start();
	for (long k = 0; k < m.nonzeros; k++)
		shmem_long_atomic_inc(&starts[m.columns[k] / pes + 1], m.columns[k] % pes);
	shmem_barrier_all();
	for (long at = 0; at < mine; at++)
		starts[at + 1] += starts[at];
	memcpy(next, starts, (mine + 1) * sizeof *next);
	static double most;
	most = sum(starts[mine]);  // a bound that is the same on all
	int64_t paused = now_ns();
	unsigned *columns = symmetric((size_t)most * sizeof *columns);
	started += now_ns() - paused;  // the memory is not part of the work
	shmem_barrier_all();
	for (long at = 0; at < mine; at++)
		for (long k = m.starts[at]; k < m.starts[at + 1]; k++) {
			unsigned c = m.columns[k];
			long to = shmem_long_atomic_fetch_inc(&next[c / pes], c % pes);
			shmem_uint_p(&columns[to], at * pes + me, c % pes);
		}
	shmem_barrier_all();
	int64_t took = now_ns() - started;
	// The sums of hashes of both, in doubles of 32 bits each, which add exactly.
	double wrong = 0;
	uint64_t hash = 0;
	for (long at = 0; at < mine; at++) {
		for (long k = m.starts[at]; k < m.starts[at + 1]; k++)
			hash += draw(at * pes + me, m.columns[k]) & 0xffff;
		for (long k = starts[at]; k < starts[at + 1]; k++)
			hash -= draw(columns[k], at * pes + me) & 0xffff;
	}
	wrong = fabs(sum((double)(int64_t)hash));
	finish("sparse", me == 0 ? wrong : 0, all, 8, took);
}

static long common(const unsigned *a, long n, const unsigned *b, long m) {
	long found = 0;
	for (long i = 0, j = 0; i < n && j < m;)
		if (a[i] < b[j])
			i++;
		else if (b[j] < a[i])
			j++;
		else
			found++, i++, j++;
	return found;
}

static void triangles(void) {
	struct matrix m = new_matrix(1);
	double edges = sum(m.nonzeros);
	unsigned *row = own(degree * sizeof *row);
	long count = 0;
	start();
	for (long at = 0; at < on(m.rows); at++)
		for (long k = m.starts[at]; k < m.starts[at + 1]; k++) {
			unsigned j = m.columns[k], ends[2];
			shmem_getmem(ends, &m.starts[j / pes], sizeof ends, j % pes);
			shmem_getmem(row, &m.columns[ends[0]], (ends[1] - ends[0]) * sizeof *row, j % pes);
			count += common(&m.columns[m.starts[at]], k - m.starts[at], row, ends[1] - ends[0]);
		}
	double total = sum(count);
	int64_t took = now_ns() - started;
	long again = 0;
	unsigned *mine = own(degree * sizeof *mine);
	for (long i = me; i < m.rows; i += pes) {
		long n = draw_row(i, i, mine);
		for (long k = 0; k < n; k++)
			again += common(mine, k, row, draw_row(mine[k], mine[k], row));
	}
	double wrong = fabs(total - sum(again));
	finish("triangles", me == 0 ? wrong : 0, edges, 4 * degree, took);
}

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		void (*run)(void);
	} kernels[] = {{"histogram", histogram}, {"gather", gather}, {"permutation", permutation}, {"sparse", transpose}, {"triangles", triangles}};
	begin("bale");
	logarithm = number(argc, argv, "-log", 20);
	ops = number(argc, argv, "-ops", 1l << logarithm);
	degree = number(argc, argv, "-degree", 10);
	if (logarithm < 4 || logarithm > 31 || degree < 1 || degree > 1000)
		die("-log must be from 4 to 31, and -degree from 1 to 1000");
	const char *name = word(argc, argv, "-kernel", "histogram");
	for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
		if (!strcmp(kernels[k].name, name)) {
			kernels[k].run();
			return end();
		}
	die("-kernel %s: no such kernel", name);
}
