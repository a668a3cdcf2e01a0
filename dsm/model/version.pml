/*
 * The versions of a block (dsm/internal/protocol: fetch.go, release.go, acquire.go). N PEs, from 0, take up to S0, S1,
 * S2 steps: each acquires what another has released and reads, or writes, or releases. Byte w of the block belongs to
 * PE w, which counts in it: the programs have no data races. Others read the byte all the same, and get a value that is
 * not older than what they have acquired.
 *
 * ver, pub and hint are the words and bytes that other PEs reach; each step accesses one of them. A get reads byte by
 * byte. Turns are those of turn.pml: one PE at a time changes the block, and knows which PE did so before.
 *
 * The versions of other blocks, which the model does not have, make time pass: a release may tell of a least time that
 * is up to OTHERS later.
 *
 * known is not in the code: the least value of each byte that a PE must read, which travels with the notices.
 *
 * Checked: no read is out of date, and none is of a value that was not written; the PE that has the turn finds the
 * newest version open; at the end the newest version has all that was released. ltl through, with weak fairness: all
 * PEs get through, so links of moved versions lead somewhere.
 *
 * Planted bugs, by -D: NO_TWIN, TRUSTS_LEASES (any lease is good), GETS_FIRST (the get comes before the lease), STAYS
 * (a moved version is not followed), LEASES_CLOSED (a closed version gives a lease), LOSES_OWN (a fetch replaces own
 * bytes), NOT_CLOSED (leases go on while a version is made), MERGES_ALL (every byte counts as own), IGNORES_LEASES (the
 * number of a version), GIVES_FIRST (gives the turn away before the last home is told), NOT_TOLD, FORGETS (notices that
 * are left out), KEEPS (does not pass on what it has acquired), NOT_DROPPED (a notice drops no copy), IGNORES_MIN,
 * NO_NOTICE (of a release), DROPS_DIRTY (an acquire drops own bytes with the copy), RENEWS_MOVED (a home renews the
 * lease of a version that is closed or has moved).
 */

#ifndef N
#define N 2
#endif
#ifndef S0
#define S0 3
#endif
#ifndef S1
#define S1 3
#endif
#ifndef S2
#define S2 2
#endif
#ifndef LEASE
#define LEASE 1
#endif
#ifndef OTHERS
#define OTHERS 0
#endif
#ifndef NOTICES
#define NOTICES 1 /* or 0 */
#endif

#define CLOSED 64
#define MOVED 128
#define HINT_AFTER 2
#define FREE 99

#define AT(p, w) ((p) * N + (w))
#define MAX(x, y) ((x) > (y) -> (x) : (y))
#define STEPS(p) ((p) == 0 -> S0 : ((p) == 1 -> S1 : S2))

byte ver[N], pub[N * N], hint = 0;
byte turn = FREE, last = 0;

/* What a release has told: the notice (wts 0: none), the least time, and what must be seen. */
byte told_pe[N], told_wts[N], told_min[N], told_known[N * N];
bool told[N];

byte known[N * N];
byte through = 0;

/* read_pub copies the released bytes of PE p, one at a time. */
inline read_pub(p) {
	w = 0;
	do
	:: w < N -> atomic { data[w] = pub[AT(p, w)]; w++ }
	:: else -> break
	od;
	w = 0
}

/* write_pub makes the twin equal to data, one byte at a time. */
inline write_pub() {
	w = 0;
	do
	:: w < N -> atomic { pub[AT(me, w)] = data[w]; w++ }
	:: else -> break
	od;
	w = 0
}

inline take_lease() {
	atomic {
		v = ver[home];
		if :: v < now + LEASE -> ver[home] = now + LEASE :: else fi
	}
}

/* fetch makes the copy valid. */
inline fetch() {
#ifdef TRUSTS_LEASES
	if
	:: true -> read_pub(home)
#else
	if
	:: rts >= now -> read_pub(home)
#endif
	:: else ->
		hops = 0;
		do
		:: true ->
#ifdef GETS_FIRST
			read_pub(home);
#endif
			take_lease();
			if
#ifdef STAYS
			:: false
#else
			:: v >= MOVED ->
				home = v - MOVED;
				hops++;
				if
				:: hops == HINT_AFTER -> if :: hint > 0 -> home = hint - 1 :: else fi
				:: else
				fi
#endif
			:: else -> break
			fi
		od;
		rts = MAX(v, now + LEASE);
#ifndef LEASES_CLOSED
		if :: v >= CLOSED -> rts = v - CLOSED :: else fi;
#else
		if :: v >= CLOSED -> rts = now + LEASE :: else fi;
#endif
#ifndef GETS_FIRST
		read_pub(home)
#endif
	fi;
	d_step {
		w = 0;
		do
		:: w < N ->
#ifdef LOSES_OWN
			own[w] = data[w];
#else
			if :: !dirty || own[w] == pub[AT(me, w)] -> own[w] = data[w] :: else fi;
#endif
			w++
		:: else -> break
		od;
		w = 0;
		valid = true
	};
	if :: dirty -> write_pub() :: else fi
}

inline read() {
	if :: !valid -> fetch() :: else fi;
	d_step {
		w = 0;
		do
		:: w < N ->
			assert(own[w] >= known[AT(me, w)]);
			assert(own[w] <= known[AT(w, w)]);
			w++
		:: else -> break
		od;
		assert(own[me] == known[AT(me, me)]);
		w = 0
	}
}

inline write() {
	if :: !valid -> fetch() :: else fi;
	if
	:: !dirty ->
#ifndef NO_TWIN
		d_step {
			w = 0;
			do :: w < N -> data[w] = own[w]; w++ :: else -> break od;
			w = 0
		};
		write_pub();
#endif
		dirty = true
	:: else
	fi;
	d_step { own[me]++; known[AT(me, me)]++ }
}

/* close_version ends the leases of the newest version, and fetches it. The two are under way at once. */
inline close_version() {
	if
	:: prev == me ->
		atomic { closed = ver[me]; ver[me] = closed | CLOSED };
		read_pub(me)
	:: prev != me -> close_previous(); read_pub(prev)
	:: prev != me -> read_pub(prev); close_previous()
	fi;
	assert(closed < CLOSED)
}

inline close_previous() {
#ifdef NOT_CLOSED
	atomic { closed = ver[prev] }
#else
	atomic { closed = ver[prev]; ver[prev] = closed | CLOSED }
#endif
}

inline tell_previous() {
#ifndef NOT_TOLD
	if
	:: prev != me ->
#ifdef NOT_CLOSED
		ver[prev] = MOVED | me;
#else
		atomic { if :: ver[prev] == (CLOSED | closed) -> ver[prev] = MOVED | me :: else fi };
#endif
		hint = me + 1
	:: else
	fi
#else
	skip
#endif
}

inline give() { atomic { last = me; turn = FREE } }

/* change makes a new version, with the turn. */
inline change() {
	close_version();
	d_step {
		w = 0;
		do
		:: w < N ->
			if
#ifndef MERGES_ALL
			:: own[w] == pub[AT(me, w)] -> own[w] = data[w]
#endif
			:: else -> data[w] = own[w]
			fi;
			w++
		:: else -> break
		od;
		w = 0
	};
	write_pub();
	d_step {
#ifdef IGNORES_LEASES
		wts = now + 1;
#else
		wts = MAX(closed + 1, now);
#endif
		dirty = false;
		valid = true;
		home = me;
		rts = wts + LEASE;
		assert(rts < CLOSED)
	};
	ver[me] = rts;
#ifndef NO_NOTICE
	if :: wts > n_wts -> n_wts = wts; n_pe = me :: else fi;
#endif
#ifdef GIVES_FIRST
	give();
	tell_previous()
#else
	tell_previous();
	give()
#endif
}

inline release() {
	d_step {
		differs = false;
		w = 0;
		do
		:: w < N -> differs = differs || own[w] != pub[AT(me, w)]; w++
		:: else -> break
		od;
		w = 0;
		dirty = dirty && differs
	};
	if
	:: dirty ->
		atomic { turn == FREE -> turn = me; prev = last };
		change()
	:: else
	fi;
#if OTHERS > 0
	if :: min = MAX(min, now) + OTHERS :: skip fi; /* notices of other blocks that were left out */
#endif
	d_step { /* tell */
		if
		:: NOTICES == 0 && n_wts > 0 ->
#ifndef FORGETS
			min = MAX(min, n_wts);
#endif
			n_wts = 0
		:: else
		fi;
		told[me] = true;
		told_pe[me] = n_pe;
		told_wts[me] = n_wts;
		told_min[me] = min;
		w = 0;
		do
		:: w < N -> told_known[AT(me, w)] = known[AT(me, w)]; w++
		:: else -> break
		od;
		w = 0
	}
}

/* renew raises the lease of this PE's own version, whose readers it would otherwise have to join at each fence. */
inline renew() {
	if
	:: valid && rts < now && home == me ->
		take_lease();
		if
#ifdef RENEWS_MOVED
		:: true -> rts = now + LEASE
#else
		:: v < CLOSED -> rts = MAX(v, now + LEASE)
		:: else
#endif
		fi
	:: else
	fi
}

inline acquire(q) {
	d_step {
		if
		:: told_wts[q] > rts && told_pe[q] != me ->
#ifndef NOT_DROPPED
			valid = false;
#ifdef DROPS_DIRTY
			dirty = false;
#endif
			home = told_pe[q];
			rts = told_wts[q] + LEASE
#endif
		:: else
		fi;
#ifndef KEEPS
		if :: told_wts[q] > n_wts -> n_wts = told_wts[q]; n_pe = told_pe[q] :: else fi;
#endif
#ifndef IGNORES_MIN
		now = MAX(now, told_min[q]);
#endif
		min = MAX(min, told_min[q]);
		w = 0;
		do
		:: w < N -> known[AT(me, w)] = MAX(known[AT(me, w)], told_known[AT(q, w)]); w++
		:: else -> break
		od;
		w = 0
	};
	renew();
	d_step { valid = valid && rts >= now; v = 0 }
}

proctype pe(byte me) {
	byte own[N], data[N];
	bool valid = true, dirty = false, differs = false;
	byte home = 0, rts = 0, now = 0, min = 0, n_pe = 0, n_wts = 0;
	byte v = 0, hops = 0, prev = 0, closed = 0, wts = 0, w = 0, q = 0;
	byte step = 0;
	do
	:: step < STEPS(me) ->
		step++;
		if
		:: atomic {
				if
				:: me != 0 && told[0] -> q = 0
				:: me != 1 && told[1] -> q = 1
#if N > 2
				:: me != 2 && told[2] -> q = 2
#endif
				fi
			};
			acquire(q);
			read()
		:: true -> write() /* an option whose guard has an else of its own would wait for the others */
		:: true -> release()
		fi
	:: else -> break
	od;
	through++
}

init {
	byte i = 0;
	atomic {
		do
		:: i < N -> run pe(i); i++
		:: else -> break
		od
	};
	through == N;
	i = 0;
	do
	:: i < N -> assert(pub[AT(last, i)] >= told_known[AT(i, i)]); i++
	:: else -> break
	od
}

ltl through { <> (through == N) }
