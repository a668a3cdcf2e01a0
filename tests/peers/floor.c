// floor.c: what the machine itself can do, below any runtime.
//
//	gcc -O3 -o floor floor.c
//	./floor -time 50ms                    this host: cache line, locked add, copy, futex, yield
//	./floor -time 50ms -bench tcp pe0 pe1 two network namespaces: TCP ping-pong and stream
//
// Each two-sided bench forks a second process, which follows the leader's decisions through shared
// memory and ends with it.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/futex.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

static struct options options;
static int leader = 1;

// What the two processes of a bench share; each word has a page of its own.
static struct shared {
	_Alignas(4096) _Atomic long ball;   // whose turn it is
	_Alignas(4096) _Atomic long count;  // agreements made
	_Alignas(4096) _Atomic long taken;  // agreements the follower has read
	_Alignas(4096) _Atomic long value;
	_Alignas(4096) _Atomic int word;    // of the futex
	_Alignas(4096) struct sockaddr_in address;
} *shared;

static void *mapping(size_t bytes) {
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p == MAP_FAILED)
		die("no memory");
	return p;
}

static void pin(int cpu) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

// agree returns the leader's value in both processes. Waiters yield: the two may share a CPU.
static long agree(long value) {
	static long made;
	made++;
	if (leader) {
		atomic_store(&shared->value, value);
		atomic_store(&shared->count, made);
		while (atomic_load(&shared->taken) != made)
			sched_yield();
		return value;
	}
	while (atomic_load(&shared->count) != made)
		sched_yield();
	value = atomic_load(&shared->value);
	atomic_store(&shared->taken, made);
	return value;
}

static void alone(const char *bench, void (*batch)(void *, long, long), void *arg, size_t bytes) {
	if (!wanted(&options, bench))
		return;
	struct work w = {batch, arg, 1, BATCH_NS, NULL};
	struct series s = measure(&w, options.point_ns);
	report(bench, bytes, 1, "cpu", &s, 1);
}

// together runs batch in two processes on the given CPUs, after each has prepared itself.
static void together(const char *bench, const char *transport, struct work w, size_t bytes, double scale, int cpu, void (*prepare)(void *)) {
	if (!wanted(&options, bench))
		return;
	fflush(stdout);
	memset(shared, 0, sizeof *shared);
	end_with_child();
	pid_t other = fork();
	leader = other != 0;
	if (!leader)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(leader ? 0 : cpu);
	if (prepare)
		prepare(w.arg);
	w.agree = agree;
	struct series s = measure(&w, options.point_ns);
	if (!leader)
		_exit(0);
	report(bench, bytes, 2, transport, &s, scale);
	waitpid(other, NULL, 0);
}

// Shared memory.

static void cache_line(void *arg, long first, long n) {
	(void)arg;
	for (long i = 2 * first + 1; i < 2 * (first + n); i += 2) {
		long mine = leader ? i : i + 1, awaited = leader ? i + 1 : i;
		if (leader)
			atomic_store_explicit(&shared->ball, mine, memory_order_release);
		while (atomic_load_explicit(&shared->ball, memory_order_acquire) != awaited)
			;
		if (!leader)
			atomic_store_explicit(&shared->ball, mine, memory_order_release);
	}
}

static void yields(void *arg, long first, long n) {
	(void)arg;
	for (long i = 2 * first + 1; i < 2 * (first + n); i += 2) {
		long mine = leader ? i : i + 1, awaited = leader ? i + 1 : i;
		if (leader)
			atomic_store(&shared->ball, mine);
		while (atomic_load(&shared->ball) != awaited)
			sched_yield();
		if (!leader)
			atomic_store(&shared->ball, mine);
	}
}

static void futex(int op, int value) { syscall(SYS_futex, &shared->word, op, value, NULL, NULL, 0); }

static void hand_over(int from, int to) {
	while (atomic_load(&shared->word) != from)
		futex(FUTEX_WAIT, to);
	atomic_store(&shared->word, to);
	futex(FUTEX_WAKE, 1);
}

static void futexes(void *arg, long first, long n) {
	(void)arg, (void)first;
	while (n--)
		leader ? hand_over(0, 1) : hand_over(1, 0);
}

static void locked_adds(void *arg, long first, long n) {
	(void)arg, (void)first;
	while (n--)
		atomic_fetch_add(&shared->ball, 1);
}

static void locked_swaps(void *arg, long first, long n) {
	(void)arg;
	for (long i = first; i < first + n; i++) {
		long expected = i;
		atomic_compare_exchange_strong(&shared->ball, &expected, i + 1);
	}
}

struct copy {
	unsigned char *to, *from;
	size_t bytes;
};

static void copies(void *arg, long first, long n) {
	struct copy *c = arg;
	for (long i = first; i < first + n; i++) {
		stamp(c->from, c->bytes, i);
		memcpy(c->to, c->from, c->bytes);
		atomic_signal_fence(memory_order_seq_cst);  // every copy is wanted
	}
}

static void bench_memory(void) {
	size_t most = 4 << 20;
	struct copy c = {mapping(most), mapping(most), 0};
	fill(c.from, most);
	together("cache-line", "cpu", (struct work){cache_line, NULL, 1, BATCH_NS, NULL}, 8, 2, 1, NULL);
	together("yield", "cpu", (struct work){yields, NULL, 1, BATCH_NS, NULL}, 8, 2, 0, NULL);
	together("futex", "cpu", (struct work){futexes, NULL, 1, BATCH_NS, NULL}, 8, 2, 0, NULL);
	atomic_store(&shared->ball, 0);
	alone("locked-add", locked_adds, NULL, 8);
	atomic_store(&shared->ball, 0);
	alone("locked-compare-swap", locked_swaps, NULL, 8);
	for (int i = 0; i < options.nsizes; i++) {
		c.bytes = options.sizes[i];
		fill(c.from, c.bytes);
		alone("copy", copies, &c, c.bytes);
		if (wanted(&options, "copy") && memcmp(c.to, c.from, c.bytes))
			die("copy of %zu bytes: the copy differs", c.bytes);
	}
}

// TCP between two namespaces. The follower listens on the first address of its namespace.

struct stream {
	char **namespaces;
	size_t bytes;
	int fd;
	char *buffer;
};

static void enter(const char *namespace) {
	char path[256];
	snprintf(path, sizeof path, "/run/netns/%s", namespace);
	int fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("cannot enter the network namespace %s: run as root, and make it with ip netns add", namespace);
	close(fd);
}

static struct sockaddr_in own_address(void) {
	struct ifaddrs *all, *a;
	struct sockaddr_in found = {0};
	if (getifaddrs(&all))
		die("no addresses");
	for (a = all; a; a = a->ifa_next)
		if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET && !(a->ifa_flags & IFF_LOOPBACK))
			found = *(struct sockaddr_in *)a->ifa_addr;
	freeifaddrs(all);
	if (found.sin_family != AF_INET)
		die("the network namespace has no address");
	return found;
}

static void connect_stream(void *arg) {
	struct stream *s = arg;
	int one = 1;
	enter(s->namespaces[!leader]);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (!leader) {
		struct sockaddr_in at = own_address();
		socklen_t length = sizeof at;
		at.sin_port = 0;
		if (bind(fd, (struct sockaddr *)&at, length) || listen(fd, 1) || getsockname(fd, (struct sockaddr *)&at, &length))
			die("cannot listen: %s", strerror(errno));
		shared->address = at;
		agree(0);
		s->fd = accept(fd, NULL, NULL);
	} else {
		agree(0);
		s->fd = fd;
		if (connect(fd, (struct sockaddr *)&shared->address, sizeof shared->address))
			die("cannot connect: %s", strerror(errno));
	}
	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	s->buffer = calloc(1, s->bytes < 8 ? 8 : s->bytes);
}

static void send_all(struct stream *s, size_t bytes) {
	for (size_t at = 0; at < bytes;) {
		ssize_t n = send(s->fd, s->buffer + at, bytes - at, MSG_NOSIGNAL);
		if (n <= 0)
			die("send: %s", strerror(errno));
		at += n;
	}
}

// receive_all spins in small transfers, which is the fastest answer, and blocks in large ones.
static void receive_all(struct stream *s, size_t bytes) {
	for (size_t at = 0; at < bytes;) {
		ssize_t n = recv(s->fd, s->buffer + at, bytes - at, bytes <= 4096 ? MSG_DONTWAIT : 0);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0)
			die("receive: %s", strerror(errno));
		at += n;
	}
}

static void tcp_ping_pong(void *arg, long first, long n) {
	struct stream *s = arg;
	(void)first;
	while (n--) {
		if (leader)
			send_all(s, s->bytes);
		receive_all(s, s->bytes);
		if (!leader)
			send_all(s, s->bytes);
	}
}

// tcp_stream sends windows; the follower answers each with eight bytes.
static void tcp_stream(void *arg, long first, long n) {
	struct stream *s = arg;
	(void)first;
	for (; n > 0; n -= WINDOW) {
		if (leader) {
			for (int i = 0; i < WINDOW; i++)
				send_all(s, s->bytes);
			receive_all(s, 8);
		} else {
			for (int i = 0; i < WINDOW; i++)
				receive_all(s, s->bytes);
			send_all(s, 8);
		}
	}
}

// between runs one bench in a process of its own: the leader enters a namespace too.
static void between(const char *bench, struct work w, double scale) {
	struct stream *s = w.arg;
	int status;
	fflush(stdout);
	pid_t pair = fork();
	if (pair == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		together(bench, "tcp", w, s->bytes, scale, 1, connect_stream);
		exit(0);
	}
	if (waitpid(pair, &status, 0) != pair || status != 0)
		exit(1);
}

static void bench_tcp(char **namespaces) {
	for (int i = 0; i < options.nsizes; i++) {
		struct stream s = {namespaces, options.sizes[i], -1, NULL};
		if (s.bytes < 8)
			continue;
		between("tcp-pingpong", (struct work){tcp_ping_pong, &s, 1, BATCH_NS, NULL}, 2);
		between("tcp-stream", (struct work){tcp_stream, &s, WINDOW, BATCH_NS, NULL}, 1);
	}
}

int main(int argc, char **argv) {
	program = "floor";
	int at = parse_options(&options, argc, argv);
	if (argc != at && argc != at + 2)
		die("usage: floor [-bench REGEXP] [-sizes N,N] [-time 50ms] [NAMESPACE NAMESPACE]");
	shared = mapping(sizeof *shared);
	if (argc == at)
		bench_memory();
	else
		bench_tcp(argv + at);
	return 0;
}
