/*
 * RMA-MCS (rmamcs.go): the distributed tree by itself.
 *
 * Checked: at most one PE inside; nobody is stuck (no invalid end state); when all are through, every queue
 * is empty and every node idle; no element waits while another one of its level has more than TL holders
 * (assertion with others); and, with weak fairness, a PE that does not give up gets in as often as it wants
 * (ltl live).
 *
 * Planted bugs, by -D: OWN_NODE_ABOVE (Listing 5 as printed: who releases a level leaves the one above by
 * its own node), NO_THRESHOLD.
 */

#ifdef NO_THRESHOLD
#define MAY_PASS(l, c, t) true
#else
#define MAY_PASS(l, c, t) ((l) == 0 || (c) < TL)
#endif

#define CLAIM missing = 0
#define YIELD skip
#define WROTE skip

#include "tree.pmh"

init {
	byte k = 0;
	atomic {
		k = 1;
		do
		:: k > P -> break
		:: else -> run writer(k); k++
		od
	}
	(through == P);
	allIdle()
}

ltl live { <> (gotIn == ROUNDS) }
