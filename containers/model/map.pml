/*
 * A key of a Map while its segment is split (map_find.go, map_write.go, map_split.go): segment FROM has the key, and
 * the split moves it to segment TO. WRITERS members add 1 to its value, UPDATES times each; FINDERS members find it,
 * FINDS times each. Writers and finders begin at either segment, for they may know from elsewhere how deep the shard
 * is.
 *
 * A slot is two words, its value and a check of it, both 0 if it is free. Each read or write of a word is one step, and
 * so is taking a lock. What a fence orders is in order here.
 *
 * Checked: a find finds the key, and no older value than the last one that was complete when it began (assertions); no
 * update is lost (assertion); all end (no invalid end state).
 *
 * Planted bugs, by -D: NO_LOCK (writers take none), NO_LOCK_TO (a split does not lock the new segment), UNLOCKS_EARLY
 * (before the slot is written), REMOVES_FIRST (a split removes the key before the header says so), HEADER_FIRST (a
 * split shows the new segment before the key is there), BELIEVES_TORN (a find does not look at the check),
 * BELIEVES_EARLY (a find that meets no key in a segment does not ask whether that existed before), NO_SECOND_LOOK (a
 * find that meets no key believes the header from before it).
 */

#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef UPDATES
#define UPDATES 1
#endif
#ifndef FINDERS
#define FINDERS 1
#endif
#ifndef FINDS
#define FINDS 2
#endif

#define FROM 0
#define TO 1

bool lock[2];
byte depth[2];   /* plus 1, as in headers: 0 if the segment does not exist */
byte value[2];
byte check[2];   /* of the value */
byte complete;   /* updates that have ended */
byte ended;

/* whether a segment whose header has that depth has the key */
#define RIGHT(s, d) (((s) == FROM && (d) == 1) || ((s) == TO && (d) == 2))

inline take(s) { atomic { !lock[s] -> lock[s] = 1 } }

proctype splitter() {
	take(FROM);
#ifndef NO_LOCK_TO
	take(TO);
#endif
#ifdef HEADER_FIRST
	depth[TO] = 2;
#endif
	value[TO] = value[FROM];
	check[TO] = check[FROM];
#ifdef REMOVES_FIRST
	check[FROM] = 0; value[FROM] = 0;
#endif
	depth[TO] = 2;
	depth[FROM] = 2;
	check[FROM] = 0;
	value[FROM] = 0;
#ifndef NO_LOCK_TO
	lock[TO] = 0;
#endif
	lock[FROM] = 0;
	ended++
}

proctype writer() {
	byte s = 0, v = 0, n = 0;
	do
	:: n == UPDATES -> break
	:: else ->
		if :: s = FROM :: s = TO fi;
again:
#ifndef NO_LOCK
		take(s);
#endif
		if
		:: !RIGHT(s, depth[s]) ->
#ifndef NO_LOCK
			lock[s] = 0;
#endif
			s = 1 - s;
			goto again
		:: else
		fi;
		v = value[s] + 1;
#ifdef UNLOCKS_EARLY
		lock[s] = 0;
#endif
		value[s] = v;
		check[s] = v;
#if !defined(NO_LOCK) && !defined(UNLOCKS_EARLY)
		lock[s] = 0;
#endif
		atomic { complete++; n++; v = 0; s = 0 }
	od;
	ended++
}

proctype finder() {
	byte s = 0, v = 0, c = 0, floor = 0, n = 0, early = 0;
	bool existed = 0;
	do
	:: n == FINDS -> break
	:: else ->
		atomic { floor = complete + 1; if :: s = FROM :: s = TO fi };
again:
		early = depth[s];
		existed = early != 0;
		v = value[s];
		c = check[s];
		if
#ifdef BELIEVES_TORN
		:: c != 0 ->
#else
		:: c != 0 && c != v -> goto again /* it is being written */
		:: c != 0 && c == v ->
#endif
			assert(v >= floor)
		:: c == 0 ->
#ifdef NO_SECOND_LOOK
			c = early;
#else
			c = depth[s];
#endif
			if
			:: !RIGHT(s, c) -> s = 1 - s; goto again
#ifndef BELIEVES_EARLY
			:: RIGHT(s, c) && !existed -> goto again
			:: RIGHT(s, c) && existed -> assert(false)
#else
			:: RIGHT(s, c) -> assert(false)
#endif
			fi
		fi;
		atomic { n++; v = 0; c = 0; floor = 0; s = 0; existed = 0; early = 0 }
	od;
	ended++
}

init {
	byte i;
	atomic {
		depth[FROM] = 1; value[FROM] = 1; check[FROM] = 1;
		run splitter();
		for (i : 1 .. WRITERS) { run writer() }
		for (i : 1 .. FINDERS) { run finder() }
	}
	(ended == 1 + WRITERS + FINDERS);
	assert(value[TO] == 1 + WRITERS * UPDATES && check[TO] == value[TO] && check[FROM] == 0)
}
