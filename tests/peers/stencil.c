// stencil.c: the star-shaped Stencil of radius 2 of the Parallel Research Kernels, by OpenSHMEM 1.4.
//
//	oshcc -O3 -o stencil stencil.c -lm
//	oshrun --allow-run-as-root --mca osc ^rdma -np 2 ./stencil -order 2048 -iterations 50
//
// Each iteration adds the weighted neighbours of each inner point of a square grid to another grid, and
// then 1 to each point. The grid is cut in two dimensions. A PE puts the two outermost rows and columns
// of its part with a flag into a place at its neighbour that is its own. There are two such places, for
// even and odd iterations: a PE that has a neighbour's edge of one iteration knows that the neighbour has
// used those of the one before.

#include "kernel.h"

#define RADIUS 2
#define NEAR (1.0 / (2 * 1 * RADIUS))  // weights of the neighbours to the east and south; the others' are negative
#define FAR (1.0 / (2 * 2 * RADIUS))

enum side { north, south, west, east, sides };

static long order;
static int across, down;                 // PEs in a row and in a column of the grid
static long width, height, left, top;    // of this PE's part
static long stride;                      // of a row, with a margin of RADIUS on both sides
static double *in, *out;                 // the part, and its margin
static double *edge[2][sides];           // from each neighbour; written by it
static uint64_t *arrived[2];             // the iteration, from 1, of each edge
static int neighbour[sides];             // -1: there is none
static double *outbox;

static double *at(double *grid, long x, long y) { return grid + (y + RADIUS) * stride + x + RADIUS; }

// place cuts the grid as nearly square as the number of PEs allows.
static void place(void) {
	for (down = sqrt(pes); pes % down; down--)
		;
	across = pes / down;
	int x = me % across, y = me / across;
	left = order * x / across;
	width = order * (x + 1) / across - left;
	top = order * y / down;
	height = order * (y + 1) / down - top;
	stride = width + 2 * RADIUS;
	neighbour[north] = y > 0 ? me - across : -1;
	neighbour[south] = y < down - 1 ? me + across : -1;
	neighbour[west] = x > 0 ? me - 1 : -1;
	neighbour[east] = x < across - 1 ? me + 1 : -1;
}

static void allocate(void) {
	size_t points = stride * (height + 2 * RADIUS), most = RADIUS * (order / down + order / across + 2);
	in = calloc(points, sizeof *in);
	out = calloc(points, sizeof *out);
	outbox = malloc(most * sizeof *outbox);
	if (!in || !out || !outbox)
		die("no memory for a grid of order %ld", order);
	for (int i = 0; i < 2; i++) {
		for (int s = 0; s < sides; s++)
			edge[i][s] = symmetric(most * sizeof *edge[i][s]);
		arrived[i] = symmetric(sides * sizeof *arrived[i]);
	}
	for (long y = 0; y < height; y++)
		for (long x = 0; x < width; x++)
			*at(in, x, y) = left + x + top + y;
	shmem_barrier_all();
}

// A strip is the rows or columns that one side gives to its neighbour, or takes from it.
struct strip {
	long x, y, width, height;
};

static struct strip given(enum side s) {
	switch (s) {
	case north: return (struct strip){0, 0, width, RADIUS};
	case south: return (struct strip){0, height - RADIUS, width, RADIUS};
	case west: return (struct strip){0, 0, RADIUS, height};
	default: return (struct strip){width - RADIUS, 0, RADIUS, height};
	}
}

static struct strip taken(enum side s) {
	switch (s) {
	case north: return (struct strip){0, -RADIUS, width, RADIUS};
	case south: return (struct strip){0, height, width, RADIUS};
	case west: return (struct strip){-RADIUS, 0, RADIUS, height};
	default: return (struct strip){width, 0, RADIUS, height};
	}
}

static enum side opposite(enum side s) { return s ^ 1; }

static void give(enum side s, uint64_t iteration) {
	struct strip t = given(s);
	for (long y = 0; y < t.height; y++)
		memcpy(outbox + y * t.width, at(in, t.x, t.y + y), t.width * sizeof *in);
	shmem_putmem(edge[iteration % 2][opposite(s)], outbox, t.width * t.height * sizeof *outbox, neighbour[s]);
	shmem_fence();
	shmem_uint64_p(&arrived[iteration % 2][opposite(s)], iteration, neighbour[s]);
}

static void take(enum side s, uint64_t iteration) {
	struct strip t = taken(s);
	shmem_uint64_wait_until(&arrived[iteration % 2][s], SHMEM_CMP_GE, iteration);
	for (long y = 0; y < t.height; y++)
		memcpy(at(in, t.x, t.y + y), edge[iteration % 2][s] + y * t.width, t.width * sizeof *in);
}

static long larger(long x, long y) { return x > y ? x : y; }

static long smaller(long x, long y) { return x < y ? x : y; }

// apply works on the points of the grid that have all their neighbours.
static void apply(void) {
	long x0 = larger(0, RADIUS - left), x1 = smaller(width, order - RADIUS - left);
	long y0 = larger(0, RADIUS - top), y1 = smaller(height, order - RADIUS - top);
	for (long y = y0; y < y1; y++) {
		double *restrict to = at(out, 0, y);
		const double *restrict from = at(in, 0, y);
		for (long x = x0; x < x1; x++)
			to[x] += NEAR * ((from[x + 1] - from[x - 1]) + (from[x + stride] - from[x - stride])) +
			         FAR * ((from[x + 2] - from[x - 2]) + (from[x + 2 * stride] - from[x - 2 * stride]));
	}
}

static void add_one(void) {
	for (long y = 0; y < height; y++) {
		double *row = at(in, 0, y);
		for (long x = 0; x < width; x++)
			row[x] += 1;
	}
}

static void iterate(uint64_t iteration) {
	for (int s = 0; s < sides; s++)
		if (neighbour[s] >= 0)
			give(s, iteration);
	for (int s = 0; s < sides; s++)
		if (neighbour[s] >= 0)
			take(s, iteration);
	apply();
	add_one();
}

// norm is the mean of the magnitudes of the inner points.
static double norm(void) {
	double total = 0;
	for (long y = larger(0, RADIUS - top); y < smaller(height, order - RADIUS - top); y++)
		for (long x = larger(0, RADIUS - left); x < smaller(width, order - RADIUS - left); x++)
			total += fabs(*at(out, x, y));
	return sum(total) / ((order - 2 * RADIUS) * (order - 2 * RADIUS));
}

int main(int argc, char **argv) {
	begin("stencil");
	order = number(argc, argv, "-order", 2048);
	long iterations = number(argc, argv, "-iterations", 50);
	place();
	if (order / across < RADIUS || order / down < RADIUS || order <= 2 * RADIUS || iterations == 0)
		die("-order is too small for %d x %d PEs, or -iterations is 0", across, down);
	allocate();
	iterate(1);  // not timed
	shmem_barrier_all();
	int64_t start = now_ns();
	for (long i = 0; i < iterations; i++)
		iterate(i + 2);
	shmem_barrier_all();
	int64_t took = now_ns() - start;
	double got = norm(), want = 2.0 * (iterations + 1);
	if (fabs(got - want) > 1e-8)
		die("the norm is %.12g, not %.12g", got, want);
	conclude(2 * order * order * sizeof *in, (double)took / iterations);
	return end();
}
