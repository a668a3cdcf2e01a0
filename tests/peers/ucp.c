// ucp.c: what UCX itself gives between two hosts, without a PGAS runtime above it. The two hosts are
// network namespaces; the program forks, and each half enters one of them.
//
//	gcc -O3 -o ucp ucp.c -lucp -lucs
//	./ucp -bench put-quiet -sizes 8 -time 50ms pe0 pe1
//
// The leader prints. The server does nothing but make progress, or answer active messages. They talk
// of what to measure over a socket pair, which no namespace divides.

#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include "measure.h"

#define REGION (8 << 20)
#define WORD_AT (REGION - 64)  // the word of the atomics
#define MESSAGE 1              // the id of our active messages
#define IN_FLIGHT 8            // active messages of a stream that UCX holds at a time; more of them are slower

static int leader, control;
static struct options options;

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h peer;
static ucp_rkey_h key;
static unsigned char *region;  // what the other half may access
static uint64_t remote;        // where its region is
static unsigned char *local;   // private memory
static ucp_request_param_t plain;

static void must(ucs_status_t status, const char *what) {
	if (status != UCS_OK)
		die("%s: %s", what, ucs_status_string(status));
}

// The control socket.

static void tell(const void *data, size_t bytes) {
	if (write(control, data, bytes) != (ssize_t)bytes)
		die("the other half is gone");
}

static void hear(void *data, size_t bytes) {
	if (recv(control, data, bytes, MSG_WAITALL) != (ssize_t)bytes)
		die("the other half is gone");
}

// hear_in_progress waits for a word from the leader and makes UCX progress meanwhile. It looks at the
// socket rarely: a system call costs as much as several rounds of progress.
static long hear_in_progress(void) {
	for (long round = 0;; round++) {
		long value;
		ucp_worker_progress(worker);
		if (round % 512 == 0 && recv(control, &value, sizeof value, MSG_DONTWAIT | MSG_PEEK) == sizeof value) {
			hear(&value, sizeof value);
			return value;
		}
	}
}

static long agree(long value) {
	if (leader)
		tell(&value, sizeof value);
	else
		value = hear_in_progress();
	return value;
}

// exchange sends a block and returns the other half's; it is for wire-up.
static void *exchange(const void *data, size_t bytes) {
	size_t theirs;
	tell(&bytes, sizeof bytes);
	tell(data, bytes);
	hear(&theirs, sizeof theirs);
	void *block = malloc(theirs);
	hear(block, theirs);
	return block;
}

// Completion.

static void wait_for(ucs_status_ptr_t request) {
	if (!request)
		return;
	if (UCS_PTR_IS_ERR(request))
		die("operation failed: %s", ucs_status_string(UCS_PTR_STATUS(request)));
	while (ucp_request_check_status(request) == UCS_INPROGRESS)
		ucp_worker_progress(worker);
	ucp_request_free(request);
}

static void let_go(ucs_status_ptr_t request) {
	if (request && UCS_PTR_IS_PTR(request))
		ucp_request_free(request);
}

static void flush(void) { wait_for(ucp_ep_flush_nbx(peer, &plain)); }

// Wire-up.

static void enter(const char *namespace) {
	char path[256];
	snprintf(path, sizeof path, "/run/netns/%s", namespace);
	int fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("cannot enter the network namespace %s: run as root, and make it with ip netns add", namespace);
	close(fd);
}

static void pin(int cpu) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static long arrived;        // active messages received
static uint64_t last_sent;  // number in the payload of the last one

static ucs_status_t on_message(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes, const ucp_am_recv_param_t *param) {
	(void)arg, (void)header, (void)header_bytes, (void)param;
	memcpy(region, data, bytes);
	memcpy(&last_sent, region, sizeof last_sent);
	arrived++;
	return UCS_OK;
}

static void open_worker(void) {
	ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_AM};
	ucp_worker_params_t single = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SINGLE};
	ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB, .id = MESSAGE, .cb = on_message};
	must(ucp_init(&params, NULL, &context), "ucp_init");
	must(ucp_worker_create(context, &single, &worker), "ucp_worker_create");
	must(ucp_worker_set_am_recv_handler(worker, &handler), "ucp_worker_set_am_recv_handler");
}

static void connect_halves(void) {
	ucp_mem_map_params_t wanted_memory = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
		.length = REGION,
		.flags = UCP_MEM_MAP_ALLOCATE};
	ucp_mem_attr_t got = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
	ucp_mem_h memory;
	must(ucp_mem_map(context, &wanted_memory, &memory), "ucp_mem_map");
	must(ucp_mem_query(memory, &got), "ucp_mem_query");
	region = got.address;
	memset(region, 0, REGION);

	ucp_address_t *address;
	size_t bytes;
	must(ucp_worker_get_address(worker, &address, &bytes), "ucp_worker_get_address");
	ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = exchange(address, bytes)};
	must(ucp_ep_create(worker, &to, &peer), "ucp_ep_create");

	void *packed;
	must(ucp_rkey_pack(context, memory, &packed, &bytes), "ucp_rkey_pack");
	must(ucp_ep_rkey_unpack(peer, exchange(packed, bytes), &key), "ucp_ep_rkey_unpack");
	remote = *(uint64_t *)exchange(&region, sizeof region);
	local = malloc(REGION);
}

// What a batch works on.
struct job {
	size_t bytes;
	long slots;
	uint64_t wrong;
};

static uint64_t slot_of(const struct job *j, long i) { return remote + (i & (j->slots - 1)) * j->bytes; }

// Leader and server meet before and after each bench; lead leaves the server in progress meanwhile.

static long meet(long value) {
	long theirs = 0;
	if (leader) {
		tell(&value, sizeof value);
		hear(&theirs, sizeof theirs);
		return value;
	}
	value = hear_in_progress();
	tell(&value, sizeof value);
	return value;
}

static long lead(const char *bench, struct work w, size_t bytes) {
	long done = 0;
	meet(0);
	if (leader) {
		struct series s = measure(&w, options.point_ns);
		done = s.done;
		report(bench, bytes, 2, "ucx", &s, 1);
		flush();
	}
	return meet(done);
}

static long join(const char *bench, struct work w, size_t bytes, double scale) {
	w.agree = agree;
	arrived = 0;
	meet(0);
	struct series s = measure(&w, options.point_ns);
	long done = s.done;
	if (leader)
		report(bench, bytes, 2, "ucx", &s, scale);
	else
		free(s.ns);
	meet(0);
	return done;
}

static void put_flush(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++) {
		stamp(local, j->bytes, i);
		wait_for(ucp_put_nbx(peer, local, j->bytes, slot_of(j, i), key, &plain));
		flush();
	}
}

static void gets(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++) {
		wait_for(ucp_get_nbx(peer, local, j->bytes, slot_of(j, i), key, &plain));
		j->wrong |= local[0] ^ (unsigned char)(i & (j->slots - 1));
	}
}

// put_rate puts without waiting and flushes once a window; sources are not reused before the flush.
static void put_rate(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++) {
		unsigned char *source = local + (i & (WINDOW - 1)) * j->bytes;
		stamp(source, j->bytes, i);
		let_go(ucp_put_nbx(peer, source, j->bytes, slot_of(j, i), key, &plain));
		if ((i & (WINDOW - 1)) == WINDOW - 1)
			flush();
	}
}

static void put_stream(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++) {
		if (i % WINDOW == 0)
			stamp(local, j->bytes, i);
		let_go(ucp_put_nbx(peer, local, j->bytes, remote, key, &plain));
		if ((i & (WINDOW - 1)) == WINDOW - 1)
			flush();
	}
}

static void check_slots(const char *bench, const struct job *j, long done) {
	if (!leader)
		for (long slot = 0; slot < j->slots && slot < done; slot++)
			check_payload(bench, region + slot * j->bytes, j->bytes, last_in_slot(done, j->slots, slot));
	meet(0);
}

static void prepare(const struct job *j) {
	fill(local, j->bytes);
	for (long i = 0; i < WINDOW && j->bytes <= 1024; i++)
		fill(local + i * j->bytes, j->bytes);
	for (long slot = 0; slot < j->slots; slot++) {
		fill(region + slot * j->bytes, j->bytes);
		stamp(region + slot * j->bytes, j->bytes, slot);
	}
}

static void bench_one_sided(size_t bytes) {
	struct job j = {bytes, slots_of(bytes), 0};
	prepare(&j);
	if (wanted(&options, "get")) {
		lead("get", (struct work){gets, &j, 1, BATCH_NS, NULL}, bytes);
		if (j.wrong)
			die("get of %zu bytes: a value is wrong", bytes);
		prepare(&j);
	}
	if (wanted(&options, "put-quiet"))
		check_slots("put-quiet", &j, lead("put-quiet", (struct work){put_flush, &j, 1, BATCH_NS, NULL}, bytes));
	if (wanted(&options, "rate") && bytes <= 1024)
		check_slots("rate", &j, lead("rate", (struct work){put_rate, &j, WINDOW, BATCH_NS, NULL}, bytes));
	if (wanted(&options, "bandwidth")) {
		long done = lead("bandwidth", (struct work){put_stream, &j, WINDOW, BATCH_NS, NULL}, bytes);
		if (!leader)
			check_payload("bandwidth", region, bytes, done - WINDOW);
		meet(0);
	}
}

// Atomics: the leader alone works on the word, so every old value is known.

static uint64_t atomic(ucp_atomic_op_t op, uint64_t operand, uint64_t reply) {
	ucp_request_param_t fetching = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
	                                .datatype = ucp_dt_make_contig(8),
	                                .reply_buffer = &reply};
	wait_for(ucp_atomic_op_nbx(peer, op, &operand, 1, remote + WORD_AT, key, &fetching));
	return reply;
}

static void fetch_adds(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++)
		j->wrong |= atomic(UCP_ATOMIC_OP_ADD, 1, 0) ^ (uint64_t)i;
}

static void compare_swaps(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++)
		j->wrong |= atomic(UCP_ATOMIC_OP_CSWAP, i, i + 1) ^ (uint64_t)i;
}

static void swaps(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i++)
		j->wrong |= atomic(UCP_ATOMIC_OP_SWAP, i + 1, 0) ^ (uint64_t)i;
}

static void bench_atomic(const char *bench, void (*batch)(void *, long, long)) {
	struct job j = {8, 1, 0};
	if (!wanted(&options, bench))
		return;
	memset(region + WORD_AT, 0, 8);
	long done = lead(bench, (struct work){batch, &j, 1, BATCH_NS, NULL}, 8);
	if (j.wrong)
		die("%s: an old value is wrong", bench);
	if (!leader && *(volatile uint64_t *)(region + WORD_AT) != (uint64_t)done)
		die("%s: the word is not %ld after %ld operations", bench, done, done);
	meet(0);
}

// Active messages, always eager: on TCP the rendezvous of this UCX is slower at every size measured.

static const ucp_request_param_t eager = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_EAGER};

static ucs_status_ptr_t send_message(size_t bytes) { return ucp_am_send_nbx(peer, MESSAGE, NULL, 0, local, bytes, &eager); }

static void await_messages(long count) {
	while (arrived < count)
		ucp_worker_progress(worker);
}

static void am_ping(void *arg, long number) {
	struct job *j = arg;
	stamp(local, j->bytes, number);
	wait_for(send_message(j->bytes));
}

static void am_pong(void *arg, long number) {
	struct job *j = arg;
	await_messages(number);
	j->wrong |= last_sent ^ (uint64_t)number;
}

static void am_ping_pong(void *arg, long first, long n) {
	for (long i = first + 1; i <= first + n; i++) {
		if (leader)
			am_ping(arg, i), am_pong(arg, i);
		else
			am_pong(arg, i), am_ping(arg, i);
	}
}

// am_stream sends windows of messages; the server answers each window with one of eight bytes.
static void am_stream(void *arg, long first, long n) {
	struct job *j = arg;
	for (long i = first; i < first + n; i += WINDOW) {
		if (!leader) {
			await_messages(i + WINDOW);
			wait_for(send_message(8));
			continue;
		}
		ucs_status_ptr_t sent[IN_FLIGHT] = {NULL};
		stamp(local, j->bytes, i);
		for (int k = 0; k < WINDOW; k++) {
			wait_for(sent[k % IN_FLIGHT]);
			sent[k % IN_FLIGHT] = send_message(j->bytes);
		}
		for (int k = 0; k < IN_FLIGHT; k++)
			wait_for(sent[k]);
		await_messages(i / WINDOW + 1);
	}
}

static void bench_messages(size_t bytes) {
	struct job j = {bytes, 1, 0};
	if (bytes < 8)
		return;
	prepare(&j);
	if (wanted(&options, "am-pingpong")) {
		join("am-pingpong", (struct work){am_ping_pong, &j, 1, BATCH_NS, NULL}, bytes, 2);
		if (j.wrong)
			die("am-pingpong of %zu bytes: a payload is wrong", bytes);
	}
	if (wanted(&options, "am-stream")) {
		long done = join("am-stream", (struct work){am_stream, &j, WINDOW, BATCH_NS, NULL}, bytes, 1);
		if (!leader)
			check_payload("am-stream", region, bytes, done - WINDOW);
	}
}

static void be_half(const char *namespace) {
	if (!leader)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(!leader);
	enter(namespace);
	open_worker();
	connect_halves();
	meet(0);
	for (int i = 0; i < options.nsizes; i++) {
		bench_one_sided(options.sizes[i]);
		bench_messages(options.sizes[i]);
	}
	bench_atomic("fetch-add", fetch_adds);
	bench_atomic("compare-swap", compare_swaps);
	bench_atomic("swap", swaps);
}

int main(int argc, char **argv) {
	int pair[2];
	program = "ucp";
	int at = parse_options(&options, argc, argv);
	if (argc - at != 2)
		die("usage: ucp [-bench REGEXP] [-sizes N,N] [-time 50ms] NAMESPACE NAMESPACE");
	setenv("UCX_TLS", "tcp", 0);  // namespaces share their machine's memory; hosts do not
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die("no socket pair");
	end_with_child();
	pid_t server = fork();
	leader = server != 0;
	control = pair[!leader];
	close(pair[leader]);
	be_half(argv[at + !leader]);
	fflush(stdout);
	if (leader) {
		int status = 0;
		waitpid(server, &status, 0);
		_exit(status != 0);
	}
	_exit(0);
}
