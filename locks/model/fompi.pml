/*
 * foMPI-Spin (fompi.go) and foMPI-RW (fompi_rw.go): one word, tried again and again. W writers, from 1, and
 * R readers behind them; without readers it is foMPI-Spin.
 *
 * The word is 1 + the writer (holder) and the number of readers that are inside or about to look (count),
 * which change together. A pause is over at any time. PEs 1 to GIVE_UP may give up between two tries.
 *
 * Checked: writers are alone; when all are through, the word is 0; and, with weak fairness, that all get
 * through (ltl through): there is no deadlock, and nobody keeps the others busy for ever by trying. These
 * locks promise no order, and a PE that comes again and again can keep others out: rounds are finite here.
 *
 * Planted bugs, by -D: NOT_ATOMIC (a writer looks, and then writes), LOOKS_ONCE (a reader that saw no writer
 * goes in, whatever its add returned), KEEPS_COUNT (a reader that found a writer does not take back what it
 * added), CLEARS (a writer that leaves sets the whole word to 0, with the readers that are about to look).
 */

#ifndef W
#define W 2
#endif
#ifndef R
#define R 0
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef GIVE_UP
#define GIVE_UP 0
#endif

byte holder = 0;
short count = 0;
byte writers = 0, readers = 0;
byte over = 0;

proctype writer(byte me) {
	byte round = 0;
	bool free = false;
	do
	:: round == ROUNDS -> break
	:: else ->
		round++;
		do
		:: true ->
#ifdef NOT_ATOMIC
			free = (holder == 0 && count == 0);
			if :: free -> holder = me; break :: else fi
#else
			atomic {
				free = (holder == 0 && count == 0);
				if :: free -> holder = me :: else fi
			};
			if :: free -> break :: else fi
#endif
		:: me <= GIVE_UP -> goto away
		od;
		writers++;
		assert(writers == 1 && readers == 0);
		writers--;
#ifdef CLEARS
		atomic { holder = 0; count = 0 };
#else
		holder = 0;
#endif
away:
		free = false
	od;
	over++
}

proctype reader(byte me) {
	byte round = 0;
	bool free = false, looked = true; /* the first try does not look */
	do
	:: round == ROUNDS -> break
	:: else ->
		round++;
		looked = true;
		do
		:: true ->
			if :: !looked -> looked = (holder == 0) :: else fi;
			if
			:: looked ->
				atomic { free = (holder == 0); count++ };
				looked = false;
#ifdef LOOKS_ONCE
				break;
#endif
				if
				:: free -> break
				:: else -> skip;
#ifndef KEEPS_COUNT
					count--
#endif
				fi
			:: else
			fi
		:: me <= GIVE_UP && !looked -> goto away
		od;
		readers++;
		assert(writers == 0);
		readers--;
		count--;
away:
		free = false
	od;
	over++
}

init {
	byte i;
	atomic {
		for (i : 1 .. W) { run writer(i) }
		for (i : W + 1 .. W + R) { run reader(i) }
	}
	(over == W + R);
	assert(holder == 0 && count == 0)
}

ltl through { <> (over == W + R) }
