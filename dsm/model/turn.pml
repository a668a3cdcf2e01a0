/*
 * Turns at changing a block (dsm/internal/protocol/turn.go). N PEs, from 0, release B blocks ROUNDS times each, in
 * every release any blocks that are not none. lk and grant are the words lock and grant of the code; each step is one
 * operation on them, and the operations of one message round are in any order.
 *
 * newest and holder are not in the code: which PE has the newest version of a block, and which PE changes it now.
 *
 * Checked: one PE at a time changes a block, and it knows which PE has the newest version; the word of a PE that has
 * never asked for a turn says nothing; all PEs get through (no invalid end state, and with weak fairness ltl through);
 * at the end no turn is lost: the PE with the newest version has it, and no other.
 *
 * Planted bugs, by -D: WAITS_FOR_FIRST (waits for one turn while another has come), HOLDS_TURNS (changes nothing before
 * all turns have come), KEEPS_GRANT (does not reset the grant of its last turn), RESETS_LATE (resets it after it has
 * asked), NOT_ASKED (takes the word of a PE that has never asked for one that says something), GIVES_BLINDLY (looks at
 * its word and then writes it), LOCKS_LATE (its word says that it waits only after it has asked), ASKS_FIRST_HOME (does
 * not follow the link of its own word), FORGETS_GRANTER (takes itself for the PE with the newest version).
 */

#ifndef N
#define N 3
#endif
#ifndef B
#define B 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#define UNLOCKED 0
#define LOCKED 1
#define LINK 2 /* + the PE */
#define NOBODY 99

/* What a release knows of a turn. */
#define NONE 0
#define WANTED 1
#define QUEUED 2
#define GOT 3

#define AT(p, b) ((p) * B + (b))
#define FIRST(b) ((b) % N)

byte lk[N * B], grant[N * B];
bool asked[N * B];
byte newest[B], holder[B];
byte through = 0;

/* begin takes block b's turn if it is this PE's, and enters the queue otherwise. */
inline begin(b) {
	own = asked[AT(me, b)] || FIRST(b) == me;
#ifdef NOT_ASKED
	own = true;
#endif
	if
	:: own ->
		atomic {
			old = lk[AT(me, b)];
			if
			:: old == UNLOCKED -> lk[AT(me, b)] = LOCKED; st[b] = GOT; prev[b] = me
			:: else
			fi
		}
	:: else -> assert(lk[AT(me, b)] == UNLOCKED)
	fi;
	if
	:: st[b] == GOT
	:: else ->
#if !defined(KEEPS_GRANT) && !defined(RESETS_LATE)
		grant[AT(me, b)] = 0;
#endif
		atomic {
			old = lk[AT(me, b)];
#ifndef LOCKS_LATE
			lk[AT(me, b)] = LOCKED;
#endif
			if
			:: own -> assert(old >= LINK); prev[b] = old - LINK
			:: else -> prev[b] = FIRST(b)
			fi;
#ifdef ASKS_FIRST_HOME
			if :: FIRST(b) != me -> prev[b] = FIRST(b) :: else fi;
#endif
			asked[AT(me, b)] = true;
			st[b] = WANTED;
			want[b] = UNLOCKED
		}
	fi
}

/* ask asks the PE that the link leads to. */
inline ask(b) {
	atomic {
		old = lk[AT(prev[b], b)];
		if
		:: old == want[b] ->
			lk[AT(prev[b], b)] = LINK + me;
			st[b] = (old == UNLOCKED -> GOT : QUEUED);
#ifdef WAITS_FOR_FIRST
			if :: st[b] == QUEUED && st[B - 1 - b] != QUEUED -> earlier = b :: else fi
#endif
		:: old != want[b] && old >= LINK -> prev[b] = old - LINK; want[b] = UNLOCKED
		:: else -> want[b] = old
		fi
	};
#ifdef RESETS_LATE
	if :: st[b] != WANTED -> grant[AT(me, b)] = 0 :: else fi;
#endif
#ifdef LOCKS_LATE
	if :: st[b] != WANTED -> lk[AT(me, b)] = LOCKED :: else fi;
#endif
}

/* granted looks whether a turn has come. */
inline granted(b) {
	atomic {
		if
		:: st[b] == QUEUED && grant[AT(me, b)] != 0 ->
			assert(grant[AT(me, b)] - 1 == prev[b]); /* the turn comes from the PE that has been asked */
			prev[b] = grant[AT(me, b)] - 1;
			st[b] = GOT
		:: else
		fi
	}
}

/* change makes new versions of the blocks whose turns have come, and gives the turns away. */
inline change() {
	d_step {
		i = 0;
		do
		:: i < B ->
			if
			:: st[i] == GOT ->
				assert(holder[i] == NOBODY);
#ifdef FORGETS_GRANTER
				prev[i] = me;
#endif
				assert(newest[i] == prev[i]);
				holder[i] = me
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0
	};
	do
	:: i < B ->
		if
		:: st[i] == GOT ->
#ifdef GIVES_BLINDLY
			atomic { newest[i] = me; holder[i] = NOBODY };
			old = lk[AT(me, i)];
			if :: old == LOCKED -> lk[AT(me, i)] = UNLOCKED :: else fi;
#else
			atomic {
				newest[i] = me;
				holder[i] = NOBODY;
				old = lk[AT(me, i)];
				if :: old == LOCKED -> lk[AT(me, i)] = UNLOCKED :: else fi
			};
#endif
			if
			:: old != LOCKED -> assert(old >= LINK); grant[AT(old - LINK, i)] = me + 1
			:: else
			fi;
			st[i] = NONE
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0
}

#if B == 1
#define ANY(s) (st[0] == s)
#define COME(b) (st[b] == QUEUED && grant[AT(me, b)] != 0)
#define ANY_COME COME(0)
#else
#define ANY(s) (st[0] == s || st[1] == s)
#define COME(b) (st[b] == QUEUED && grant[AT(me, b)] != 0)
#ifdef WAITS_FOR_FIRST
#define ANY_COME ((COME(0) && (st[1] != QUEUED || earlier == 0)) || (COME(1) && (st[0] != QUEUED || earlier == 1)))
#else
#define ANY_COME (COME(0) || COME(1))
#endif
#endif

#ifdef HOLDS_TURNS
#define CHANGE_WHAT_CAME if :: !ANY(WANTED) && !ANY(QUEUED) -> change() :: else fi
#else
#define CHANGE_WHAT_CAME change()
#endif

proctype pe(byte me) {
	byte st[B], prev[B], want[B];
	byte old = 0, i = 0, round = 0;
#ifdef WAITS_FOR_FIRST
	byte earlier = 0; /* the block for which this PE has entered a queue first */
#endif
	bool own = false;
	do
	:: round < ROUNDS ->
		round++;
#if B == 1
		begin(0);
#else
		if
		:: begin(0); begin(1)
		:: begin(0)
		:: begin(1)
		fi;
#endif
		CHANGE_WHAT_CAME;
		do
		:: ANY(WANTED) ->
			do /* one round of messages, in any order */
			:: st[0] == WANTED && !(i & 1) -> ask(0); i = i | 1
#if B > 1
			:: st[1] == WANTED && !(i & 2) -> ask(1); i = i | 2
			:: (st[0] != WANTED || i & 1) && (st[1] != WANTED || i & 2) -> break
#else
			:: st[0] != WANTED || i & 1 -> break
#endif
			od;
			i = 0;
			granted(0);
#if B > 1
			granted(1);
#endif
			CHANGE_WHAT_CAME
		:: !ANY(WANTED) && ANY_COME ->
			granted(0);
#if B > 1
			granted(1);
#endif
			CHANGE_WHAT_CAME
		:: !ANY(WANTED) && !ANY(QUEUED) -> break
		od
	:: else -> break
	od;
	through++
}

init {
	byte i = 0, b = 0;
	atomic {
		do
		:: b < B -> newest[b] = FIRST(b); holder[b] = NOBODY; b++
		:: else -> break
		od;
		do
		:: i < N -> run pe(i); i++
		:: else -> break
		od
	};
	through == N;
	/* The turn is where the newest version is, and no other PE's word says that it has it. */
	i = 0;
	do
	:: i < N ->
		b = 0;
		do
		:: b < B ->
			assert(lk[AT(i, b)] != LOCKED);
			assert((newest[b] == i) == (lk[AT(i, b)] == UNLOCKED && (asked[AT(i, b)] || FIRST(b) == i)));
			b++
		:: else -> break
		od;
		i++
	:: else -> break
	od
}

ltl through { <> (through == N) }
