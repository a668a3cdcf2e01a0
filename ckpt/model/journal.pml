/*
 * Journals (ckpt/journal.go, ckpt/internal/memory/journal.go, internal/cuts/vault/journal.go): a PE on one host, and
 * its buddy on another. The PE does up to UPDATES updates, appends each to its journal, calls Sync at will, and saves
 * until the cut has version SAVES. FAILURES times a process is killed or a host is lost, at any step.
 *
 * An image is how many updates it has. It is written in one step, since vault.pml has the steps of that. The PE has two
 * processes, as there: its program, and the goroutine that keeps a cut. A record has the number of its update and the
 * tag of its journal, which is the name of a cut. Records that Sync brings come to the heap of the buddy in any order.
 *
 * A failure ends the term. What other processes do until they are killed is left out: their steps could as well have
 * come before the failure. The agent of a host that was not lost moves journals from the heap to the memory of the
 * host. Each journal ends before the first record that is not there or has another tag. Then the next term begins.
 * A lost host comes back with empty memory, or a spare does. If the other one is lost before a cut is safe again, the
 * job ends with an error.
 *
 * Restore takes the newest cut that is safe, or the newest of all if none is. It replays the journals since the cut
 * and since the next one of the same term, saves, and waits until that is safe. Then a new journal begins.
 *
 * Checked, by assertions:
 *  a record that is replayed is the next update, and the one that was done last under its number: updates are replayed
 *  in order, and none twice;
 *  after each Restore the PE has all updates that Sync had acknowledged, and those that an earlier Restore had brought.
 * No invalid end state: a job whose failures have stopped comes to its end.
 *
 * Planted bugs, by -D: ACKS_EARLY (Sync does not wait for the put), NO_SYNC (Save does not bring the journal to the
 * buddy, and the next Sync acknowledges what was appended before Save), TURNS_EARLY (after Restore a new journal begins
 * before the new cut is safe), FIRST_EARLY (so does the one since the first cut), ONE_AREA (the journals of all cuts
 * have one area), ONE_JOURNAL (Restore drops the journal since the newer cut), SKIPS_TORN (a journal goes on after a
 * record that is not there), ONE_TAG (records of all journals have one tag), NO_AGENT (no agent moves journals),
 * TAKES_UNSAFE (Restore takes the newest cut, safe or not), NO_AGREE (after Restore a new journal begins when this PE
 * knows that the cut is safe, and the buddy may not).
 */

#ifndef SAVES
#define SAVES 2
#endif
#ifndef UPDATES
#define UPDATES 3
#endif
#ifndef FAILURES
#define FAILURES 2
#endif

#define NAME(t, v) ((t) * 8 + (v))
#define VERSION(k) ((k) % 8)
#ifdef ONE_AREA
#define AREA(v) 0
#else
#define AREA(v) ((v) % 2)
#endif
#define RECORD(tag, n) ((tag) * 4 + (n))
#define NUMBER(r) ((r) % 4)
#ifdef ONE_TAG
#define HASTAG(r, tag) ((r) != 0)
#else
#define HASTAG(r, tag) ((r) / 4 == (tag))
#endif

/* Slots for images: two on the host of the PE, and two on that of its buddy. */
#define OWN(v) ((v) % 2)
#define COPY(v) (2 + (v) % 2)
byte image[4]; /* names of cuts; 0: nothing */
byte has[4];   /* how many updates */
bool safe[4];

/* Areas for journals: two on the host of the PE, two on that of its buddy, and two in the heap of the buddy. */
#define AT(place, v) (2 * (place) + AREA(v))
#define HEAP 2
byte head[6];   /* the cut since which the records are; 0: there is no journal */
#define ROOM UPDATES
byte log[6 * ROOM];

byte term = 1;
bool over = 0;       /* the job has ended */
byte saving = 0;     /* the cut that the goroutine keeps */
byte savingHas = 0;
bool kept = 1;       /* the last cut is safe, as far as this PE knows */
byte acked = 0;      /* updates that were acknowledged */
byte doneIn[UPDATES + 1]; /* the journal in which an update was done last */
bool lost[2];        /* hosts that were lost since a cut was safe */
byte failures = FAILURES;
byte i, j, k, x;     /* of steps */

/* moveJournals is what the agent of the buddy does when the PEs of a term are gone. */
inline moveJournals() {
	for (i : 0 .. 1) {
#ifndef NO_AGENT
		if
		:: head[4 + i] != 0 ->
			head[2 + i] = head[4 + i];
			k = 0;
			for (j : 0 .. ROOM - 1) {
				x = log[(4 + i) * ROOM + j];
				log[(2 + i) * ROOM + j] = 0;
				if
				:: HASTAG(x, head[4 + i]) && k == j -> log[(2 + i) * ROOM + j] = x; k++
#ifdef SKIPS_TORN
				:: HASTAG(x, head[4 + i]) && k != j -> log[(2 + i) * ROOM + k] = x; k++
#endif
				:: else
				fi
			}
		:: else
		fi;
#endif
		wipe(4 + i)
	}
}

inline wipe(area) {
	head[area] = 0;
	for (j : 0 .. ROOM - 1) { log[(area) * ROOM + j] = 0 }
}

/* choose sets k to a cut, or 0, and n to the updates of its image. */
inline choose() {
	k = 0; x = 0;
	for (i : 0 .. 3) {
		j = (image[i] != 0 && (safe[i] || image[i ^ 2] == image[i] && safe[i ^ 2]));
#ifdef TAKES_UNSAFE
		j = 0;
#endif
		if
		:: image[i] != 0 && (j > x || j == x && image[i] > k) -> k = image[i]; n = has[i]; x = j
		:: else
		fi
	}
}

/* replay replays the journal since a cut. */
inline replay(cut) {
	i = 6;
	if
	:: head[AT(0, cut)] == (cut) -> i = AT(0, cut)
	:: head[AT(0, cut)] != (cut) && head[AT(1, cut)] == (cut) -> i = AT(1, cut)
	:: else
	fi;
	j = 0;
	do
	:: i == 6 || j == ROOM -> break
	:: i < 6 && j < ROOM ->
		x = log[i * ROOM + j];
		if
		:: HASTAG(x, cut) ->
			n++;
			assert(NUMBER(x) == n && doneIn[n] == x / 4);
			j++
		:: else -> j = ROOM
		fi
	od
}

/* turn begins the journal since the cut of version v, here and then at the buddy. */
inline turn() {
	d_step { head[AT(0, v)] = NAME(term, v); used = 0; synced = 0 };
	d_step { head[AT(HEAP, v)] = NAME(term, v) }
}

/* bring brings a record to the buddy that it does not have. */
inline bring() {
	atomic {
		if
		:: used > 0 && synced % 2 == 0 -> log[AT(HEAP, v) * ROOM] = log[AT(0, v) * ROOM]; synced = synced + 1
		:: used > 1 && synced / 2 % 2 == 0 -> log[AT(HEAP, v) * ROOM + 1] = log[AT(0, v) * ROOM + 1]; synced = synced + 2
		:: used > 2 && synced / 4 == 0 -> log[AT(HEAP, v) * ROOM + 2] = log[AT(0, v) * ROOM + 2]; synced = synced + 4
		fi
	}
}
#define SYNCED (synced == (1 << used) - 1) /* the buddy has all records */

inline sync() {
	do
	:: !SYNCED -> bring()
	:: SYNCED -> break
	od
}

/* All PEs know that the cut is safe. */
#ifdef NO_AGREE
#define KNOWN kept
#else
#define KNOWN saving == 0
#endif

inline save() {
	kept; /* the cut before is safe */
#ifndef NO_SYNC
	sync();
#endif
	v++;
	d_step { image[OWN(v)] = 0; has[OWN(v)] = 0; safe[OWN(v)] = 0 };
	d_step { saving == 0 -> saving = NAME(term, v); savingHas = n; kept = 0 }
}

#ifdef FIRST_EARLY
#define MUSTBESAFE (v > 1)
#endif
#ifdef TURNS_EARLY
#define MUSTBESAFE (v == 1)
#endif
#ifndef MUSTBESAFE
#define MUSTBESAFE 1
#endif

proctype program() {
	byte v, n, used, synced, mine = 1;
	do
	:: over -> break
	:: else ->
		{
			d_step {
				v = 0; n = 0; used = 0; synced = 0;
				choose();
				if
				:: k == 0
				:: else ->
					v = VERSION(k);
					replay(k);
#ifndef ONE_JOURNAL
					replay(k + 1)
#endif
				fi;
				assert(n >= acked);
				i = 0; j = 0; k = 0; x = 0
			};
			save();
			if :: MUSTBESAFE -> KNOWN :: else fi;
			turn();
			acked = n; /* Restore has returned */
			do
			:: atomic { n < UPDATES -> /* an update, and Append */
					n++; doneIn[n] = NAME(term, v);
					log[AT(0, v) * ROOM + used] = RECORD(NAME(term, v), n); used++
				}
			:: acked < n ->
#ifndef ACKS_EARLY
				sync();
#endif
				acked = n
#ifdef ACKS_EARLY
			:: !SYNCED -> bring()
#endif
			:: v < SAVES ->
				save();
				turn()
			:: v >= SAVES -> kept; over = 1
			od
		} unless { mine != term || over };
		mine = term
	od
}

/* keeper keeps a cut in memory, here and at the buddy. */
proctype keeper() {
	byte mine = 0;
	do
	:: over -> break
	:: atomic { saving != 0 -> mine = saving };
		{
			d_step { image[OWN(saving)] = saving; has[OWN(saving)] = savingHas };
			d_step { image[COPY(saving)] = 0; has[COPY(saving)] = 0; safe[COPY(saving)] = 0 };
			d_step { image[COPY(saving)] = saving; has[COPY(saving)] = savingHas };
			if
			:: d_step { safe[OWN(saving)] = 1; kept = 1; lost[0] = 0; lost[1] = 0 };
				d_step { safe[COPY(saving)] = 1; saving = 0; savingHas = 0 }
			:: d_step { safe[COPY(saving)] = 1; lost[0] = 0; lost[1] = 0 };
				d_step { safe[OWN(saving)] = 1; kept = 1; saving = 0; savingHas = 0 }
			fi
		} unless { saving != mine || over }
	od
}

inline lose(h) {
	for (k : 2 * (h) .. 2 * (h) + 1) { image[k] = 0; has[k] = 0; safe[k] = 0; wipe(k) }
	if :: (h) == 1 -> wipe(4); wipe(5) :: else fi;
	over = lost[1 - (h)];
	lost[h] = 1
}

/* nature ends a term, and the launcher begins the next one. */
proctype nature() {
	do
	:: over || failures == 0 -> break
	:: atomic {
			failures > 0 && !over ->
			failures--;
			if
			:: skip
			:: lose(0)
			:: lose(1)
			fi;
			moveJournals();
			term++; saving = 0; savingHas = 0; kept = 1;
			i = 0; j = 0; k = 0; x = 0
		}
	od
}

init { atomic { run program(); run keeper(); run nature() } }
