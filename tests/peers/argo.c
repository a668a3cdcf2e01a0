// argo.c: the page faults and the barrier of `pgasbench dsm`, by ArgoDSM. Node 1 writes every byte of some pages of its
// own, and after a barrier node 0 touches a byte of each.
//
//	mpicc -O3 -I$ARGODSM/include/argo -o argo argo.c -L$ARGODSM/lib -Wl,-rpath,$ARGODSM/lib -largo -largobackend-mpi
//	mpirun --allow-run-as-root -np 2 -x ARGO_LOAD_SIZE=1 ./argo -bench '^read-fault$' -time 200ms
//
// ArgoDSM is not in Debian. It is built with cmake from its repository; ARGODSM is where it was installed.
// ARGO_LOAD_SIZE is the number of pages that a fault brings: 1, as the benches count faults.

#include <argo.h>
#include <mpi.h>

#include "measure.h"

#define PAGE 4096
#define PAGES 64
#define MEMORY (64 << 20)
#define SHARED (MEMORY - (1 << 20))  // what the benches allocate of it
#define LEAST_ROUNDS 5
#define MOST_ROUNDS 20000

static struct options options;
static int leader;
static unsigned char *pages;           // of node 1, one after another
static volatile unsigned char *again;  // of node 0: whether there is another round

// find returns n pages in a row whose home is node.
static unsigned char *find(unsigned char *memory, unsigned node, long n) {
	long found = 0;
	for (long at = 0; at + PAGE <= SHARED; at += PAGE) {
		found = argo_get_homenode(memory + at) == node ? found + 1 : 0;
		if (found == n)
			return memory + at - (n - 1) * PAGE;
	}
	die("node %u is the home of no %ld pages in a row", node, n);
	return NULL;
}

// next_round tells all nodes whether there is another round, and returns it.
static int next_round(int wanted) {
	if (leader)
		*again = wanted;
	argo_barrier(1);
	wanted = *again;
	argo_barrier(1);
	return wanted;
}

static unsigned char mark(long round) { return 1 + round % 250; }

static void overwrite(long round) {
	if (!leader)
		memset(pages, mark(round), PAGES * PAGE);
	argo_barrier(1);
}

static void touch(long round) {
	for (int i = 0; i < PAGES; i++)
		if (((volatile unsigned char *)pages)[i * PAGE + i] != mark(round))
			die("page %d is wrong in round %ld", i, round);
}

static void store(long round) {
	for (int i = 0; i < PAGES; i++)
		((volatile unsigned char *)pages)[i * PAGE + i] = mark(round + 1);
}

static void meet(long round) {
	(void)round;
	argo_barrier(1);
}

// A bench is what node 0 does in a round: before, untimed, and the operation.
struct bench {
	const char *name;
	size_t bytes;
	long operations;  // of a round
	int together;     // all nodes take part in the operation
	void (*prepare)(long), (*before)(long), (*operation)(long);
};

static void nothing(long round) { (void)round; }

static void run(const struct bench *b) {
	struct series s = {malloc(MOST_ROUNDS * sizeof(double)), 0, 0};
	int64_t begun = now_ns();
	while (next_round(s.count < LEAST_ROUNDS || (s.count < MOST_ROUNDS && now_ns() - begun < options.point_ns))) {
		long round = s.count;
		b->prepare(round);
		if (leader)
			b->before(round);
		int64_t t = now_ns();
		if (leader || b->together)
			b->operation(round);
		s.ns[s.count++] = (double)(now_ns() - t) / b->operations;
		argo_barrier(1);
	}
	qsort(s.ns, s.count, sizeof *s.ns, ascending);
	if (leader)
		report(b->name, b->bytes, argo_number_of_nodes(), "mpi", &s, 1);
}

static const struct bench benches[] = {
	{"read-fault", PAGE, PAGES, 0, overwrite, nothing, touch},
	{"write-fault", PAGE, PAGES, 0, overwrite, nothing, store},
	{"upgrade", PAGE, PAGES, 0, overwrite, touch, store},
	{"barrier", PAGE, 1, 1, nothing, nothing, meet},
};

int main(int argc, char **argv) {
	program = "argo";
	parse_options(&options, argc, argv);
	argo_init(MEMORY, MEMORY);
	if (argo_number_of_nodes() != 2)
		die("%u nodes: mpirun -np 2", argo_number_of_nodes());
	leader = argo_node_id() == 0;
	unsigned char *memory = collective_alloc(SHARED);
	pages = find(memory, 1, PAGES);
	again = find(memory, 0, 1);
	for (size_t i = 0; i < sizeof benches / sizeof *benches; i++)
		if (wanted(&options, benches[i].name))
			run(&benches[i]);
	argo_finalize();
	return 0;
}
