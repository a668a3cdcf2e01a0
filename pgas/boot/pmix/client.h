#ifndef PGAS_PMIX_CLIENT_H
#define PGAS_PMIX_CLIENT_H

#include <stdint.h>

// What Go knows of a client. See client.c.
struct pgas_pmix {
    void *library;
    uint32_t rank;
    uint32_t size;
    char namespace[256];
};

// pgas_pmix_open loads the library and connects to the server. It returns 0, or a status of PMIx; if the library cannot
// be loaded or lacks a function, it returns PGAS_PMIX_NO_LIBRARY and writes why into problem.
int pgas_pmix_open(struct pgas_pmix *c, char *problem, int bytes);

// pgas_pmix_share publishes text on rank 0, waits for all processes, and sets *got to the text of rank 0, which the
// caller frees. It returns 0 or a status of PMIx.
int pgas_pmix_share(struct pgas_pmix *c, const char *text, char **got);

// pgas_pmix_close takes leave of the server.
void pgas_pmix_close(struct pgas_pmix *c);

// pgas_pmix_text returns what a status means.
const char *pgas_pmix_text(struct pgas_pmix *c, int status);

enum { PGAS_PMIX_NO_LIBRARY = 1, PGAS_PMIX_NO_KEY = 2 };

#endif
