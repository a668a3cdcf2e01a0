/*
 * D-MCS: the distributed queue (dmcs_queue.go), with PEs that give up and come back.
 *
 * Each step on a word is one atomic step here, as there. What the network may reorder does not show: every
 * step on which others rely fetches.
 *
 * Checked: at most one PE inside; first come, first served: nobody gets in before PE P, which does not give
 * up, who came to the queue after it (assertion with later); nobody is stuck (no invalid end state); when
 * all are through, the queue is empty and every node idle; and, with weak fairness, a PE that does not give
 * up gets in as often as it wants (ltl live).
 *
 * Planted bugs, by -D: LOST_WAKEUP (arms its flag after it has linked itself, and is told by a put),
 * TELL_BLINDLY (told by a put, whether it has given up or not), NO_RECHECK (spends a node without looking
 * whether its PE has come back), CLEAR_NEXT_LATE, REVERSED_CAS, FREE_EARLY, SPENT_LATE.
 */

#ifndef P
#define P 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef GIVE_UP
#define GIVE_UP 1
#endif

#define NONE 0
#define IDLE 0
#define WAITING 1
#define ABANDONED 2
#define SPENT 3
#define TURN 4
#define LEFT 100 /* what the head leaves in next for whoever comes */

byte tail = NONE;
byte next[P + 1];   /* by PE, from 1 */
byte status[P + 1];
byte inside = 0;
byte gotIn = 0;     /* how often PE P was inside */
bool waits = 0;     /* PE P is in the queue, */
bool later[P + 1];  /* and this PE came after it */

/* COMES is part of the step by which a PE comes to the queue, GETS_IN of that by which it gets in. */
#define COMES if :: me == P -> waits = 1 :: else -> later[me] = waits fi
inline GETS_IN() {
	inside++;
	assert(inside == 1);
	if
	:: me == P ->
		waits = 0;
		for (h : 1 .. P) { later[h] = 0 }
	:: else -> assert(!later[me])
	fi;
	h = 0
}

/* CAS(word, from, to, old) */
inline cas(word, from, to, old) {
	atomic { old = word; if :: old == from -> word = to :: else fi }
}
inline swap(word, to, old) {
	atomic { old = word; word = to }
}
inline swapTail() {
	atomic { before = tail; tail = me; COMES }
}

/* free gives a node back to its owner. */
inline free(n) {
#ifdef FREE_EARLY
	status[n] = IDLE;
	next[n] = NONE;
#else
	next[n] = NONE;
	status[n] = IDLE;
#endif
}

/* leave gives the queue's head, the node h, to the next who waits, or ends the queue. */
inline leave(h) {
	do
	:: true ->
		/* pass */
		told = 0;
		do
		:: next[h] == NONE || next[h] == LEFT -> break
		:: else ->
			was = h;
			h = next[h];
#if defined(TELL_BLINDLY) || defined(LOST_WAKEUP)
			status[h] = TURN; told = 1;
#else
			do
			:: cas(status[h], WAITING, TURN, old);
				if :: old == WAITING -> told = 1; break :: else fi;
#ifdef NO_RECHECK
				status[h] = SPENT; break
#else
				cas(status[h], ABANDONED, SPENT, old);
				if :: old == ABANDONED -> break :: else fi
#endif
			od;
#endif
			free(was);
			if :: told -> break :: else fi
		od;
		if :: told -> break :: else fi;
#ifdef REVERSED_CAS
		cas(tail, NONE, h, old);
#else
		cas(tail, h, NONE, old);
#endif
		if :: old == h -> free(h); break :: else fi;
#ifndef SPENT_LATE
		status[h] = SPENT;
#endif
		cas(next[h], NONE, LEFT, old);
		if
		:: old == NONE ->
#ifdef SPENT_LATE
			status[h] = SPENT;
#endif
			break
		:: else
		fi
	od
}

proctype pe(byte me) {
	byte round = 0, before = 0, old = 0, h = 0, was = 0;
	bool told = 0, mine = 0;
	do
	:: round == ROUNDS -> break
	:: else ->
		round++;
		mine = 0;
		/* enter */
		if
		:: status[me] == ABANDONED ->
			cas(status[me], ABANDONED, WAITING, old);
			if
			:: old == ABANDONED -> goto waiting
			:: else
			fi
		:: else
		fi;
		(status[me] == IDLE);
#ifdef CLEAR_NEXT_LATE
		swapTail();
		next[me] = NONE;
#elif defined(COMPARES)
		/* dqnl.pml */
		before = NONE;
		do
		:: atomic { old = tail; if :: old == before -> tail = me; COMES :: else fi };
			if :: old == before -> break :: else fi;
#ifdef BELIEVES_FIRST
			break;
#endif
			before = old
		od;
#else
		swapTail();
#endif
		if
		:: before == NONE -> goto critical
		:: else
		fi;
#ifndef LOST_WAKEUP
		status[me] = WAITING;
#endif
		swap(next[before], me, old);
#ifdef LOST_WAKEUP
		status[me] = WAITING;
#endif
		if
		:: old == LEFT -> free(before); status[me] = TURN; goto critical
		:: else
		fi;
waiting:
		if
		:: status[me] != WAITING
#if GIVE_UP
		:: me <= GIVE_UP && status[me] == WAITING ->
			cas(status[me], WAITING, ABANDONED, old);
			if :: old == WAITING -> goto away :: else fi
#endif
		fi;
critical:
		atomic { GETS_IN() };
		if :: me == P -> gotIn++ :: else fi;
		inside--;
		h = me;
		leave(h);
away:
		skip
	od;
	/* A PE that has given up for good may stand in the queue. Its node is dealt with when it is its turn. */
}

init {
	byte i;
	atomic {
		for (i : 1 .. P) { run pe(i) }
	}
	/* When all are through, the queue is empty and every node can be used again. */
	(_nr_pr == 1);
	assert(tail == NONE);
	for (i : 1 .. P) { assert(status[i] == IDLE && next[i] == NONE) }
}

/* PE P never gives up: it gets in as often as it wants. */
ltl live { <> (gotIn == ROUNDS) }
