/*
 * How the members of a WorkPool find out that no task is left (pool_end.go): P members, BUDGET tasks in all, of which
 * the first is at member 0, and the others are made by running tasks. Members vote in waves along a tree in which a
 * member has ARITY children.
 *
 * Taking a task, stealing one and arriving with it are one step each. Steals may happen at any time: a member that has
 * voted goes on stealing. A member stands still between its vote and the next wave otherwise.
 *
 * Checked: when a member finishes, there is no task anywhere (assertion), and all finish (no invalid end state).
 *
 * Planted bugs, by -D: FORGETS_TASKS (a vote does not tell that tasks were run), ONE_WAVE (the first vote may be
 * white), FORGETS_CHILDREN (a vote does not tell those of the members below), SLEEPS (a member that has stolen a task
 * puts it into its deque, and may vote before it runs any).
 */

#ifndef P
#define P 3
#endif
#ifndef BUDGET
#define BUDGET 3
#endif
#ifndef ARITY
#define ARITY 2
#endif

byte n[P];         /* tasks in a member's deque */
byte tasks = 1;    /* that are not done, wherever they are */
byte made = 1;     /* so far */
bool up[P];        /* a member's vote of this wave is there */
bool black[P];     /* and it is black, or one below it is */
byte down[P];      /* 0: nothing new, 1: next wave, 2: finished */
byte finished = 0;

#define CHILD(i, c) (ARITY * (i) + 1 + (c))

inline tell(word) {
	c = 0;
	do
	:: c < ARITY && CHILD(i, c) < P -> up[CHILD(i, c)] = 0; down[CHILD(i, c)] = word; c++
	:: else -> break
	od;
	c = 0
}

proctype member(byte i) {
	bool busy = 1, voted = 0, dark = 0;
	byte c = 0, v = 0;
#ifdef ONE_WAVE
	busy = 0;
#endif
	do
	:: atomic { n[i] > 0 -> n[i]-- };
running:
		do
		:: atomic { made < BUDGET -> made++; tasks++; n[i]++ }
		:: break
		od;
		atomic {
			tasks--;
#ifndef FORGETS_TASKS
			busy = 1
#endif
		}
	:: n[i] == 0 ->
		atomic {
			v = 0;
			do :: v < P - 1 -> v++ :: break od;
			if
			:: v != i && n[v] > 0 -> n[v]--; c = 1
			:: else -> c = 0
			fi;
			v = 0
		};
#ifdef SLEEPS
		if :: c == 1 -> atomic { c = 0; n[i]++ } :: else fi
#else
		if :: c == 1 -> c = 0; goto running :: else fi
#endif
	:: atomic { n[i] == 0 && !voted && (CHILD(i, 0) >= P || up[CHILD(i, 0)]) && (ARITY < 2 || CHILD(i, 1) >= P || up[CHILD(i, 1)]) ->
			dark = busy;
			c = 0;
			do
#ifdef FORGETS_CHILDREN
			:: c < ARITY && CHILD(i, c) < P -> c++
#else
			:: c < ARITY && CHILD(i, c) < P -> dark = dark || black[CHILD(i, c)]; c++
#endif
			:: else -> break
			od;
			c = 0; busy = 0; voted = 1;
			if
			:: i > 0 -> black[i] = dark; up[i] = 1
			:: else
			fi
		};
		if
		:: i == 0 && dark -> atomic { dark = 0; voted = 0; tell(1) }
		:: i == 0 && !dark -> break
		:: else -> dark = 0
		fi
	:: atomic { i > 0 && n[i] == 0 && voted && down[i] == 1 -> down[i] = 0; voted = 0; tell(1) }
	:: i > 0 && n[i] == 0 && voted && down[i] == 2 -> break
	od;
	atomic { assert(tasks == 0); tell(2); finished++ }
}

init {
	byte i;
	atomic {
		n[0] = 1;
		for (i : 0 .. P - 1) { run member(i) }
	}
	(finished == P)
}
