/*
 * ALock (alock.go): two queues as in dmcs.pml, and Peterson's game between their heads.
 *
 * PEs 1 to LOCALS are the local cohort, the others the remote one. BL and BR are the cohorts' budgets. PEs
 * of the set GIVERS (bits) may give up whenever they wait.
 *
 * With SPLIT, an update of the network is to a CPU a read and a later write; the NIC keeps other updates of
 * its own away from the word meanwhile. Without, all updates are atomic to each other.
 *
 * The properties of the paper's appendix, and where they are:
 *
 *   MutualExclusion                     assert at the critical section
 *   StarvationFree                      ltl starvation, of PE WHO
 *   DeadAndLivelockFree                 no invalid end state; ltl livelock
 *   ExecsCriticalSectionInfinitelyOften ltl often, of PE WHO, with OFTEN: PEs always come back. Without
 *                                       that it does not hold, neither here nor in the appendix, where a
 *                                       process may stay outside for ever
 *   CohortFairness                      assert with tickets: a cohort's PEs get in as they came
 *   GlobalFairness                      assert with overtaken: once the head of a cohort has written
 *                                       victim, the other cohort gets in as often as its budget says
 *
 * The appendix states the last two as "if i waits and j is about to enter now, then ...", with nothing that
 * says at what time: that is about the first state, where nobody waits, and so always true. The asserts say
 * what the text means.
 *
 * And, with ROUNDS: when all are through, both queues are empty and every node is idle.
 *
 * ROUNDS 0 is for ever, for the ltl. They want weak fairness, and no SPLIT: a NIC is fair in a way that
 * weak fairness does not know of.
 *
 * Planted bugs, by -D: WAITS_FOR_BOTH (Algorithm 4 as printed), NEVER_YIELDS, LOOKS_FIRST (before it has
 * joined its queue), SPENDS_0 (passes on without counting), LEAVES_QUIETLY (gives up against the other
 * cohort without a word to the next), ONE_QUEUE (with SPLIT: both cohorts update one tail), VICTIM_FIRST
 * (writes victim before it has joined its queue), BEGINS_ANEW (a head that gives up tells the next one to compete),
 * YIELDS_AGAIN (a head that is told to contend writes victim again).
 */

#ifndef P
#define P 3
#endif
#ifndef LOCALS
#define LOCALS 1
#endif
#ifndef BL
#define BL 1
#endif
#ifndef BR
#define BR 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef GIVERS
#define GIVERS 0
#endif
#ifndef WHO
#define WHO 1
#endif

#define NONE 0
#define IDLE 0
#define WAITING 1
#define ABANDONED 2
#define SPENT 3
#define COMPETE 4
#define CONTEND 5
#define PASSED 6 /* + the budget that is left */
#define LEFT 100 /* in next: + the word for whoever comes */

#define COHORT(x) ((x) <= LOCALS -> 0 : 1)
#define BUDGET(c) ((c) == 0 -> BL : BR)
#define GIVES(x) ((GIVERS >> (x)) & 1)
#ifdef SPLIT
#define BY_NIC (c == 1)
#else
#define BY_NIC false
#endif
#ifdef ONE_QUEUE
#define TAIL 0
#else
#define TAIL c
#endif

byte tail[2] = NONE;
byte victim = 2;      /* of neither */
byte next[P + 1];     /* by PE, from 1 */
byte status[P + 1];
bool busyTail[2];     /* a NIC is between reading and writing */
bool busyVictim;
bool busyNext[P + 1];
bool busyStatus[P + 1];

byte inside = 0;
bool waits[2];        /* the cohort's head has written victim and waits */
byte overtaken[2];    /* how often the other one got in since */
byte through = 0;
#if ROUNDS
byte tickets[2];      /* the last drawn in each cohort */
byte served[2];       /* the last that got in */
#else
bool wants = false, isIn = false;
byte wanting = 0;
#endif

inline swap(AT, BUSY, TO, WAS) {
	if
	:: atomic { !BY_NIC -> WAS = AT; AT = TO }
	:: atomic { BY_NIC && !BUSY -> BUSY = true; WAS = AT };
		atomic { AT = TO; BUSY = false }
	fi
}

inline cas(AT, BUSY, FROM, TO, WAS) {
	if
	:: atomic { !BY_NIC -> WAS = AT; if :: WAS == FROM -> AT = TO :: else fi }
	:: atomic { BY_NIC && !BUSY -> BUSY = true; WAS = AT };
		atomic { if :: WAS == FROM -> AT = TO :: else fi; BUSY = false }
	fi
}

/* A game begins when a head writes victim, and not anew when another one goes on with it. */
#define BEGINS if :: !waits[c] -> waits[c] = true; overtaken[c] = 0 :: else fi

/* yield writes victim. A NIC that finds what it would write may write nothing. */
inline yield() {
#ifdef NEVER_YIELDS
	skip
#else
	if
	:: atomic { !BY_NIC -> victim = c; BEGINS }
	:: atomic { BY_NIC && !busyVictim -> busyVictim = true; old = victim };
		atomic {
			if :: true -> victim = c :: old == c -> skip fi;
			busyVictim = false; BEGINS
		}
	fi
#endif
}

inline endQueue() {
	if
	:: atomic { !BY_NIC -> old = tail[TAIL]; if :: old == h -> tail[TAIL] = NONE; waits[c] = false :: else fi }
	:: atomic { BY_NIC && !busyTail[TAIL] -> busyTail[TAIL] = true; old = tail[TAIL] };
		atomic { if :: old == h -> tail[TAIL] = NONE; waits[c] = false :: else fi; busyTail[TAIL] = false }
	fi
}

inline free(x) {
	next[x] = NONE;
	status[x] = IDLE
}

/* leave tells WORD to the first of the cohort who waits, or to whoever comes, or ends the queue. */
inline leave(WORD) {
	h = me;
	do
	:: true ->
		told = false;
		do
		:: next[h] == NONE || next[h] >= LEFT -> break
		:: else ->
			n = h;
			h = next[h];
			do
			:: true ->
				cas(status[h], busyStatus[h], WAITING, WORD, old);
				if :: old == WAITING -> told = true; break :: else fi;
				cas(status[h], busyStatus[h], ABANDONED, SPENT, old);
				if :: old == ABANDONED -> break :: else fi
			od;
			free(n);
			if :: told -> break :: else fi
		od;
		if :: told -> break :: else fi;
		endQueue();
		if :: old == h -> free(h); break :: else fi;
		status[h] = SPENT;
		cas(next[h], busyNext[h], NONE, LEFT + WORD, old);
		if :: old == NONE -> break :: else fi
	od;
	h = 0; n = 0; old = 0; told = false
}

proctype pe(byte me) {
	byte round = 0, before = 0, old = 0, h = 0, n = 0, word = 0, left = 0, ticket = 0;
	byte c = COHORT(me);
	bool told = false, alone = false;
	do
#if ROUNDS
	:: round == ROUNDS -> break
	:: round < ROUNDS -> round++;
#else
#ifndef OFTEN
	:: true -> break /* stays outside */
#endif
	:: true -> atomic { wanting++; if :: me == WHO -> wants = true :: else fi };
#endif
#ifdef LOOKS_FIRST
		alone = (tail[1 - c] == NONE);
#endif
#ifdef VICTIM_FIRST
		victim = c;
#endif
		if
		:: status[me] == ABANDONED ->
			cas(status[me], busyStatus[me], ABANDONED, WAITING, old);
			if :: old == ABANDONED -> goto waiting :: else fi
		:: else
		fi;
		(status[me] == IDLE);
#if ROUNDS
		if
		:: atomic { !BY_NIC -> before = tail[TAIL]; tail[TAIL] = me; tickets[c]++; ticket = tickets[c] }
		:: atomic { BY_NIC && !busyTail[TAIL] -> busyTail[TAIL] = true; before = tail[TAIL]; tickets[c]++; ticket = tickets[c] };
			atomic { tail[TAIL] = me; busyTail[TAIL] = false }
		fi;
#else
		swap(tail[TAIL], busyTail[TAIL], me, before);
#endif
		word = 0;
		if :: before == NONE -> goto head :: else fi;
		status[me] = WAITING;
		swap(next[before], busyNext[before], me, old);
		if
		:: old >= LEFT -> word = old - LEFT; free(before); status[me] = word; goto head
		:: else
		fi;
waiting:
		if
		:: status[me] != WAITING
		:: GIVES(me) && status[me] == WAITING ->
			cas(status[me], busyStatus[me], WAITING, ABANDONED, old);
			if :: old == WAITING -> goto away :: else fi
		fi;
		word = status[me];
head:
		atomic { before = 0; old = 0 };
		if
		:: word >= PASSED -> left = word - PASSED; goto critical
		:: else -> left = BUDGET(c)
		fi;
#ifndef WAITS_FOR_BOTH
		if
		:: tail[1 - c] == NONE || alone ->
			if :: word != 0 -> status[me] = PASSED + left :: else fi;
			goto critical
		:: else
		fi;
#endif
		status[me] = CONTEND;
#ifndef VICTIM_FIRST
#ifdef YIELDS_AGAIN
		yield();
#else
		if :: word != CONTEND -> yield() :: else fi;
#endif
#endif
		do
#ifdef WAITS_FOR_BOTH
		:: tail[1 - c] == NONE && victim != c -> break
		:: else
#else
		:: tail[1 - c] == NONE -> break
		:: else -> if :: victim != c -> break :: else fi
#endif
		:: GIVES(me) ->
#ifdef LEAVES_QUIETLY
			h = me;
			endQueue();
			status[me] = IDLE;
#elif defined(BEGINS_ANEW)
			leave(COMPETE);
#else
			leave(CONTEND);
#endif
			goto away
		od;
		status[me] = PASSED + left;
critical:
		atomic {
			inside++;
			assert(inside == 1);
			waits[c] = false;
			if
			:: waits[1 - c] -> overtaken[1 - c]++; assert(overtaken[1 - c] <= BUDGET(c))
			:: else
			fi;
#if ROUNDS
			assert(ticket > served[c]);
			served[c] = ticket
#else
			wanting--;
			if :: me == WHO -> isIn = true; wants = false :: else fi
#endif
		};
		atomic {
			inside--;
#if !ROUNDS
			if :: me == WHO -> isIn = false :: else fi;
#endif
#ifdef SPENDS_0
			word = PASSED + left
#else
			word = (left > 1 -> PASSED + left - 1 : COMPETE)
#endif
		};
		leave(word);
		goto out;
away:
#if ROUNDS
		skip;
#else
		atomic { wanting--; if :: me == WHO -> wants = false :: else fi };
#endif
out:
		atomic { word = 0; left = 0; before = 0; old = 0; alone = false }
	od;
	through++
}

init {
	byte i = 1;
	atomic {
		do
		:: i > P -> break
		:: else -> run pe(i); i++
		od
	};
	(through == P);
	atomic {
		assert(tail[0] == NONE && tail[1] == NONE);
		i = 1;
		do
		:: i > P -> break
		:: else -> assert(status[i] == IDLE && next[i] == NONE); i++
		od
	}
}

#if !ROUNDS
ltl starvation { [] (wants -> <> (isIn || !wants)) }
ltl livelock { [] (wanting > 0 -> <> (inside > 0 || wanting == 0)) }
ltl often { [] <> isIn }
#endif
