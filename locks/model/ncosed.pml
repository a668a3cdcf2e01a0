/*
 * N-CoSED (ncosed_queue.go): a queue of writers and the groups of readers between them, with PEs that give up
 * and come back, as writers and as readers.
 *
 * Each step on a word is one atomic step here, as there. Loops of compare-swaps that only repeat until
 * nobody came between are one step. Chains are opened one after the other, which the Go code does together.
 *
 * PEs 1 to W write, PEs P-R+1 to P read; a PE that may do both chooses each time. PEs 1 to GIVE_UP may give up.
 *
 * Checked: writers are alone; first come, first served, but for readers between the same two writers: who
 * must come after PE P does not get in before it, unless that gives up (assertion with later); nobody is stuck (no
 * invalid end state); when all are through, the lock is free and every node can be used again; and, with weak fairness,
 * a PE that does not give up gets in as often as it wants (ltl live).
 *
 * Planted bugs, by -D: RESETS_WORD (the paper's: the last writer sets the word to zero), CLOSES_EARLY (a writer
 * closes its group before it is inside), SKIPS_READERS (a writer that finds readers only does not wait),
 * FREES_AT_ONCE (a node is its owner's again though readers are under way to it), NO_MARK (a writer that
 * leaves does not care who is about to link itself), TELLS_BLINDLY, FORGETS_READERS (readers that gave up
 * are not counted out), IDLE_EARLY (reads the chain from a node that is its owner's again).
 */

#ifndef P
#define P 3
#endif
#ifndef W
#define W P
#endif
#ifndef R
#define R P
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef GIVE_UP
#define GIVE_UP 0
#endif
#ifndef CHAINS
#define CHAINS 1
#endif

#define NONE 0
#define IDLE 0
#define WAITING 1
#define ABANDONED 2
#define SPENT 3
#define TURN 4
#define LEFT 100
#define OPENED 100

/* Where pass, open, settle and tell go on. */
#define TO_AWAY 0
#define TO_WAIT 1
#define TO_READ 2

byte tail = NONE, count = 0;         /* Word */
byte closer = NONE; short balance = 0; /* Done */
byte next[P + 1], between[P + 1];    /* Next */
byte status[P + 1];
byte shared[P + 1];
byte behind[P + 1];
byte lateChains[P + 1]; short late[P + 1];
byte chain[(P + 1) * CHAINS], depth[(P + 1) * CHAINS];
byte writers = 0, readers = 0;
byte gotIn = 0; /* how often PE P was inside */
bool waits = 0, waitsToRead = 0; /* PE P has come, */
bool gap = 0;                    /* and a writer after it; */
bool later[2 * P + 2];           /* and this place, a PE's as a writer or as a reader, which must come after it */

#define PLACE(reads) (2 * me + (reads))

/* COMES, GETS_IN and GONE are parts of the steps by which a PE comes to the queue, gets in, and gives up. */
inline COMES(reads) {
	if
	:: me == P -> waits = 1; waitsToRead = reads; gap = 0
	:: me != P && waits -> later[PLACE(reads)] = (!reads || !waitsToRead || gap); gap = (gap || !reads)
	:: else -> later[PLACE(reads)] = 0
	fi
}
inline GONE() {
	if
	:: me == P -> waits = 0; gap = 0; for (i : 2 .. 2 * P + 1) { later[i] = 0 }; i = 0
	:: me != P
	fi
}
inline GETS_IN(reads) {
	assert(!later[PLACE(reads)]);
	GONE();
	if :: me == P -> gotIn++ :: else fi
}

#define AT(n, i) (n) * CHAINS + (i)

inline cas(word, is, will, was) {
	atomic { was = word; if :: was == is -> word = will :: else fi }
}

/* free gives the node n back to its owner. */
inline free(n, chains) {
	i = 0;
	do
	:: i < chains -> d_step { chain[AT(n, i)] = NONE; depth[AT(n, i)] = 0; i++ }
	:: else -> break
	od;
	status[n] = IDLE;
	i = 0
}

/* lateness adds to Late of n, and the last one frees the node. */
inline lateness(n, chains, v) {
	atomic {
		lateChains[n] = lateChains[n] + chains;
		late[n] = late[n] + v;
		last = lateChains[n] != 0 && late[n] == 0
	}
	if
	:: last ->
		atomic { width = lateChains[n]; lateChains[n] = 0 }
		free(n, width);
		last = 0
	:: else
	fi;
	width = 0
}

/* spread lets the first reader of the chain r in that has not given up. */
inline spread() {
	do
	:: r == NONE -> break
	:: else ->
#ifdef TELLS_BLINDLY
		shared[r] = TURN; break;
#endif
		cas(shared[r], WAITING, TURN, old);
		if :: old == WAITING -> break :: else fi;
		cas(shared[r], ABANDONED, SPENT, old);
		if
		:: old == ABANDONED ->
#ifdef IDLE_EARLY
			shared[r] = IDLE;
			r = behind[r];
#else
			old = behind[r];
			shared[r] = IDLE;
			r = old;
#endif
#ifndef FORGETS_READERS
			gone++
#endif
		:: else
		fi
	od;
	r = NONE; old = 0
}

proctype pe(byte me) {
	byte round = 0, old = 0, before = NONE, h = NONE, k = 0, to = NONE, ret = 0;
	byte i = 0, width = 0, came = 0, gone = 0, r = NONE, first = NONE, d = 0;
	short n = 0;
	bool last = 0;
away:
	if
	:: round == ROUNDS -> goto over
	:: round < ROUNDS && me <= W -> round++; goto lock
	:: round < ROUNDS && me > P - R -> round++; goto share
	fi;

lock:
	if
	:: status[me] == ABANDONED ->
		cas(status[me], ABANDONED, WAITING, old);
		if :: old == ABANDONED -> goto waitForTurn :: else fi
	:: else
	fi;
	(status[me] == IDLE);
	atomic { before = tail; k = count; tail = me; count = 0; COMES(0) }
	if
#ifdef SKIPS_READERS
	:: before == NONE -> goto write
#else
	:: before == NONE && k == 0 -> goto write
#endif
	:: else
	fi;
	status[me] = WAITING;
	ret = TO_WAIT;
	if
	:: before == NONE -> to = me; n = 0 - k; goto settle
	:: else
	fi;
#ifdef CLOSES_EARLY
	if
	:: k > 0 -> atomic { closer = closer + me; balance = balance - k }
	:: else
	fi;
#endif
	atomic { old = next[before]; next[before] = me; between[before] = k }
	if
	:: old == LEFT -> next[before] = NONE; h = before; to = me; goto open
	:: else
	fi;

waitForTurn:
	if
	:: status[me] != WAITING
	:: me <= GIVE_UP && status[me] == WAITING ->
		atomic {
			cas(status[me], WAITING, ABANDONED, old);
			if :: old == WAITING -> GONE() :: else fi
		};
		if :: old == WAITING -> goto away :: else fi
	fi;
write:
	atomic { writers++; assert(writers == 1 && readers == 0); GETS_IN(0) };
	writers--;
	h = me; ret = TO_AWAY;

pass:
	width = 0; came = 0; gone = 0;
	do
	:: width < CHAINS && chain[AT(h, width)] != NONE && chain[AT(h, width)] != OPENED ->
		atomic {
			r = chain[AT(h, width)]; came = came + depth[AT(h, width)];
			chain[AT(h, width)] = OPENED; depth[AT(h, width)] = 0; width++
		}
		spread()
	:: else -> break
	od;
	width = 0;
	if
	:: came > 0 ->
		late[h] = late[h] + came;
		if :: gone > 0 -> balance = balance + gone; assert(closer == NONE) :: else fi
	:: else
	fi;
	came = 0; gone = 0;
	to = next[h];
	if
	:: to == NONE ->
		atomic {
			if
			:: tail == h -> tail = NONE; k = count; last = 1;
#ifdef RESETS_WORD
				count = 0;
#endif
			:: else
			fi
		}
		if :: last -> last = 0; goto open :: else fi;
#ifdef NO_MARK
		goto back;
#endif
		status[h] = SPENT;
		cas(next[h], NONE, LEFT, to);
		if :: to == NONE -> goto back :: else fi
	:: else
	fi;
	atomic { k = between[h]; next[h] = NONE }

open:
	if
	:: k == 0 -> status[h] = IDLE; goto tell
	:: else
	fi;
	status[h] = SPENT;
	came = 0; gone = 0; width = 0;
	do
	:: width < CHAINS && width < k && chain[AT(h, width)] == OPENED -> width++
	:: width < CHAINS && width < k && chain[AT(h, width)] != OPENED ->
		atomic {
			r = chain[AT(h, width)]; came = came + depth[AT(h, width)];
			chain[AT(h, width)] = OPENED; depth[AT(h, width)] = 0; width++
		}
		spread()
	:: else -> break
	od;
	d = width; width = 0;
#ifdef FREES_AT_ONCE
	free(h, d);
#else
	if
	:: came == k -> free(h, d)
	:: else -> lateness(h, d, came - k)
	fi;
#endif
	n = gone; d = 0; came = 0; gone = 0;
#ifndef CLOSES_EARLY
	if :: to != NONE -> n = n - k :: else fi;
#endif
	k = 0;

settle:
	if :: to == NONE && n == 0 -> goto back :: else fi;
	atomic {
#ifdef CLOSES_EARLY
		if :: closer != to -> closer = closer + to :: else fi;
#else
		closer = closer + to;
#endif
		balance = balance + n;
		to = NONE; n = 0; k = 0;
		if :: closer != NONE && balance == 0 -> to = closer :: else fi
	}
	if
	:: to != NONE -> closer = NONE
	:: else
	fi;

tell:
	do
	:: to == NONE -> goto back
	:: else ->
#ifdef TELLS_BLINDLY
		status[to] = TURN; to = NONE; goto back;
#endif
		cas(status[to], WAITING, TURN, old);
		if :: old == WAITING -> to = NONE; goto back :: else fi;
		cas(status[to], ABANDONED, SPENT, old);
		if :: old == ABANDONED -> h = to; to = NONE; goto pass :: else fi
	od;

back:
	h = NONE; old = 0; before = NONE;
	if
	:: ret == TO_AWAY -> goto away
	:: ret == TO_WAIT -> ret = TO_AWAY; goto waitForTurn
	:: ret == TO_READ -> ret = TO_AWAY; goto read
	fi;

share:
	if
	:: shared[me] == ABANDONED ->
		cas(shared[me], ABANDONED, WAITING, old);
		if :: old == ABANDONED -> goto waitToRead :: else fi
	:: else
	fi;
	(shared[me] == IDLE);
	atomic { before = tail; i = count % CHAINS; count++; COMES(1) }
	if :: before == NONE -> goto read :: else fi;
	shared[me] = WAITING;
	first = NONE; d = 0;
	do
	:: behind[me] = first;
		atomic {
			if
			:: chain[AT(before, i)] == first && depth[AT(before, i)] == d ->
				chain[AT(before, i)] = me; depth[AT(before, i)] = d + 1; last = 1
			:: else -> first = chain[AT(before, i)]; d = depth[AT(before, i)]
			fi
		}
		if
		:: last -> last = 0; first = NONE; d = 0; i = 0; before = NONE; goto waitToRead
		:: first == OPENED -> break
		:: else
		fi
	od;
	first = NONE; d = 0; i = 0;
	shared[me] = IDLE;
#ifndef FREES_AT_ONCE
	lateness(before, 0, 1);
#endif
	goto read;

waitToRead:
	if
	:: shared[me] != WAITING
	:: me <= GIVE_UP && shared[me] == WAITING ->
		atomic {
			cas(shared[me], WAITING, ABANDONED, old);
			if :: old == WAITING -> GONE() :: else fi
		};
		if :: old == WAITING -> goto away :: else fi
	fi;
	r = behind[me];
	shared[me] = IDLE;
	gone = 0;
	spread();
	to = NONE; n = gone; gone = 0; ret = TO_READ;
	goto settle;
read:
	atomic { readers++; assert(writers == 0); GETS_IN(1) };
	readers--;
	to = NONE; n = 1; ret = TO_AWAY;
	goto settle;
over:
	skip
}

init {
	byte i;
	atomic {
		for (i : 1 .. P) { run pe(i) }
	}
	/* When all are through, the lock is free and every node can be used again. */
	(_nr_pr == 1);
	assert(tail == NONE && closer == NONE && balance == count);
	for (i : 1 .. P) {
		assert(status[i] == IDLE && shared[i] == IDLE && next[i] == NONE && lateChains[i] == 0 && late[i] == 0)
	}
	for (i : 0 .. (P + 1) * CHAINS - 1) { assert(chain[i] == NONE && depth[i] == 0) }
}

/* PE P never gives up: it gets in as often as it wants. */
ltl live { <> (gotIn == ROUNDS) }
