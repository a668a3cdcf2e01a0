/*
 * The deque of a member of a WorkPool (pool_deque.go, pool_steal.go): one owner with a ring of N tasks that pushes
 * TASKS tasks, THIEVES thieves that try to steal STEALS times each. Counts are not bounded here: that they wrap is a
 * matter of arithmetic, which the tests in Go try.
 *
 * A compare-swap, and each read or write of a word or of a task, is one step.
 *
 * Checked: no task is run twice, and none is lost (assertions).
 *
 * Planted bugs, by -D: NEVER_WAITS (the owner overwrites tasks that were stolen and may not be copied), HEAD_FIRST
 * (reads head before copied), TAKES_BLINDLY (takes shared tasks back without a compare-swap).
 */

#ifndef N
#define N 2
#endif
#ifndef TASKS
#define TASKS 5
#endif
#ifndef THIEVES
#define THIEVES 2
#endif
#ifndef STEALS
#define STEALS 2
#endif

byte ring[N];
byte head = 0, tail = 0; /* halves of one word */
byte copied = 0;
byte ran[TASKS + 1];
byte gone = 0; /* thieves that have done with it */

inline runs(task) { atomic { assert(task > 0); ran[task]++; assert(ran[task] == 1); task = 0 } }

proctype owner() {
	byte top = 0, low = 0, task = 0, h = 0, c = 0, mine = 0, next = 1;
	do
	:: next <= TASKS && top - low < N -> ring[top % N] = next; atomic { top++; next++ };
	   if
	   :: top - mine >= 2 -> /* share */
		h = head;
		if
		:: 4 * (mine - h) < top - h ->
			atomic { if :: head == h -> mine = h + (top - h) / 2; tail = mine :: else fi }
		:: else
		fi;
		h = 0
	   :: else
	   fi
	:: next <= TASKS && top - low == N -> /* is there room? */
#ifdef NEVER_WAITS
		low = head
#else
#ifdef HEAD_FIRST
		h = head; c = copied;
#else
		c = copied; h = head;
#endif
		if :: c == h -> low = h :: else fi;
		atomic { h = 0; c = 0 }
#endif
	:: top > mine -> atomic { top--; task = ring[top % N] }; runs(task)
	:: top == mine && tail > head -> /* take back */
#ifdef TAKES_BLINDLY
		atomic { h = head; c = tail };
		if :: c > h -> mine = c - (c - h + 1) / 2; tail = mine :: else fi;
#else
		atomic {
			if :: tail > head -> mine = tail - (tail - head + 1) / 2; tail = mine :: else fi
		};
#endif
		atomic { h = 0; c = 0 }
	:: next > TASKS && top == mine && tail == head -> break
	od;
	(gone == THIEVES);
	for (task : 1 .. TASKS) { assert(ran[task] == 1) }
}

proctype thief() {
	byte h = 0, t = 0, k = 0, i = 0, tries = 0;
	byte loot[N];
	do
	:: tries == STEALS -> break
	:: else ->
		tries++;
		atomic { h = head; t = tail };
		if
		:: t > h ->
			k = (t - h + 1) / 2;
			atomic {
				if
				:: head == h && tail == t -> head = h + k
				:: else -> k = 0
				fi
			};
			i = 0;
			do
			:: i < k -> loot[i] = ring[(h + i) % N]; i++
			:: else -> break
			od;
			atomic { copied = copied + k; i = 0 };
			do
			:: i < k -> runs(loot[i]); i++
			:: else -> break
			od;
			atomic { i = 0; k = 0 }
		:: else
		fi;
		atomic { h = 0; t = 0 }
	od;
	gone++
}

init {
	byte i;
	atomic {
		run owner();
		for (i : 1 .. THIEVES) { run thief() }
	}
}
