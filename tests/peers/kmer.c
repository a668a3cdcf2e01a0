// kmer.c: the k-mers of DNA sequences, by OpenSHMEM 1.4: a hash table of atomics, which is spread over the PEs.
//
//	oshcc -O3 -o kmer kmer.c -lm
//	oshrun --allow-run-as-root --mca osc ^rdma -np 2 ./kmer -bases 2000000
//
// Flags, input, and what each PE counts are those of samples/kmer: every PE reads the whole input, counts the k-mers
// that end in its blocks in a small table of its own, and gives that to the shared table whenever it is full.
//
// A k-mer costs one compare-and-swap that waits for its answer, which claims a slot or finds it claimed by the same
// k-mer, and one add that does not wait. More are needed only where two k-mers collide. That no message has many k-mers
// is what the two programs differ in.

#include "kernel.h"
#include "pcg.h"

#define BLOCK_BASES (1 << 14)
#define MOST_LOCAL (1 << 14)  // different k-mers in a PE's own table
#define READ_BASES 100        // of generated reads
#define MOST_K 31
#define NO_BASE 4  // between two sequences, and for a base that is not known

static long k;

// A slot holds a k-mer plus 1, or 0 if it is free, and how often the k-mer occurs.
struct slot {
	uint64_t key;
	long count;
};

static uint64_t mix(uint64_t x) {
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
	return x ^ x >> 32;
}

// The shared table: each PE has as many slots. A k-mer's hash says on which PE it is, and where a search for it begins.
static struct {
	struct slot *slots;
	uint64_t mask;
} table;

static void new_table(long capacity) {
	uint64_t slots = 16;
	while (slots < 2 * (uint64_t)capacity / pes)
		slots *= 2;
	table.slots = symmetric(slots * sizeof *table.slots);
	table.mask = slots - 1;
}

// add adds n to the count of a k-mer.
static void add(uint64_t kmer, long n) {
	uint64_t hash = mix(kmer), at = hash & table.mask;
	int pe = (hash >> 32) % pes;
	for (uint64_t tried = 0; tried <= table.mask; tried++, at = (at + 1) & table.mask) {
		uint64_t had = shmem_ulong_atomic_compare_swap(&table.slots[at].key, 0, kmer + 1, pe);
		if (had == 0 || had == kmer + 1) {
			shmem_long_atomic_add(&table.slots[at].count, n, pe);
			return;
		}
	}
	die("the table is full: give a larger -capacity");
}

// This PE's own table.
#define LOCAL_SLOTS (2 * MOST_LOCAL)

static struct {
	struct slot slots[LOCAL_SLOTS];
	long used;
} local;

static void give(void) {
	for (long i = 0; i < LOCAL_SLOTS; i++)
		if (local.slots[i].key != 0)
			add(local.slots[i].key - 1, local.slots[i].count);
	memset(&local, 0, sizeof local);
}

static void count(uint64_t kmer) {
	uint64_t at = mix(kmer) % LOCAL_SLOTS;
	while (local.slots[at].key != 0 && local.slots[at].key != kmer + 1)
		at = (at + 1) % LOCAL_SLOTS;
	if (local.slots[at].key != 0) {
		local.slots[at].count++;
		return;
	}
	local.slots[at] = (struct slot){kmer + 1, 1};
	if (++local.used == MOST_LOCAL)
		give();
}

// The bases seen last, as they are and as their complements in reverse, and how many there have been since the last
// NO_BASE.
static struct {
	long have, at;
	int mine;  // this PE counts the k-mers that end here
	uint64_t forward, reverse;
} window;

static int is_mine(long at) { return at / BLOCK_BASES % pes == me; }

static void pass_over(long bases) {
	window.have = 0;
	window.at += bases;
	window.mine = is_mine(window.at);
}

static inline void see(int base) {
	if (++window.at % BLOCK_BASES == 0)
		window.mine = is_mine(window.at);
	if (base == NO_BASE) {
		window.have = 0;
		return;
	}
	window.forward = (window.forward << 2 | base) & ((1ul << 2 * k) - 1);
	window.reverse = window.reverse >> 2 | (3ul - base) << (2 * k - 2);
	if (++window.have >= k && window.mine)
		count(window.forward < window.reverse ? window.forward : window.reverse);
}

static unsigned char base_of[256];

static void name_bases(void) {
	static const char *letters[] = {"Aa", "Cc", "Gg", "TtUu"};
	memset(base_of, NO_BASE, sizeof base_of);
	for (int code = 0; code < 4; code++)
		for (const char *l = letters[code]; *l; l++)
			base_of[(unsigned char)*l] = code;
}

// The input: a FASTA or FASTQ file in memory.
struct text {
	char *bytes;
	size_t size;
};

// line_end returns where the line that begins at p ends: at its newline or at the end of the text.
static char *line_end(char *p, char *end) {
	char *newline = memchr(p, '\n', end - p);
	return newline ? newline : end;
}

static void see_line(const char *p, const char *end) {
	while (end > p && end[-1] == '\r')
		end--;
	if (end - p + k < BLOCK_BASES && !window.mine && !is_mine(window.at + (end - p) + k)) {
		pass_over(end - p);
		return;
	}
	for (; p < end; p++)
		see(base_of[(unsigned char)*p]);
}

static void see_all(struct text t) {
	char *p = t.bytes, *end = t.bytes + t.size, *next;
	if (p < end && *p != '>' && *p != '@')
		die("the input begins with neither '>' nor '@': it must be FASTA or FASTQ");
	int fastq = p < end && *p == '@';
	for (long line = 0; p < end; p = next + 1, line++) {
		next = line_end(p, end);
		if (fastq ? line % 4 == 0 : *p == '>')
			pass_over(1);
		else if (!fastq || line % 4 == 1)
			see_line(p, next);
		if (next == end)
			break;
	}
}

static struct text read_file(const char *name) {
	FILE *f = fopen(name, "r");
	if (!f)
		die("-input %s: cannot be read", name);
	fseek(f, 0, SEEK_END);
	struct text t = {.size = ftell(f)};
	rewind(f);
	t.bytes = malloc(t.size + 1);
	if (!t.bytes || fread(t.bytes, 1, t.size, f) != t.size)
		die("-input %s: cannot be read", name);
	fclose(f);
	return t;
}

// generate makes the FASTQ reads of samples/kmer: pieces of a random genome, in some of which one base is unknown.
static struct text generate(long bases) {
	struct pcg random = new_pcg(1, 2);
	long size = bases / 10 > 200 ? bases / 10 : 200, reads = (bases + READ_BASES - 1) / READ_BASES;
	char *genome = malloc(size);
	struct text t = {.bytes = malloc(reads * (2 * READ_BASES + 32))};
	if (!genome || !t.bytes)
		die("no memory for %ld bases", bases);
	for (long i = 0; i < size; i++)
		genome[i] = "ACGT"[pcg_below(&random, 4)];
	for (long i = 0; i < reads; i++) {
		char read[READ_BASES + 1] = "", qualities[READ_BASES + 1] = "";
		memcpy(read, genome + pcg_below(&random, size - READ_BASES), READ_BASES);
		memset(qualities, 'I', READ_BASES);
		if (pcg_below(&random, 10) == 0)
			read[pcg_below(&random, READ_BASES)] = 'N';
		t.size += sprintf(t.bytes + t.size, "@read%ld\n%s\n+\n%s\n", i, read, qualities);
	}
	free(genome);
	return t;
}

int main(int argc, char **argv) {
	begin("kmer");
	k = number(argc, argv, "-k", 21);
	long bases = number(argc, argv, "-bases", 200000);
	const char *input = word(argc, argv, "-input", "");
	if (k < 1 || k > MOST_K || bases < 1)
		die("-k must be from 1 to %d, and -bases 1 or more", MOST_K);
	name_bases();
	new_table(number(argc, argv, "-capacity", 1l << 22));
	struct text t = *input ? read_file(input) : generate(bases);
	window.mine = is_mine(0);
	shmem_barrier_all();
	int64_t start = now_ns();
	see_all(t);
	give();
	shmem_barrier_all();
	int64_t took = now_ns() - start;
	uint64_t kmers = 0, distinct = 0, once = 0, digest = 0;
	for (uint64_t at = 0; at <= table.mask; at++)
		if (table.slots[at].key) {
			kmers += table.slots[at].count;
			distinct++;
			once += table.slots[at].count == 1;
			digest += mix(table.slots[at].key - 1) * table.slots[at].count;
		}
	kmers = total(kmers), distinct = total(distinct), once = total(once), digest = total(digest);
	snprintf(computed, sizeof computed, "%lu k-mers, %lu different, %lu once, digest %016lx", kmers, distinct, once, digest);
	conclude(sizeof(struct slot), (double)took / kmers);
	return end();
}
