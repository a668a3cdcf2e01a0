// wordcount.c: the identifiers of a Go source tree, by OpenSHMEM 1.4: a hash table of atomics, which is spread over the
// PEs.
//
//	oshcc -O3 -o wordcount wordcount.c -lm
//	oshrun --allow-run-as-root --mca osc ^rdma -np 2 ./wordcount -input /usr/lib/go/src
//
// What is counted, and how the work is shared, is as in samples/wordcount: PEs take files by numbers from a counter,
// count the identifiers of theirs in a table of their own, and when no file is left add what they have to the shared
// table, each identifier once.
//
// That costs one compare-and-swap which waits for its answer, to claim a slot or find it claimed by the same
// identifier, and one add that does not wait. The first PE to add an identifier puts its bytes, too, and asks the
// owner's counter for room for them: one more answer to wait for. Identifiers are told apart by 64 bits of their hashes
// alone, where ours compares them: this spares the peer a get for each.

#define _GNU_SOURCE  // memmem

#include <ctype.h>
#include <fcntl.h>
#include <fts.h>
#include <locale.h>
#include <sys/stat.h>
#include <wchar.h>
#include <wctype.h>

#include "kernel.h"

#define TAKE_MOST 16             // files that a PE takes at a time
#define CHUNK_BYTES (1l << 20)   // of the memory for identifiers
#define MEAN_BYTES 64            // of room for each identifier that the shared table has room for
#define LENGTH_BITS 24           // of a slot's word about its identifier
#define FNV_OFFSET 14695981039346656037ul
#define FNV_PRIME 1099511628211ul

static uint64_t fnv(const char *p, long n) {
	uint64_t hash = FNV_OFFSET;
	for (long i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)p[i]) * FNV_PRIME;
	return hash;
}

// spread makes of a hash one whose every bit depends on all bytes; 0 is no hash.
static uint64_t spread(uint64_t hash) {
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

// The files, in one order on all PEs.
static struct {
	char **paths;
	long count, room;
} files;

static int by_name(const FTSENT **a, const FTSENT **b) { return strcmp((*a)->fts_name, (*b)->fts_name); }

static void list_file(const char *path) {
	if (files.count == files.room) {
		files.room = files.room ? 2 * files.room : 1024;
		files.paths = realloc(files.paths, files.room * sizeof *files.paths);
		if (!files.paths)
			die("no memory for the list of files");
	}
	files.paths[files.count++] = strdup(path);
}

static int is_source(const FTSENT *e) {
	const char *dot = strrchr(e->fts_name, '.');
	return e->fts_level == 0 || (dot && !strcmp(dot, ".go"));
}

static void list_files(const char *root) {
	char *roots[] = {(char *)root, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	for (FTSENT *e; tree && (e = fts_read(tree));)
		if ((e->fts_info == FTS_F || e->fts_info == FTS_SL) && is_source(e))
			list_file(e->fts_path);
	if (!tree || files.count == 0)
		die("there is no .go file below %s: name another directory with -input", root);
	fts_close(tree);
}

// go_tree returns the directory of the standard library's source.
static const char *go_tree(void) {
	static char path[4096];
	FILE *f = popen("go env GOROOT", "r");
	if (!f || !fgets(path, sizeof path - 8, f))
		die("finding the Go tree: go env GOROOT fails; name a directory with -input");
	pclose(f);
	path[strcspn(path, "\n")] = 0;
	return strcat(path, "/src");
}

// This PE's own table of identifiers. Their bytes stay where they are.
struct entry {
	uint64_t hash;  // 0: free
	const char *bytes;
	long length, count;
};

static struct {
	struct entry *entries;
	uint64_t mask;
	long used;
	char *chunk;
	long left;  // of chunk
} words;

static long identifiers;

static char *keep(const char *p, long n) {
	if (n > words.left) {
		words.left = n > CHUNK_BYTES ? n : CHUNK_BYTES;
		if (!(words.chunk = malloc(words.left)))
			die("no memory for identifiers");
	}
	char *kept = memcpy(words.chunk, p, n);
	words.chunk += n;
	words.left -= n;
	return kept;
}

static struct entry *entry_of(uint64_t hash, const char *p, long n) {
	uint64_t at = hash & words.mask;
	for (;; at = (at + 1) & words.mask) {
		struct entry *e = &words.entries[at];
		if (e->hash == 0 || (e->hash == hash && e->length == n && !memcmp(e->bytes, p, n)))
			return e;
	}
}

static void grow(void) {
	struct entry *old = words.entries;
	uint64_t size = old ? words.mask + 1 : 0;
	words.mask = size ? 2 * size - 1 : (1 << 14) - 1;
	if (!(words.entries = calloc(words.mask + 1, sizeof *words.entries)))
		die("no memory for identifiers");
	for (uint64_t i = 0; i < size; i++)
		if (old[i].hash)
			*entry_of(old[i].hash, old[i].bytes, old[i].length) = old[i];
	free(old);
}

static void count(const char *p, long n) {
	uint64_t hash = spread(fnv(p, n));
	struct entry *e = entry_of(hash, p, n);
	identifiers++;
	if (e->hash) {
		e->count++;
		return;
	}
	*e = (struct entry){hash, keep(p, n), n, 1};
	if (2 * (uint64_t)++words.used > words.mask)
		grow();
}

// The tokens of Go, as far as it takes to tell identifiers from the rest. What is a letter outside of ASCII, the C
// library says.

// letter_at returns how many bytes the letter at p has, or 0 if there is none.
static inline long letter_at(const char *p, const char *end) {
	unsigned char c = *p;
	if (c < 0x80)
		return isalpha(c) || c == '_';
	wchar_t wide;
	size_t n = mbrtowc(&wide, p, end - p, &(mbstate_t){0});
	return n <= 4 && iswalpha(wide) ? (long)n : 0;
}

static const char *end_of_identifier(const char *p, const char *end) {
	for (long n; p < end && ((n = letter_at(p, end)) > 0 || isdigit((unsigned char)*p)); p += n > 0 ? n : 1)
		;
	return p;
}

static int is_keyword(const char *p, long n) {
	static const char *keywords[] = {"break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough",
	                                 "for", "func", "go", "goto", "if", "import", "interface", "map", "package", "range", "return",
	                                 "select", "struct", "switch", "type", "var"};
	static unsigned char first[256];  // one more than where those with a first letter begin
	if (!first['b'])
		for (int i = sizeof keywords / sizeof *keywords - 1; i >= 0; i--)
			first[(unsigned char)*keywords[i]] = i + 1;
	if (n < 2 || n > 11 || !first[(unsigned char)*p])
		return 0;
	for (size_t i = first[(unsigned char)*p] - 1; i < sizeof keywords / sizeof *keywords && *keywords[i] == *p; i++)
		if (!strncmp(keywords[i], p, n) && !keywords[i][n])
			return 1;
	return 0;
}

// A text ends with a 0, which is no part of any token. Those that follow return where the token that begins at p ends.

static const char *end_of_quoted(const char *p, const char *end, char quote) {
	for (p++; p < end && *p != '\n'; p++) {
		if (*p == quote)
			return p + 1;
		if (*p == '\\' && p + 1 < end && p[1] != '\n')
			p++;
	}
	return p;
}

static const char *end_of_raw(const char *p, const char *end) {
	const char *close = memchr(p + 1, '`', end - p - 1);
	return close ? close + 1 : end;
}

static const char *end_of_comment(const char *p, const char *end) {
	const char *close = p[1] == '/' ? memchr(p, '\n', end - p) : memmem(p + 2, end - p - 2, "*/", 2);
	return !close ? end : p[1] == '/' ? close : close + 2;
}

static const char *end_of_digits(const char *p, int hexadecimal) {
	while (hexadecimal ? isxdigit((unsigned char)*p) || *p == '_' : isdigit((unsigned char)*p) || *p == '_')
		p++;
	return p;
}

static const char *end_of_number(const char *p) {
	int hexadecimal = 0;
	if (*p == '0' && p[1] && strchr("xXoObB", p[1])) {
		hexadecimal = tolower((unsigned char)p[1]) == 'x';
		p += 2;
	}
	p = end_of_digits(p, hexadecimal);
	if (*p == '.')
		p = end_of_digits(p + 1, hexadecimal);
	if (*p && strchr("eEpP", *p)) {
		p++;
		if (*p == '+' || *p == '-')
			p++;
		p = end_of_digits(p, 0);
	}
	return *p == 'i' ? p + 1 : p;
}

static void count_identifiers(const char *p, const char *end) {
	if (end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;  // a byte order mark
	while (p < end) {
		unsigned char c = *p;
		const char *from = p;
		if (letter_at(p, end)) {
			p = end_of_identifier(p, end);
			if (!is_keyword(from, p - from))
				count(from, p - from);
		} else if (isdigit(c) || (c == '.' && isdigit((unsigned char)p[1])))
			p = end_of_number(p);
		else if (c == '"' || c == '\'')
			p = end_of_quoted(p, end, c);
		else if (c == '`')
			p = end_of_raw(p, end);
		else if (c == '/' && (p[1] == '/' || p[1] == '*'))
			p = end_of_comment(p, end);
		else
			p++;
	}
}

static void count_file(const char *path) {
	static char *bytes;
	static long room;
	struct stat s;
	int f = open(path, O_RDONLY);
	if (f < 0 || fstat(f, &s) < 0 || !S_ISREG(s.st_mode)) {
		fprintf(stderr, "%s: %s cannot be read\n", program, path);
		if (f >= 0)
			close(f);
		return;
	}
	if (s.st_size >= room) {
		room = 2 * s.st_size + 1;
		free(bytes);
		if (!(bytes = malloc(room)))
			die("no memory for %s", path);
	}
	long have = 0;
	for (ssize_t n; have < s.st_size && (n = read(f, bytes + have, s.st_size - have)) > 0;)
		have += n;
	close(f);
	bytes[have] = 0;
	count_identifiers(bytes, bytes + have);
}

// The shared table: each PE has as many slots, and memory for the bytes of the identifiers in them.
struct slot {
	unsigned long hash;  // 0: free
	long count;
	long text;  // where the identifier's bytes are, times 2^LENGTH_BITS, and how many
};

static struct {
	struct slot *slots;
	uint64_t mask;
	char *text;
	long room;   // of text
	long *used;  // of text
} table;

static void new_table(long capacity) {
	uint64_t slots = 16;
	while (slots < 2 * (uint64_t)capacity / pes)
		slots *= 2;
	table.slots = symmetric(slots * sizeof *table.slots);
	table.mask = slots - 1;
	table.room = MEAN_BYTES * (capacity / pes + 1024);
	table.text = symmetric(table.room);
	table.used = symmetric(sizeof *table.used);
}

// write_text puts the bytes of an identifier, which is new, where the PE of its slot has room for them.
static void write_text(struct slot *s, const struct entry *e, int pe) {
	long at = shmem_long_atomic_fetch_add(table.used, e->length, pe);
	if (at + e->length > table.room || e->length >> LENGTH_BITS)
		die("no room for the bytes of identifiers: give a larger -capacity");
	shmem_putmem_nbi(table.text + at, e->bytes, e->length, pe);
	shmem_long_p(&s->text, at << LENGTH_BITS | e->length, pe);
}

static void add(const struct entry *e) {
	uint64_t at = e->hash & table.mask;
	int pe = (e->hash >> 40) % pes;
	for (uint64_t tried = 0; tried <= table.mask; tried++, at = (at + 1) & table.mask) {
		struct slot *s = &table.slots[at];
		unsigned long had = shmem_ulong_atomic_compare_swap(&s->hash, 0, e->hash, pe);
		if (had == 0)
			write_text(s, e, pe);
		if (had == 0 || had == e->hash) {
			shmem_long_atomic_add(&s->count, e->count, pe);
			return;
		}
	}
	die("the table is full: give a larger -capacity");
}

// count_files counts the files that this PE gets.
static void count_files(long *ticket) {
	long take = files.count / (8 * pes);
	take = take < 1 ? 1 : take > TAKE_MOST ? TAKE_MOST : take;
	for (;;) {
		long first = shmem_long_atomic_fetch_add(ticket, take, 0);
		for (long i = first; i < first + take && i < files.count; i++)
			count_file(files.paths[i]);
		if (first + take >= files.count)
			return;
	}
}

static void add_all(void) {
	for (uint64_t i = 0; i <= words.mask; i++)
		if (words.entries[i].hash)
			add(&words.entries[i]);
}

// describe says what was counted: the digest is of the bytes in the shared table.
static void describe(uint64_t all) {
	uint64_t different = 0, digest = 0;
	for (uint64_t at = 0; at <= table.mask; at++) {
		struct slot *s = &table.slots[at];
		if (s->hash == 0)
			continue;
		different++;
		digest += fnv(table.text + (s->text >> LENGTH_BITS), s->text & ((1l << LENGTH_BITS) - 1)) * s->count;
	}
	different = total(different), digest = total(digest);
	snprintf(computed, sizeof computed, "%lu identifiers, %lu different, digest %016lx", all, different, digest);
}

int main(int argc, char **argv) {
	begin("wordcount");
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		die("the C library knows no locale C.UTF-8");
	const char *input = word(argc, argv, "-input", "");
	list_files(*input ? input : go_tree());
	new_table(number(argc, argv, "-capacity", 3l << 17));
	long *ticket = symmetric(sizeof *ticket);
	grow();
	shmem_barrier_all();
	int64_t start = now_ns();
	count_files(ticket);
	add_all();
	shmem_barrier_all();
	int64_t took = now_ns() - start;
	uint64_t all = total(identifiers);
	describe(all);
	conclude(sizeof(struct slot), (double)took / all);
	return end();
}
