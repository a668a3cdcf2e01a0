/*
 * Cuts in the memory of hosts (ckpt/internal/memory, ckpt/restore.go): HOSTS hosts with PER PEs each save until the
 * cut has version SAVES. FAILURES times a PE is killed or a host is lost, at any step, also while the job goes on from
 * the failure before. ERRORS times a copy cannot be made and the Save fails, such as for want of memory.
 *
 * Each PE has two processes: its program, and the goroutine that keeps a cut while the program goes on. A slot has a
 * mark and two halves of an image, and each of the three is written in a step of its own. The content of a half is the
 * number of the moment at which it was saved. An image is whole if its halves are of one moment. After a failure the
 * launcher kills what is left, one step later or many. Then it starts all PEs again. A lost host comes back with empty
 * memory, or a spare does.
 *
 * Restore takes the newest cut of which all images have a mark, or passes over some such cuts, as it does after two
 * vain starts from a cut. The name of a cut is its term and version. The number that tells jobs with the same term
 * apart is left out: terms have to be enough.
 *
 * With IN_PLACE it is a job with journals: Restore makes no copies, and takes the newest cut that a host knows to be
 * safe, or the newest of all if no host knows of any. The next Save takes the place of the cut before.
 *
 * Checked, by assertions:
 *  V1 after the first safe cut there is at every step a cut with a whole image of each PE, unless two hosts that keep
 *     images for each other are lost before Restore has made the copies anew;
 *  V2 what the PEs restore is whole and of one moment;
 *  V3 images with one name are of one moment;
 *  T5 this is so when Restore, too, is cut short by a failure.
 * No invalid end state: a job whose failures have stopped comes to its end.
 *
 * Planted bugs, by -D: NO_WAIT (a Save does not wait for the cut before), MARK_FIRST (the mark is there before the
 * image), KEEPS_MARK (the mark is not taken away first), NO_TERM (the name of a cut is its version alone), ONE_SLOT
 * (both cuts of a PE in one slot), ONE_COPY (a buddy has one slot for both cuts), SAME_HOST (the buddy is on the same
 * host), NO_MEND (Restore makes no copies), SAME_VERSION (the Save after a failed one takes the slot of the last good
 * cut), NO_AGREE (a PE believes that a cut is safe when it has its own copies), and with IN_PLACE
 * TAKES_UNSAFE (Restore takes the newest cut, safe or not).
 */

#ifndef HOSTS
#define HOSTS 2
#endif
#ifndef PER
#define PER 1
#endif
#ifndef SAVES
#define SAVES 3
#endif
#ifndef FAILURES
#define FAILURES 2
#endif
#ifndef ERRORS
#define ERRORS 0
#endif

#define P (HOSTS * PER)
#ifdef SAME_HOST
#define FAR 0
#else
#define FAR (HOSTS / 2 * PER)
#endif
#define BUDDY(pe) (((pe) + FAR) % P)
#define WARD(pe) (((pe) + P - FAR) % P)
#define HOST(pe) ((pe) / PER)

#ifdef NO_TERM
#define NAME(t, v) (v)
#else
#define NAME(t, v) ((t) * 8 + (v))
#endif
#define TERM(k) ((k) / 8)
#define VERSION(k) ((k) % 8)
#ifdef ONE_SLOT
#define OWN(pe, v) (2 * (pe))
#else
#define OWN(pe, v) (2 * (pe) + (v) % 2)
#endif
#if defined(ONE_SLOT) || defined(ONE_COPY)
#define COPY(pe, v) (2 * P + 2 * (pe))
#else
#define COPY(pe, v) (2 * P + 2 * (pe) + (v) % 2)
#endif

/* The slots with the images of each PE: the first 2 P in its own place, the others in that of its buddy. */
byte mark[4 * P];
byte lo[4 * P];
byte hi[4 * P];
#ifdef IN_PLACE
#define NO_MEND
bool safe[4 * P]; /* the host of a slot knows that the cut in it is safe */
#define FORGET(s) safe[s] = 0
#else
#define FORGET(s) skip
#endif
#define ISWHOLE(s) (mark[s] != 0 && lo[s] != 0 && lo[s] == hi[s])

bool up[P];        /* the PE runs */
byte running;      /* processes of PEs that run, or have not noticed yet that they were killed */
bool hurt = 0;     /* a PE of this term was killed */
bool over = 0;     /* the program has ended */
byte saving[P];    /* the cut that a goroutine keeps */
byte arrived[2];   /* PEs that have come to a barrier of the programs, and to one of the goroutines */
bool turn[2];      /* which changes when all have come */
byte seen[4 * P];  /* the marks that Find has gathered */

byte moment = 0;   /* the last one at which the job was saved */
byte term = 0;
byte chosen = 0;   /* the cut from which this term begins */
bool at[P];        /* 1: the image of a PE is taken from its buddy */
byte restored = 0; /* the moment that PEs have restored in this term */
bool failed = 0;   /* the last Save has returned an error */
byte failures = FAILURES;
byte errors = ERRORS;

/* What V1 claims. */
bool claims = 0;   /* a cut was safe */
bool lost[HOSTS];  /* hosts that were lost since Restore has last made copies */

byte i, j, k;      /* of atomic steps */
bool ok, all;

/* wholeCut says whether there is a cut with a whole image of each PE. */
inline wholeCut() {
	ok = 0;
	for (k : 0 .. 3) {
		i = (k < 2 -> k : 2 * P + k - 2); /* a slot with an image of PE 0 */
		if
		:: !ok && ISWHOLE(i) ->
			all = 1;
			for (j : 1 .. P - 1) {
				all = all && ((ISWHOLE(2 * j) && mark[2 * j] == mark[i]) ||
					(ISWHOLE(2 * j + 1) && mark[2 * j + 1] == mark[i]) ||
					(ISWHOLE(2 * P + 2 * j) && mark[2 * P + 2 * j] == mark[i]) ||
					(ISWHOLE(2 * P + 2 * j + 1) && mark[2 * P + 2 * j + 1] == mark[i]))
			}
			ok = all
		:: else
		fi
	}
	i = 0; j = 0; k = 0; all = 0
}
inline V1() {
	if
	:: claims -> wholeCut(); assert(ok); ok = 0
	:: else
	fi
}

inline wipe(s) { mark[s] = 0; lo[s] = 0; hi[s] = 0; FORGET(s) }

inline clear(s) {
#ifdef KEEPS_MARK
	skip
#else
	d_step { mark[s] = 0; FORGET(s); V1() }
#endif
}
inline set(s, name) {
	d_step {
		mark[s] = name;
		for (i : 0 .. 4 * P - 1) {
			assert(mark[i] != name || !ISWHOLE(i) || !ISWHOLE(s) || lo[i] == lo[s]) /* V3 */
		}
		i = 0
	}
}

/* arrive is a step of one PE towards a barrier. The last PE does what is between it and leave. */
#define ARRIVE(b) atomic { s = turn[b]; arrived[b]++; if :: arrived[b] == P -> arrived[b] = 0; turn[b] = !turn[b];
#define LEAVE(b) :: else fi }; (turn[b] != s)
#define BARRIER(b) ARRIVE(b) skip LEAVE(b)

/* copy copies an image of a cut from a PE that answers. */
inline copy(pe, from, to, name) {
	clear(to);
#ifdef MARK_FIRST
	set(to, name);
#endif
	d_step { up[pe] && mark[from] == name -> lo[to] = lo[from]; V1() };
	d_step { up[pe] && mark[from] == name -> hi[to] = hi[from]; V1() };
#ifndef MARK_FIRST
	set(to, name)
#endif
}

/* A cut is safe if a host with an image of it knows that. */
#ifdef TAKES_UNSAFE
#define ISSAFE(name) 0
#elif P == 2
#define ISSAFEOF(pe, name) (seen[OWN(pe, name)] == (name) && safe[OWN(pe, name)] || \
	seen[COPY(pe, name)] == (name) && safe[COPY(pe, name)])
#define ISSAFE(name) (ISSAFEOF(0, name) || ISSAFEOF(1, name))
#endif
#define PREFERRED(a, b) (b == 0 || ISSAFE(a) > ISSAFE(b) || ISSAFE(a) == ISSAFE(b) && a > b)

/*
 * choose takes a cut of which Find has gathered a mark of each image: the newest, or another one if that was passed
 * over.
 */
inline choose() {
	chosen = 0; term = 1;
	for (i : 0 .. 4 * P - 1) {
		if :: seen[i] != 0 && TERM(seen[i]) >= term -> term = TERM(seen[i]) + 1 :: else fi
	}
	for (k : 0 .. 3) {
		j = (k < 2 -> seen[k] : seen[2 * P + k - 2]); /* a cut that has an image of PE 0 */
		ok = (j != 0);
		for (i : 0 .. P - 1) {
			ok = ok && (seen[OWN(i, j)] == j || seen[COPY(i, j)] == j)
		}
		if
		:: !ok
#ifdef IN_PLACE
		:: ok && PREFERRED(j, chosen) -> chosen = j
		:: ok && !PREFERRED(j, chosen)
#else
		:: ok && chosen != 0
		:: ok -> chosen = j
#endif
		fi
	}
	for (i : 0 .. P - 1) { at[i] = (chosen != 0 && seen[OWN(i, chosen)] != chosen) }
	for (i : 0 .. 4 * P - 1) { seen[i] = 0 }
	i = 0; j = 0; k = 0; ok = 0;
	if
	:: chosen == 0 -> assert(!claims); mended() /* V1 */
	:: else
	fi
}

/* mended notes that the copies are made anew, unless a host was lost meanwhile. */
inline mended() {
	all = 1;
	for (i : 0 .. P - 1) { all = all && up[i] }
	for (i : 0 .. HOSTS - 1) { lost[i] = lost[i] && !all }
	i = 0; all = 0
}

proctype program(byte me) {
	byte v = 0, s = 0;
	do
	:: over -> break
	:: atomic { up[me] && !over -> running++ };
		{
			/* Restore: Find */
			d_step {
				seen[2 * me] = mark[2 * me];
				seen[2 * me + 1] = mark[2 * me + 1];
				seen[2 * P + 2 * WARD(me)] = mark[2 * P + 2 * WARD(me)];
				seen[2 * P + 2 * WARD(me) + 1] = mark[2 * P + 2 * WARD(me) + 1]
			};
			ARRIVE(0) choose() LEAVE(0);
			v = VERSION(chosen);
			if
			:: chosen == 0
			:: else ->
#ifndef NO_MEND
				if
				:: at[me] && mark[OWN(me, v)] != chosen -> copy(BUDDY(me), COPY(me, v), OWN(me, v), chosen)
				:: else
				fi;
				BARRIER(0);
				if
				:: !at[WARD(me)] && mark[COPY(WARD(me), v)] != chosen -> copy(WARD(me), OWN(WARD(me), v), COPY(WARD(me), v), chosen)
				:: else
				fi;
#endif
#ifdef IN_PLACE
				BARRIER(0);
#else
				ARRIVE(0) claims = 1; mended() LEAVE(0);
#endif
#ifdef NO_MEND
				s = (at[me] -> COPY(me, v) : OWN(me, v));
#else
				s = OWN(me, v);
#endif
				/* V2 */
				d_step {
#ifdef NO_MEND
					!at[me] || up[BUDDY(me)]; /* which answers */
#endif
					assert(mark[s] == chosen && lo[s] == hi[s] && lo[s] != 0 && (restored == 0 || restored == lo[s]));
					restored = lo[s]
				};
				BARRIER(0)
			fi;
			do
			:: v >= SAVES -> break
			:: else ->
				/* Save */
				ARRIVE(0) moment++ LEAVE(0);
#ifndef NO_WAIT
				(saving[me] == 0);
#ifndef SAME_VERSION
				if :: failed -> v++ :: else fi;
#endif
#endif
				v++;
				clear(OWN(me, v));
#ifdef MARK_FIRST
				set(OWN(me, v), NAME(term, v));
#endif
				d_step { lo[OWN(me, v)] = moment; V1() };
				d_step { hi[OWN(me, v)] = moment; V1() };
				ARRIVE(0) failed = 0 LEAVE(0);
				(saving[me] == 0);
				saving[me] = NAME(term, v)
			od;
			(saving[me] == 0);
			ARRIVE(0) over = 1 LEAVE(0)
		} unless { !up[me] };
		atomic { v = 0; s = 0; running-- }
	od
}

inline isSafe() {
	if
#ifdef IN_PLACE
	:: !failed -> claims = 1; V1()
#else
	:: !failed -> claims = 1; mended(); V1()
#endif
	:: else
	fi
}

proctype keeper(byte me) {
	byte v = 0, s = 0;
	do
	:: over -> break
	:: atomic { up[me] && saving[me] != 0 && !over -> running++; v = VERSION(saving[me]) };
		{
#ifndef MARK_FIRST
			set(OWN(me, v), saving[me]);
#endif
			BARRIER(1);
			if
			:: copy(WARD(me), OWN(WARD(me), v), COPY(WARD(me), v), saving[me])
			:: atomic { errors > 0 -> errors--; failed = 1 };
				clear(COPY(WARD(me), v))
			fi;
#ifdef NO_AGREE
			isSafe();
#else
			ARRIVE(1) isSafe() LEAVE(1);
#endif
#ifdef IN_PLACE
			d_step {
				safe[OWN(me, v)] = 1; safe[COPY(WARD(me), v)] = 1;
				mended() /* a host that is lost now is lost after this */
			};
#endif
			saving[me] = 0
		} unless { !up[me] };
		atomic { v = 0; s = 0; running-- }
	od
}

/* launcher starts all PEs of the next term when those of the last one are gone. */
proctype launcher() {
	do
	:: over -> break
	:: atomic { hurt && !over -> for (i : 0 .. P - 1) { up[i] = 0 } i = 0 };
		atomic {
			running == 0 ->
			for (i : 0 .. P - 1) { up[i] = 1; saving[i] = 0; at[i] = 0 }
			i = 0; hurt = 0; failed = 0; restored = 0; chosen = 0; term = 0;
			arrived[0] = 0; arrived[1] = 0; turn[0] = 0; turn[1] = 0
		}
	od
}

inline loseHost(h) {
	for (i : 0 .. P - 1) {
		if
		:: HOST(i) == h -> hurt = hurt || up[i]; up[i] = 0; wipe(OWN(i, 0)); wipe(OWN(i, 1))
		:: else
		fi;
		if
		:: HOST(BUDDY(i)) == h -> wipe(COPY(i, 0)); wipe(COPY(i, 1))
		:: else
		fi
	}
	i = 0;
	if
	:: lost[(h + HOSTS / 2) % HOSTS] || lost[(h + HOSTS - HOSTS / 2) % HOSTS] -> claims = 0
	:: else
	fi;
	lost[h] = 1;
	V1()
}

proctype nature() {
	byte x = 0;
	do
	:: over -> break
	:: atomic {
			failures > 0 && !over ->
			failures--;
			x = 0;
			do :: x < P - 1 -> x++ :: break od;
			if
			:: up[x] -> up[x] = 0; hurt = 1
			:: x < HOSTS -> loseHost(x)
			fi;
			x = 0
		}
	od
}

init {
	atomic {
		for (i : 0 .. P - 1) { up[i] = 1; run program(i); run keeper(i) }
		i = 0;
		run launcher(); run nature()
	}
}
