// pcg.h: the random numbers of Go's math/rand/v2 with a source of type PCG, so that kernels generate what our samples
// generate: a PCG of 128 bits with the output function DXSM (M. O'Neill, "PCG: A Family of Simple Fast Space-Efficient
// Statistically Good Algorithms for Random Number Generation", 2014).

#ifndef PEERS_PCG_H
#define PEERS_PCG_H

#include <stdint.h>

typedef unsigned __int128 wide;

struct pcg {
	wide state;
};

static inline struct pcg new_pcg(uint64_t high, uint64_t low) { return (struct pcg){(wide)high << 64 | low}; }

static inline uint64_t pcg_next(struct pcg *p) {
	const wide multiplier = (wide)2549297995355413924 << 64 | 4865540595714422341;
	const wide increment = (wide)6364136223846793005 << 64 | 1442695040888963407;
	p->state = p->state * multiplier + increment;
	uint64_t high = p->state >> 64, low = p->state;
	high ^= high >> 32;
	high *= 0xda942042e4dd58b5;
	high ^= high >> 48;
	return high * (low | 1);
}

// pcg_below returns a number below n, as IntN does: of the products of n and 64 random bits, the upper 64 bits, without
// the few products that would make some numbers more frequent than others.
static inline uint64_t pcg_below(struct pcg *p, uint64_t n) {
	if ((n & (n - 1)) == 0)
		return pcg_next(p) & (n - 1);
	wide product = (wide)pcg_next(p) * n;
	while ((uint64_t)product < n && (uint64_t)product < -n % n)
		product = (wide)pcg_next(p) * n;
	return product >> 64;
}

#endif
