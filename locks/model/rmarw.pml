/*
 * RMA-RW (rmarw.go): the distributed tree, and the distributed counter (rmarw_counter.go) above it.
 *
 * R readers, each of the counter (reader mod C). A PE here either reads or writes. GIVE_UP writers and
 * GIVE_UP_R readers may give up. A counter's word is updated in one step, as the one word that it is.
 *
 * Checked: no writer is inside with anybody; nobody is stuck (no invalid end state); when all are through,
 * the counters are open, nobody is counted or waits, every queue is empty and every node idle; no reader
 * waits for more than TW writers; at most TR readers of a counter enter while a writer wants it; a counter has
 * never more tickets than TR and one for each reader, wherever they start (TICKETS); and, with weak fairness, a
 * writer and a reader that do not give up get in as often as they want (ltl live).
 *
 * Planted bugs, by -D: NO_CHECK (a writer does not look for readers, Listing 6), LOST_BIT (a reader does not
 * look again after setting its bit), ADMIT_FIRST (the bits are taken before the mode is taken off),
 * NO_ADMIT (readers are let go on, not in: they can be overtaken by more than TW writers), HAND_OVER_BLIND
 * (the last reader to leave hands over without looking whether another has come), OWN_NODE_ABOVE,
 * TW_AT_ROOT_ONLY (Listing 8: only passings at level 1 count), CANCELS_QUIETLY (a writer that gives up lets in
 * nobody), ONE_MORE (than TR), COUNTS_ALWAYS (readers take tickets of an open counter too, so that they grow with
 * every use), TICKET_BLIND (enters with any ticket).
 */

#ifndef R
#define R 2
#endif
#ifndef C
#define C 1
#endif
#ifndef TR
#define TR 1
#endif
#ifndef RROUNDS
#define RROUNDS 1
#endif
#ifndef GIVE_UP_R
#define GIVE_UP_R 0
#endif

#ifdef TW_AT_ROOT_ONLY
#define MAY_PASS(l, c, t) ((l) == 0 && (c) < TW || (l) != 0 && (c) < TL)
#else
#define MAY_PASS(l, c, t) (((l) == 0 || (c) < TL) && (t) < TW)
#endif

#ifndef TICKETS
#define TICKETS 0
#endif
#ifdef ONE_MORE
#define ENOUGH (TR + 1)
#else
#define ENOUGH TR
#endif
#define BOUND_TICKETS (TICKETS > TR -> TICKETS + R : TR + R)

#define OPEN 0
#define WANTED 1
#define TAKEN 2

byte inC[C];       /* the counter's word: readers, */
byte tickets[C] = TICKETS; /* of readers that entered while it was wanted, */
byte mode[C];      /* and the mode */
bool waits[R];
bool wake[R];
byte wanter = 0; /* the writer that wants the counters */
byte gained[P + 1];

byte overtakers[R]; /* writers that have entered since this reader has waited */
byte late[C];       /* readers that have entered since the counter was wanted */
byte hasRead = 0;   /* how often reader R-1 was inside */

#define WROTE \
	s = 0; do :: s == R -> break :: else -> if :: waits[s] -> overtakers[s]++; assert(overtakers[s] <= TW) :: else fi; s++ od; s = 0

/* unread takes a reader off the counter x. */
inline unread(x) {
	last = 0;
	atomic {
		inC[x]--;
		if :: inC[x] == 0 && mode[x] == WANTED -> last = 1; was = tickets[x] :: else fi
	}
	if
	:: last ->
		atomic {
#ifdef HAND_OVER_BLIND
			if
			:: mode[x] == WANTED -> mode[x] = TAKEN; tickets[x] = 0; inC[x] = 0
#else
			if
			:: inC[x] == 0 && tickets[x] == was && mode[x] == WANTED -> mode[x] = TAKEN; tickets[x] = 0
#endif
			:: else -> last = 0
			fi
		}
		if :: last -> was = wanter; gained[was]++ :: else fi
	:: else
	fi
}

/* claim takes all counters. missing > 0: it has given up, and has none. */
#define CLAIM \
	wanter = me; missing = 0; i = 0; \
	do \
	:: i == C -> break \
	:: else -> \
		atomic { mode[i] = WANTED; late[i] = 0; a = inC[i]; s = tickets[i] } \
		CHECKED \
		i++ \
	od; \
	if \
	:: missing == 0 || gained[me] == missing -> gained[me] = 0; missing = 0 \
	CLAIM_OR_NOT \
	fi

#ifdef NO_CHECK
#define CHECKED atomic { mode[i] = TAKEN };
#else
#define CHECKED \
	if \
	:: a == 0 -> \
		atomic { if :: inC[i] == 0 && tickets[i] == s && mode[i] == WANTED -> mode[i] = TAKEN; tickets[i] = 0 :: else -> missing++; lacks[i] = 1 fi } \
	:: else -> missing++; lacks[i] = 1 \
	fi;
#endif

#if GIVE_UP
#define CLAIM_OR_NOT :: me <= GIVE_UP && missing > 0 && gained[me] != missing -> cancel()
#else
#define CLAIM_OR_NOT
#endif

/* cancel gives all counters back. */
inline cancel() {
	handed = 0;
	i = 0;
	do
	:: i == C -> break
	:: else ->
		if
		:: lacks[i] ->
			atomic {
				if :: mode[i] == TAKEN -> handed++ :: else -> tickets[i] = 0 fi;
				mode[i] = OPEN
			}
		:: else
		fi;
		i++
	od;
	(gained[me] == handed);
	gained[me] = 0;
	i = 0;
	do
	:: i == C -> break
	:: else ->
		if :: !lacks[i] -> mode[i] = OPEN :: else fi;
		i++
	od;
#ifdef CANCELS_QUIETLY
	i = 0;
	do
	:: i == C -> break
	:: else -> lacks[i] = 0; i++
	od
#else
	admit()
#endif
}

inline takeBits() {
	d_step {
		n = 0;
		do
		:: n == R -> break
		:: else -> if :: n % C == i && waits[n] -> waits[n] = 0; let[n] = 1 :: else fi; n++
		od;
		n = 0
	}
}

/* admit lets in who waits at the counters, which are open. */
inline admit() {
	i = 0;
	do
	:: i == C -> break
	:: else ->
		lacks[i] = 0;
#ifndef ADMIT_FIRST
		takeBits();
#endif
		d_step {
			n = 0;
			do
			:: n == R -> break
			:: else ->
#ifndef NO_ADMIT
				if :: n % C == i && let[n] -> inC[i]++ :: else fi;
#endif
				n++
			od
		}
		n = 0;
		do
		:: n == R -> break
		:: else -> if :: n % C == i && let[n] -> let[n] = 0; wake[n] = 1 :: else fi; n++
		od;
		i++
	od
}

#ifdef ADMIT_FIRST
#define YIELD \
	i = 0; do :: i == C -> break :: else -> takeBits(); i++ od; \
	i = 0; do :: i == C -> break :: else -> mode[i] = OPEN; i++ od; \
	admit()
#else
#define YIELD \
	i = 0; do :: i == C -> break :: else -> mode[i] = OPEN; i++ od; \
	admit()
#endif

/* Of each writer. */
#define LOCALS bool lacks[C]; bool let[R];

#include "tree.pmh"

proctype reader(byte me) {
	byte round = 0, x = me % C;
	short was = 0;
	bool last = 0, inside = 0, ask = 0, again = 0;
	do
	:: round == RROUNDS -> break
	:: else ->
		round++;
		overtakers[me] = 0;
		again = 0;
		do
		:: true ->
			atomic {
				inside = (mode[x] == OPEN || (mode[x] == WANTED && tickets[x] < ENOUGH));
#ifdef COUNTS_ALWAYS
				ask = inside;
#else
				ask = (inside && mode[x] == WANTED);
#endif
				inC[x]++
			}
			if
			:: ask ->
				atomic {
					assert(mode[x] != TAKEN);
#ifndef TICKET_BLIND
					inside = (mode[x] == OPEN || tickets[x] < ENOUGH);
#endif
					if :: inside && mode[x] == WANTED -> late[x]++; assert(late[x] <= TR) :: else fi;
					tickets[x]++;
					assert(tickets[x] <= BOUND_TICKETS);
					ask = 0
				}
			:: else
			fi;
			if
			:: !inside -> unread(x)
			:: else
			fi;
			if
			:: inside && !again -> break
			:: inside && again ->
				atomic { was = waits[me]; waits[me] = 0 }
				if
				:: was
				:: else -> (wake[me]); wake[me] = 0; unread(x)
				fi;
				break
			:: !inside && !again ->
				waits[me] = 1;
				again = 1;
#ifndef LOST_BIT
				if
				:: (mode[x] == OPEN || (mode[x] == WANTED && tickets[x] < ENOUGH)) -> goto oncemore
				:: else
				fi
#endif
			:: else
			fi;
			if
			:: wake[me] -> wake[me] = 0
#if GIVE_UP_R
			:: me < GIVE_UP_R && !wake[me] ->
				atomic { was = waits[me]; waits[me] = 0 }
				if :: was -> goto away :: else fi;
				(wake[me]);
				wake[me] = 0
#endif
			fi;
#ifdef NO_ADMIT
			again = 0;
#else
			break;
#endif
oncemore:
			skip
		od;
		atomic { readers++; assert(writers == 0) };
		if :: me == R - 1 -> hasRead++ :: else fi;
		readers--;
		unread(x);
away:
		skip
	od;
	through++
}

init {
	byte k = 0;
	atomic {
		k = 1;
		do
		:: k > P -> break
		:: else -> run writer(k); k++
		od;
		k = 0;
		do
		:: k == R -> break
		:: else -> run reader(k); k++
		od
	}
	(through == P + R);
	allIdle();
	k = 0;
	do
	:: k == C -> break
	:: else -> assert(mode[k] == OPEN && inC[k] == 0); k++
	od;
	k = 0;
	do
	:: k == R -> break
	:: else -> assert(!waits[k] && !wake[k]); k++
	od
}

ltl live { <> (gotIn == ROUNDS && hasRead == RROUNDS) }
