// transpose.c: Transpose of the Parallel Research Kernels, by OpenSHMEM 1.4.
//
//	oshcc -O3 -o transpose transpose.c -lm
//	oshrun --allow-run-as-root --mca osc ^rdma -np 2 ./transpose -order 2048 -iterations 50
//
// Each iteration adds the transpose of A to B, and then 1 to each element of A. Both are of order n, and
// each PE has n/P columns of both. The block that a PE has for another goes there in strips, of TILE of
// the other's columns each: it packs a strip, transposed, and puts it with a flag into a place that is
// written by no other PE. There are two such places, for even and odd iterations: a PE that has a peer's block of one
// iteration knows that the peer has consumed those of the one before.
//
// A strip is a row of tiles, each contiguous, so that packing and unpacking walk along columns of A and
// B, and only a tile, which fits the first cache, is written across.

#include "kernel.h"

#define TILE 32

static long order, width;     // of the matrices, and of this PE's columns
static double *a, *b;         // column by column; a is only read by its owner
static double *inbox[2];      // a block from each PE, its columns mine; written by that PE
static uint64_t *arrived[2];  // strips of the block from each PE, counted over all iterations
static long strips;           // of a block
static double *outbox;        // one strip

static double *column(double *m, long c) { return m + c * order; }

static double initial(long row, long col) { return order * col + row; }

static void allocate(void) {
	width = order / pes;
	strips = (width + TILE - 1) / TILE;
	a = malloc(order * width * sizeof *a);
	b = calloc(order * width, sizeof *b);
	outbox = malloc(TILE * width * sizeof *outbox);
	for (int i = 0; i < 2; i++) {
		inbox[i] = symmetric(pes * width * width * sizeof *inbox[i]);
		arrived[i] = symmetric(pes * sizeof *arrived[i]);
	}
	if (!a || !b || !outbox)
		die("no memory for matrices of order %ld", order);
	for (long c = 0; c < width; c++)
		for (long r = 0; r < order; r++)
			column(a, c)[r] = initial(r, me * width + c);
	shmem_barrier_all();
}

static long least(long x, long y) { return x < y ? x : y; }

// pack writes rows first … first+rows-1 of a to the outbox, transposed, and adds 1 to them.
static void pack(long first, long rows) {
	for (long c0 = 0; c0 < width; c0 += TILE) {
		double *tile = outbox + c0 * rows;
		long columns = least(TILE, width - c0);
		for (long c = 0; c < columns; c++) {
			double *from = column(a, c0 + c) + first;
			for (long r = 0; r < rows; r++) {
				tile[r * columns + c] = from[r];
				from[r] += 1;
			}
		}
	}
}

// unpack adds a strip to so many columns of b, in the rows that begin at first.
static void unpack(const double *strip, long c0, long columns, long first) {
	for (long c = 0; c < columns; c++)
		for (long r0 = 0; r0 < width; r0 += TILE) {
			long rows = least(TILE, width - r0);
			const double *from = strip + r0 * columns + c * rows;
			double *to = column(b, c0 + c) + first + r0;
			for (long r = 0; r < rows; r++)
				to[r] += from[r];
		}
}

static void send(int to, uint64_t iteration) {
	double *place = inbox[iteration % 2] + me * width * width;
	uint64_t before = (iteration - 1) / 2 * strips;
	for (long s = 0; s < strips; s++) {
		long first = s * TILE, rows = least(TILE, width - first);
		pack(to * width + first, rows);
		shmem_putmem(place + first * width, outbox, rows * width * sizeof *outbox, to);
		shmem_fence();
		shmem_uint64_p(&arrived[iteration % 2][me], before + s + 1, to);
	}
}

static void receive(int from, uint64_t iteration) {
	const double *place = inbox[iteration % 2] + from * width * width;
	uint64_t before = (iteration - 1) / 2 * strips;
	for (long s = 0; s < strips; s++) {
		long first = s * TILE;
		shmem_uint64_wait_until(&arrived[iteration % 2][from], SHMEM_CMP_GE, before + s + 1);
		unpack(place + first * width, first, least(TILE, width - first), from * width);
	}
}

// keep is send and receive of the block that stays here.
static void keep(void) {
	for (long first = 0; first < width; first += TILE) {
		long rows = least(TILE, width - first);
		pack(me * width + first, rows);
		unpack(outbox, first, rows, me * width);
	}
}

static void iterate(uint64_t iteration) {
	for (int phase = 1; phase < pes; phase++)
		send((me + phase) % pes, iteration);
	keep();
	for (int phase = 1; phase < pes; phase++)
		receive((me + pes - phase) % pes, iteration);
}

// error is how far b is from what so many iterations make of it, in all elements of all PEs.
static double error(long iterations) {
	double wrong = 0, added = iterations * (iterations - 1) / 2.0;
	for (long c = 0; c < width; c++)
		for (long r = 0; r < order; r++)
			wrong += fabs(column(b, c)[r] - (initial(me * width + c, r) * iterations + added));
	return sum(wrong);
}

int main(int argc, char **argv) {
	begin("transpose");
	order = number(argc, argv, "-order", 2048);
	long iterations = number(argc, argv, "-iterations", 50);
	if (order == 0 || order % pes || iterations == 0)
		die("-order must be a multiple of the %d PEs, and -iterations more than 0", pes);
	allocate();
	iterate(1);  // not timed
	shmem_barrier_all();
	int64_t start = now_ns();
	for (long i = 0; i < iterations; i++)
		iterate(i + 2);
	shmem_barrier_all();
	int64_t took = now_ns() - start;
	if (error(iterations + 1) != 0)
		die("the matrix is wrong");
	conclude(2 * order * order * sizeof *a, (double)took / iterations);
	return end();
}
