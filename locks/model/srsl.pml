/*
 * SRSL (srsl.go, srsl_server.go): one PE serves the others, which send it messages by adding to a word of
 * their own in its inbox.
 *
 * The server looks at the words one after the other, twice; between the looks others send. A PE writes or
 * reads, as it chooses each time, and may give up while it waits (PEs 1 to GIVE_UP).
 *
 * Checked: writers are alone; nobody is stuck; when all are through, the server knows of nobody; what
 * a PE asks for is answered as it is meant: an answer to who gives up is about this request (assertions); and, with
 * weak fairness, a PE that does not give up gets in as often as it wants (ltl live).
 *
 * Planted bugs, by -D: NO_KEPT (who gives up when the lock has been granted gets no answer to that, and does not
 * wait for one), LAST_WINS (a message replaces the one before), GRANTS_PAST (a reader is let in though a writer
 * has the lock), FORGETS_READERS (one reader's leaving is all readers').
 */

#ifndef P
#define P 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef GIVE_UP
#define GIVE_UP 1
#endif

#define LOCK 1
#define UNLOCK 2
#define GIVES_UP 4
#define LOCK_SHARED 8
#define UNLOCK_SHARED 16

#define PENDING 0
#define GRANTED 1
#define REFUSED 2
#define KEPT 3

#define READS 10 /* added to a PE in the queue */

byte inbox[P + 1];
byte answer[P + 1];
byte writers = 0, readers = 0;
byte writer = 0, reading = 0; /* what the server knows */
byte queue[P + 1], queued = 0;
byte gotIn = 0, over = 0;

/* send adds a message to the sender's word. */
inline send(m) {
#ifdef LAST_WINS
	inbox[me] = m
#else
	inbox[me] = inbox[me] + m
#endif
}

inline put(x) { queue[queued] = x; queued++ }

/* drop takes element j out of the queue. */
inline drop(j) {
	do
	:: j + 1 < queued -> queue[j] = queue[j + 1]; j++
	:: else -> break
	od;
	queued--;
	queue[queued] = 0;
	j = 0
}

active proctype server() {
	byte taken[P + 1], out[P + 1];
	byte i = 0, j = 0, looks = 0, found = 0;
	do
	:: over == P && queued == 0 && found == 0 && inbox[1] == 0 && inbox[2] == 0 && inbox[P] == 0 -> break
	:: inbox[1] != 0 || inbox[2] != 0 || inbox[P] != 0 ->
		looks = 0;
		do
		:: looks < 2 ->
			i = 1;
			do
			:: i <= P -> d_step { taken[i] = inbox[i]; i++ }
			:: else -> break
			od;
			looks++
		:: else -> break
		od;
		atomic { /* nobody sees what the server does until it shows it */
		i = 1;
		do
		:: i <= P ->
			d_step {
				if :: taken[i] & UNLOCK -> writer = 0 :: else fi;
#ifdef FORGETS_READERS
				if :: taken[i] & UNLOCK_SHARED -> reading = 0 :: else fi;
#else
				if :: taken[i] & UNLOCK_SHARED -> reading-- :: else fi;
#endif
				i++
			}
		:: else -> break
		od;
		i = 1;
		do
		:: i <= P ->
			d_step {
				if :: taken[i] & LOCK -> put(i) :: else fi;
				if :: taken[i] & LOCK_SHARED -> put(i + READS) :: else fi;
				i++
			}
		:: else -> break
		od;
		i = 1;
		do
		:: i <= P ->
			atomic {
				if
				:: taken[i] & GIVES_UP ->
					j = 0;
					do
					:: j < queued && queue[j] % READS != i -> j++
					:: else -> break
					od;
					if
					:: j < queued -> drop(j); out[i] = REFUSED
#ifndef NO_KEPT
					:: else -> out[i] = KEPT
#else
					:: else
#endif
					fi;
					j = 0
				:: else
				fi;
				i++
			}
		:: else -> break
		od;
		i = 0; looks = 0;
		do
#ifdef GRANTS_PAST
		:: queued > 0 && queue[0] > READS ->
#else
		:: queued > 0 && queue[0] > READS && writer == 0 ->
#endif
			atomic { j = queue[0] - READS; reading++; out[j] = GRANTED; j = 0; drop(j) }
		:: queued > 0 && queue[0] < READS && writer == 0 && reading == 0 ->
			atomic { writer = queue[0]; out[writer] = GRANTED; j = 0; drop(j) }
		:: else -> break
		od
		}
		i = 1;
		do
		:: i <= P -> d_step { inbox[i] = inbox[i] - taken[i]; taken[i] = 0; i++ }
		:: else -> break
		od;
		i = 1;
		do
		:: i <= P ->
			d_step {
				if :: out[i] != PENDING -> answer[i] = out[i]; out[i] = PENDING :: else fi;
				i++
			}
		:: else -> break
		od;
		i = 0
	od;
	assert(writer == 0 && reading == 0)
}

proctype pe(byte me) {
	byte round = 0;
	bool reads = 0;
	do
	:: round == ROUNDS -> break
	:: else ->
		round++;
		if :: reads = 0 :: reads = 1 fi;
		answer[me] = PENDING;
		if :: reads -> atomic { send(LOCK_SHARED) } :: else -> atomic { send(LOCK) } fi;
		if
		:: answer[me] != PENDING
		:: me <= GIVE_UP ->
			atomic { send(GIVES_UP) }
#ifdef NO_KEPT
			(answer[me] != PENDING);
#else
			(answer[me] >= REFUSED);
#endif
			if :: answer[me] == REFUSED -> goto next :: else fi
		fi;
		assert(answer[me] == GRANTED || answer[me] == KEPT);
		if
		:: reads ->
			readers++; assert(writers == 0);
			if :: me == P -> gotIn++ :: else fi;
			readers--;
			atomic { send(UNLOCK_SHARED) }
		:: else ->
			writers++; assert(writers == 1 && readers == 0);
			if :: me == P -> gotIn++ :: else fi;
			writers--;
			atomic { send(UNLOCK) }
		fi;
next:
		reads = 0
	od;
	over++
}

init {
	byte i;
	atomic {
		for (i : 1 .. P) { run pe(i) }
	}
}

/* PE P never gives up: it gets in as often as it wants. */
ltl live { <> (gotIn == ROUNDS) }
