// A client of a PMIx server, by six functions of libpmix. The library is loaded when a launcher with PMIx has started
// the process, so that a program runs on machines without it. The few declarations that it takes are below: their
// layout is the same in versions 3 to 5 of the library, and tests/clusters compares it with the header that is
// installed.
#include "client.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"

typedef int (*init_fn)(struct pmix_proc *, void *, size_t);
typedef int (*finalize_fn)(const void *, size_t);
typedef int (*put_fn)(uint8_t, const char *, struct pmix_value *);
typedef int (*commit_fn)(void);
typedef int (*fence_fn)(const void *, size_t, const struct pmix_info *, size_t);
typedef int (*get_fn)(const struct pmix_proc *, const char *, const void *, size_t, struct pmix_value **);
typedef const char *(*text_fn)(int);

static const char *const library_names[] = {"libpmix.so.2", "libpmix.so"};
static const char *const functions[] = {"PMIx_Init", "PMIx_Finalize", "PMIx_Put", "PMIx_Commit", "PMIx_Fence", "PMIx_Get"};
static const char ticket_key[] = "pgas.ticket";

// find returns a function of the library. open_library has found all of them before.
static void *find(const struct pgas_pmix *c, const char *name) {
    return dlsym(c->library, name);
}

// open_library returns whether the library has been loaded with all functions. RTLD_GLOBAL is for its plugins.
static bool open_library(struct pgas_pmix *c, char *problem, int bytes) {
    for (size_t i = 0; c->library == NULL && i < sizeof library_names / sizeof *library_names; i++) {
        c->library = dlopen(library_names[i], RTLD_NOW | RTLD_GLOBAL);
    }
    if (c->library == NULL) {
        snprintf(problem, (size_t)bytes, "%s", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (find(c, functions[i]) == NULL) {
            snprintf(problem, (size_t)bytes, "it has no %s", functions[i]);
            return false;
        }
    }
    return true;
}

static struct pmix_proc process(const struct pgas_pmix *c, uint32_t rank) {
    struct pmix_proc p = {.rank = rank};
    memcpy(p.nspace, c->namespace, sizeof p.nspace);
    return p;
}

// job_size asks the server for the number of processes.
static int job_size(struct pgas_pmix *c) {
    struct pmix_proc all = process(c, ABI_RANK_WILDCARD);
    struct pmix_value *v = NULL;
    int status = ((get_fn)find(c, "PMIx_Get"))(&all, "pmix.job.size", NULL, 0, &v);
    if (status != 0) {
        return status;
    }
    if (v == NULL || v->type != ABI_UINT32) {
        return PGAS_PMIX_NO_KEY;
    }
    c->size = v->data.uint32;
    free(v);
    return 0;
}

int pgas_pmix_open(struct pgas_pmix *c, char *problem, int bytes) {
    if (!open_library(c, problem, bytes)) {
        return PGAS_PMIX_NO_LIBRARY;
    }
    struct pmix_proc self = {.rank = 0};
    int status = ((init_fn)find(c, "PMIx_Init"))(&self, NULL, 0);
    if (status != 0) {
        return status;
    }
    memcpy(c->namespace, self.nspace, sizeof c->namespace);
    c->rank = self.rank;
    status = job_size(c);
    if (status != 0) {
        pgas_pmix_close(c);
    }
    return status;
}

// publish puts the text of rank 0 where all processes can get it after the fence.
static int publish(struct pgas_pmix *c, const char *text) {
    struct pmix_value v = {.type = ABI_STRING, .data = {.string = (char *)text}};
    int status = ((put_fn)find(c, "PMIx_Put"))(ABI_GLOBAL, ticket_key, &v);
    return status != 0 ? status : ((commit_fn)find(c, "PMIx_Commit"))();
}

// fence waits for all processes, and has the servers exchange what has been published.
static int fence(struct pgas_pmix *c) {
    struct pmix_proc all = process(c, ABI_RANK_WILDCARD);
    struct pmix_info collect = {.key = "pmix.collect", .value = {.type = ABI_BOOL, .data = {.flag = true}}};
    return ((fence_fn)find(c, "PMIx_Fence"))(&all, 1, &collect, 1);
}

int pgas_pmix_share(struct pgas_pmix *c, const char *text, char **got) {
    int status = c->rank == 0 ? publish(c, text) : 0;
    if (status == 0) {
        status = fence(c);
    }
    if (status != 0) {
        return status;
    }
    struct pmix_proc zero = process(c, 0);
    struct pmix_value *v = NULL;
    status = ((get_fn)find(c, "PMIx_Get"))(&zero, ticket_key, NULL, 0, &v);
    if (status != 0) {
        return status;
    }
    if (v == NULL || v->type != ABI_STRING || v->data.string == NULL) {
        return PGAS_PMIX_NO_KEY;
    }
    *got = v->data.string;
    free(v);
    return 0;
}

void pgas_pmix_close(struct pgas_pmix *c) {
    ((finalize_fn)find(c, "PMIx_Finalize"))(NULL, 0);
}

const char *pgas_pmix_text(struct pgas_pmix *c, int status) {
    if (status == PGAS_PMIX_NO_KEY) {
        return "the server has no such key";
    }
    text_fn text = (text_fn)find(c, "PMIx_Error_string");
    return text == NULL ? "unknown" : text(status);
}
