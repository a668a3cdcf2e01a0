/*
 * Where the locks of a service are (service_directory.go): one bucket of one home, NAMES names that all belong
 * to it, and its overflow. P PEs claim a name each, ROUNDS times, use its lock, and release it.
 *
 * The guard is a lock (ncosed.pml), taken in one step here. What a loop of compare-swaps does when nobody came
 * between is one step. Walking the chain takes as many steps as there.
 *
 * Checked: PEs that use a name at the same time have the same lock for it, and those of two names have not
 * (assertions in use); nobody is stuck; when all are through, the bucket has no users and is not chained, the
 * chain is empty, and the overflow is free.
 *
 * Planted bugs, by -D: BUCKET_ONLY (takes a bucket without users though it is chained, where the name may be),
 * NOT_CHAINED (goes through the chain without marking the bucket), STAYS (an overflow without users stays in
 * the chain), UNGUARDED (releases overflow without the guard).
 */

#ifndef P
#define P 3
#endif
#ifndef NAMES
#define NAMES 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#define BUCKET 0

/* Entries: the bucket, and as much overflow as there are names. */
byte tag[NAMES + 1];
byte users[NAMES + 1];
byte next[NAMES + 1];  /* an overflow, or 0 */
bool taken[NAMES + 1]; /* of overflow: it is in the chain, or about to be */
bool chained = 0;
bool guard = 0;

byte using[NAMES + 1]; /* PEs that use a name */
byte at[NAMES + 1];    /* and where they found it */
byte over = 0;

/* join makes this PE a user of the bucket, if it can be had. */
#ifdef BUCKET_ONLY
#define FREE (users[BUCKET] == 0)
#else
#define FREE (users[BUCKET] == 0 && !chained)
#endif
inline join() {
	if
	:: FREE -> tag[BUCKET] = name; users[BUCKET] = 1; found = 1
	:: users[BUCKET] != 0 && tag[BUCKET] == name -> users[BUCKET]++; found = 1
	:: else
	fi
}

inline unchain() {
	if :: next[BUCKET] == 0 -> chained = 0 :: else fi
}

inline use() {
	atomic {
		for (i : 1 .. NAMES) { assert(i == name || using[i] == 0 || at[i] != e) }
		assert(using[name] == 0 || at[name] == e);
		using[name]++;
		at[name] = e;
		i = 0
	};
	using[name]--
}

proctype pe() {
	byte round = 0, name = 0, e = 0, i = 0, v = 0;
	bool found = 0;
	do
	:: round == ROUNDS -> break
	:: else ->
		round++;
		select (name : 1 .. NAMES);
		e = BUCKET;
		atomic { join() };
		if :: found -> goto claimed :: else fi;
		atomic { !guard -> guard = 1 };
		atomic {
			join();
#ifndef NOT_CHAINED
			if :: !found -> chained = 1 :: else fi
#endif
		};
		if :: found -> guard = 0; goto claimed :: else fi;
		e = next[BUCKET];
		do
		:: e == 0 -> break
		:: e != 0 && tag[e] == name -> v = users[e]; users[e] = v + 1; found = 1; break
		:: else -> e = next[e]
		od;
		if :: found -> guard = 0; goto claimed :: else fi;
		atomic {
			if
			:: users[BUCKET] == 0 -> tag[BUCKET] = name; users[BUCKET] = 1; chained = 1; found = 1
			:: else
			fi
		};
		if :: found -> unchain(); guard = 0; goto claimed :: else fi;
		d_step {
			e = 1;
			do :: taken[e] -> e++ :: else -> break od;
			taken[e] = 1
		};
		tag[e] = name;
		users[e] = 1;
		v = next[BUCKET];
		next[e] = v;
		next[BUCKET] = e;
		guard = 0;
claimed:
		atomic { v = 0; found = 0 };
		use();
		/* release */
		if
		:: e == BUCKET -> users[BUCKET]--
		:: else ->
#ifndef UNGUARDED
			atomic { !guard -> guard = 1 };
#endif
			v = users[e];
			users[e] = v - 1;
			if
			:: v == 1 -> skip;
#ifndef STAYS
				i = BUCKET;
				do
				:: next[i] == e -> break
				:: else -> i = next[i]
				od;
				next[i] = next[e];
				i = 0;
				d_step { next[e] = 0; tag[e] = 0; taken[e] = 0 };
				unchain()
#endif
			:: else
			fi;
#ifndef UNGUARDED
			guard = 0
#endif
		fi;
		atomic { e = 0; v = 0; name = 0 }
	od;
	over++
}

init {
	byte i;
	atomic {
		for (i : 1 .. P) { run pe() }
	}
	(over == P);
	assert(users[BUCKET] == 0 && next[BUCKET] == 0 && !chained && !guard);
	for (i : 1 .. NAMES) { assert(!taken[i] && users[i] == 0) }
}
