// pagerank.c: the ranks of the vertices of a generated graph, by OpenSHMEM 1.4.
//
//	oshcc -O3 -o pagerank pagerank.c -lm
//	oshrun --allow-run-as-root --mca osc ^rdma -np 2 ./pagerank -vertices 16384
//
// Flags, the graph, and how it is spread are those of samples/pagerank: a PE has a block of the vertices and the edges
// that lead to them, and needs in each iteration what the sources of these edges give, each source once, however many
// edges lead from it.
//
// It gets them by a non-blocking get each, and waits once for all. A copy of the whole vector on every PE, by a
// collect, would be faster while most vertices are the source of an edge to every PE, and needs memory for all vertices
// on every PE, which is what a graph is spread to avoid; neither program does that.

#include "kernel.h"
#include "pcg.h"

#define MOST_VERTICES (1l << 30)

static long vertices, degree;
static double damping, tolerance;

// A PE has the vertices from first(pe) to first(pe + 1).
static long first(int pe) { return vertices / pes * pe + (pe < vertices % pes ? pe : vertices % pes); }

static int owner_of(long v) {
	long larger = vertices % pes, small = vertices / pes;
	long in_larger = larger * (small + 1);
	return v < in_larger ? v / (small + 1) : larger + (v - in_larger) / small;
}

static void *own(size_t bytes) {
	void *p = calloc(1, bytes + 8);
	if (!p)
		die("no memory for %zu bytes", bytes);
	return p;
}

// The generated graph: edge i depends on i only.

struct edge {
	unsigned to, from;
};

static long gcd(long a, long b) {
	while (b) {
		long rest = a % b;
		a = b, b = rest;
	}
	return a;
}

// skewed returns a number below n, mostly a small one.
static long skewed(struct pcg *random, long n) {
	long lo = 0, hi = n;
	while (hi - lo > 1) {
		long middle = lo + (hi - lo + 1) / 2;
		if (pcg_below(random, 4) < 3)
			hi = middle;
		else
			lo = middle;
	}
	return lo;
}

static struct edge new_edge(long i, long step) {
	struct pcg random = new_pcg(i, 0);
	struct edge e;
	e.from = pcg_below(&random, vertices);
	e.to = skewed(&random, vertices) * step % vertices;
	return e;
}

static int by_target(const void *a, const void *b) {
	const struct edge *x = a, *y = b;
	return x->to != y->to ? (x->to > y->to) - (x->to < y->to) : (x->from > y->from) - (x->from < y->from);
}

static int by_number(const void *a, const void *b) {
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return (x > y) - (x < y);
}

// The graph of this PE. Vertex i of it has the edges from ends[i - 1] to ends[i].
static struct {
	long mine;       // vertices
	double *ranks;   // of them
	double *given;   // what each gives along each of its edges: symmetric
	long *degrees;   // edges from each
	long *ends;      // of each: where its edges end in from
	long *from;      // of each edge: its source's place in sources
	unsigned *sources;  // each vertex once from which edges lead to this PE's
	long nsources;
	double *got;  // what each source gives
} graph;

static long place_of(unsigned source) {
	const unsigned *found = bsearch(&source, graph.sources, graph.nsources, sizeof source, by_number);
	return found - graph.sources;
}

static void index_edges(struct edge *edges, long n) {
	qsort(edges, n, sizeof *edges, by_target);
	graph.sources = own(n * sizeof *graph.sources);
	for (long i = 0; i < n; i++)
		graph.sources[i] = edges[i].from;
	qsort(graph.sources, n, sizeof *graph.sources, by_number);
	for (long i = 0; i < n; i++)
		if (graph.nsources == 0 || graph.sources[graph.nsources - 1] != graph.sources[i])
			graph.sources[graph.nsources++] = graph.sources[i];
	graph.got = own(graph.nsources * sizeof *graph.got);
	graph.from = own(n * sizeof *graph.from);
	graph.ends = own(graph.mine * sizeof *graph.ends);
	for (long v = 0, i = 0; v < graph.mine; graph.ends[v++] = i)
		for (; i < n && edges[i].to == first(me) + v; i++)
			graph.from[i] = place_of(edges[i].from);
}

// build generates all edges, and keeps those that lead to this PE's vertices.
static void build(void) {
	long step = 0.618 * vertices > 1 ? 0.618 * vertices : 1, n = 0, room = 1024;
	struct edge *edges = own(room * sizeof *edges);
	while (gcd(step, vertices) != 1)
		step++;
	graph.mine = first(me + 1) - first(me);
	graph.degrees = own(graph.mine * sizeof *graph.degrees);
	for (long i = 0; i < vertices * degree; i++) {
		struct edge e = new_edge(i, step);
		if (e.from >= first(me) && e.from < first(me + 1))
			graph.degrees[e.from - first(me)]++;
		if (e.to < first(me) || e.to >= first(me + 1))
			continue;
		if (n == room && !(edges = realloc(edges, (room *= 2) * sizeof *edges)))
			die("no memory for %ld edges", room);
		edges[n++] = e;
	}
	index_edges(edges, n);
	free(edges);
	graph.ranks = own(graph.mine * sizeof *graph.ranks);
	graph.given = symmetric((vertices / pes + 1) * sizeof *graph.given);
}

// sum_of_all adds value over all PEs. Reductions take turns with two sets of buffers, so that none needs a barrier.
static double sum_of_all(double value) {
	static double source[2], target[2], work[2][1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
	static long sync[2][SHMEM_REDUCE_SYNC_SIZE];
	static int calls;
	int turn = calls++ % 2;
	if (calls == 1) {
		for (size_t i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
			sync[0][i] = sync[1][i] = SHMEM_SYNC_VALUE;
		shmem_barrier_all();
	}
	source[turn] = value;
	shmem_double_sum_to_all(&target[turn], &source[turn], 1, 0, 0, pes, work[turn], sync[turn]);
	return target[turn];
}

// give sets what this PE's vertices give along each edge, and returns the ranks of all vertices without edges.
static double give(void) {
	double lost = 0;
	for (long i = 0; i < graph.mine; i++)
		if (graph.degrees[i] == 0)
			lost += graph.ranks[i];
		else
			graph.given[i] = graph.ranks[i] / graph.degrees[i];
	return sum_of_all(lost);
}

// get gets what the sources give. What others have given is there: the sum of what is lost was that of all.
static void get(void) {
	for (long i = 0; i < graph.nsources; i++) {
		int pe = owner_of(graph.sources[i]);
		long at = graph.sources[i] - first(pe);
		if (pe == me)
			graph.got[i] = graph.given[at];
		else
			shmem_double_get_nbi(&graph.got[i], &graph.given[at], 1, pe);
	}
	shmem_quiet();
}

// take sets the ranks of this PE's vertices, and returns by how much they have changed on all PEs.
static double take(double rest) {
	double change = 0;
	long edge = 0;
	for (long i = 0; i < graph.mine; i++) {
		double sum = 0;
		for (; edge < graph.ends[i]; edge++)
			sum += graph.got[graph.from[edge]];
		double rank = rest + damping * sum;
		change += fabs(rank - graph.ranks[i]);
		graph.ranks[i] = rank;
	}
	return sum_of_all(change);
}

// rank iterates until the ranks change by less than the tolerance, and returns how often.
static long rank(long most) {
	for (long i = 0; i < graph.mine; i++)
		graph.ranks[i] = 1.0 / vertices;
	for (long n = 1;; n++) {
		double lost = give();
		get();
		double change = take((1 - damping) / vertices + damping * lost / vertices);
		if (change < tolerance || n == most)
			return n;
	}
}

// describe says which vertex has the highest rank, and what all ranks add up to.
static void describe(long iterations) {
	static double highest, of_all;
	static long v, lowest;
	static double work[1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
	static long lwork[1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE], sync[SHMEM_REDUCE_SYNC_SIZE];
	double all = 0;
	for (size_t i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
		sync[i] = SHMEM_SYNC_VALUE;
	v = vertices;
	for (long i = 0; i < graph.mine; i++) {
		all += graph.ranks[i];
		if (graph.ranks[i] > highest)
			highest = graph.ranks[i], v = first(me) + i;
	}
	all = sum(all);
	shmem_double_max_to_all(&of_all, &highest, 1, 0, 0, pes, work, sync);
	if (highest < of_all)
		v = vertices;
	shmem_barrier_all();
	shmem_long_min_to_all(&lowest, &v, 1, 0, 0, pes, lwork, sync);
	snprintf(computed, sizeof computed, "%ld iterations, the highest rank is vertex %ld's, %.8f, and all are %.8f", iterations, lowest, of_all, all);
}

// fraction reads flag -name X, or returns otherwise.
static double fraction(int argc, char **argv, const char *name, double otherwise) {
	const char *text = word(argc, argv, name, "");
	char *end;
	double x = strtod(text, &end);
	if (*end || x < 0)
		die("%s %s is not a number", name, text);
	return *text ? x : otherwise;
}

int main(int argc, char **argv) {
	begin("pagerank");
	vertices = number(argc, argv, "-vertices", 1 << 14);
	degree = number(argc, argv, "-degree", 8);
	damping = fraction(argc, argv, "-damping", 0.85);
	tolerance = fraction(argc, argv, "-tolerance", 1e-9);
	long most = number(argc, argv, "-iterations", 200);
	if (vertices < 1 || vertices > MOST_VERTICES || degree < 1 || damping >= 1 || most < 1)
		die("-vertices, -degree and -iterations must be 1 or more, and -damping less than 1");
	build();
	shmem_barrier_all();
	int64_t start = now_ns();
	long iterations = rank(most);
	shmem_barrier_all();
	int64_t took = now_ns() - start;
	describe(iterations);
	conclude(sizeof *graph.given, (double)took / iterations / (vertices * degree));
	return end();
}
