/*
 * The terms of a job that goes on after failures (ends.go, spares.go, lost.go, internal/agent): a launcher, HOSTS hosts
 * with PER PEs each, SPARES spares, and FAILURES failures at any step. SURVIVE is how often the job may go on.
 *
 * A failure is one of these: a PE is killed; an agent is killed; a host is lost, and the launcher's command ends with
 * it or does not notice; a host is cut off, or stopped, and comes back later. A lost host can be used again or not.
 * With FELLOWSFAIL=1 a PE may fail when another one of its term has.
 *
 * Frames between launcher and agents arrive in order. They do not say of which term they are: the second word of a
 * frame is for assertions. An agent that ends loses what it had not sent, and perhaps what the launcher had not read.
 * The launcher handles one event in one step. It gives up a host that was cut off or is silent when a timer of the
 * launcher allows that.
 *
 * A PE joins the exchange of its term, runs when all PEs have joined, and ends when all PEs want to.
 *
 * Checked, by assertions:
 *  T1 an agent starts a PE when the one of the term before is gone, and so are those that an agent before it had
 *     started on the host. A host that was cut off may have these a while longer: T4 keeps them out;
 *  T2 terms of an agent only grow; PEs of two terms run at one time only if the launcher has given up the agent of the
 *     older ones; a host has one place in the job;
 *  T4 a PE runs when all PEs of its own term have joined;
 *  no term begins after the launcher has heard that a PE has left the job;
 *  a job ends with an error, or all PEs of its last term have left it.
 * No invalid end state: every job ends (T6).
 *
 * Planted bugs, by -D: FORKS_EARLY (an agent starts PEs before it has reaped those that it has killed), EAGER (a term
 * begins when one agent has ended the term before), OLD_FRAME (an agent takes a frame of the term before for one of
 * its own), TWO_TERMS (the launcher takes the end of a term for that of the next), NO_SWEEP (a lost host is used again
 * before what is left there is killed), AFTER_EXIT (a term follows though a PE has left), NO_TIMER (the launcher waits
 * for a host that is silent), DONE_WAITS (it waits for the end of an agent that has no PEs any more), SAME_NAME
 * (all terms have one name, and PEs of a term that was given up join the next one), ALONE (a PE runs before all have
 * joined).
 */

#ifndef HOSTS
#define HOSTS 2
#endif
#ifndef PER
#define PER 1
#endif
#ifndef SPARES
#define SPARES 1
#endif
#ifndef FAILURES
#define FAILURES 1
#endif
#ifndef SURVIVE
#define SURVIVE 2
#endif

#ifdef SAME_NAME
#define NAME(t) 0
#else
#define NAME(t) (t)
#endif
#ifndef FELLOWSFAIL
#define FELLOWSFAIL 0 /* 1: a PE may fail when another one of its term has */
#endif
#define N (HOSTS * PER)
#define M (HOSTS + SPARES)
#define A (M + FAILURES) /* agents, those that are started again included */
#define TERMS (SURVIVE + 2)
#define NONE 255

mtype = { READY, WELL, FAILED, DONE, CONFIG, START, KILL };

chan to[A] = [4] of { mtype, byte };
chan from[A] = [PER + 2] of { mtype, byte };

/* Hosts and what runs there. */
bool cut[M];        /* nothing reaches the host, or it is stopped */
bool flaky[M];      /* the host was lost: an agent that is started there may not run */
bool stranger[M];   /* an agent that was given up lives on there, or PEs that it has left */
byte machine[A];    /* the host of an agent */
bool alive[A];      /* the agent runs */
bool mute[A];       /* the agent is lost, and its command does not notice */
bool linked[A];     /* the command of the agent runs */
bool closed[A];     /* the input of the agent has ended */
bool sweeping[A];   /* what the agent has left is being killed */
byte agents = M;    /* that were started */

/* PEs: those that agent a starts have the numbers from PER * a on. */
#define GONE 0
#define JOINING 1
#define JOINED 2
#define CLOSING 3
#define LEFT 4 /* not reaped, as are dead ones */
#define DEAD 5
byte state[A * PER];
bool dying[A * PER]; /* it was killed, and still runs */
byte termOf[A * PER];
byte joined[TERMS];  /* PEs, by the name of the term */
byte closing[TERMS];
byte members[TERMS]; /* PEs of the term that have joined it, whatever its name */
bool broken[TERMS];  /* a PE has failed */

/* The launcher. */
byte term = 1;
byte recoveries = 0;
byte agentOf[HOSTS];
byte losses[HOSTS]; /* in a row */
bool spare[A];
bool greeted[A];
bool ready[HOSTS];
bool done[HOSTS];
bool ended[HOSTS];
bool gone[HOSTS];
bool lost[HOSTS];
bool unfit[HOSTS];
bool started = 0;
bool startErr = 0;
bool lostHost = 0;  /* startErr is the loss of a host */
bool deaths = 0;
bool left = 0;      /* a PE has left the job */
bool forTerm = 0;   /* PEs were killed so that a term may follow */
bool terminating = 0;
bool timer = 0;     /* what does not end is killed after a while */
bool counted = 0;
bool closes = 0;    /* the inputs of agents are closed */
bool over = 0;
byte plan[HOSTS];   /* the spare that takes a place */

byte failures = FAILURES;
byte i, j, x, y;    /* of steps of the launcher */
bool some;

#define MAYGOON (recoveries < SURVIVE && (!startErr || lostHost))

inline send(a, kind, when) {
	if
	:: linked[a] && alive[a] -> to[a]!kind, when
	:: else
	fi
}

inline closeInputs() {
	closes = 1;
	for (i : 0 .. A - 1) { closed[i] = closed[i] || linked[i] }
	i = 0
}

inline killPEs() {
	terminating = 1; timer = 1;
	if
	:: started ->
		for (i : 0 .. HOSTS - 1) {
			if :: !gone[i] -> send(agentOf[i], KILL, term) :: else fi
		}
		i = 0
	:: else
	fi
}

inline abandon() { startErr = 1; lostHost = 0; terminating = 1; timer = 1; closeInputs() }

/* spareFor sets y to a spare that has no place, or NONE: one that has greeted goes first. */
inline spareFor() {
	y = NONE;
	for (x : 0 .. M - 1) {
		some = 0;
		for (j : 0 .. HOSTS - 1) { some = some || plan[j] == x }
		if
		:: spare[x] && !some && (y == NONE || !greeted[y] && greeted[x]) -> y = x
		:: else
		fi
	}
	x = 0; j = 0; some = 0
}

/* lose ends a term that has lost a host. */
inline lose() {
	if :: !startErr -> startErr = 1; lostHost = 1 :: else fi;
	if :: started -> forTerm = 1; killPEs() :: else fi
}

inline cannotRun(p) {
	spareFor();
	if
	:: recoveries == 0 || terminating && !forTerm || !MAYGOON || y == NONE -> abandon()
	:: else -> unfit[p] = 1; lose()
	fi;
	y = 0
}

inline agentExited(p) {
	ended[p] = 1;
	linked[agentOf[p]] = 0;
	drain(agentOf[p]);
	gone[p] = done[p] || !started;
	if
	:: done[p] || !started && unfit[p]
	:: !done[p] && !started && !unfit[p] ->
		if
		:: recoveries == 0 || terminating || !MAYGOON -> abandon()
		:: else ->
			if
			:: !greeted[agentOf[p]] -> cannotRun(p)
			:: else -> lost[p] = 1; lose()
			fi
		fi
	:: !done[p] && started ->
		some = MAYGOON && (!timer || forTerm);
		if :: !startErr -> startErr = 1; lostHost = some || !deaths :: else fi;
		lost[p] = 1;
		broken[term] = 1;
#ifdef NO_SWEEP
		gone[p] = 1;
#else
		sweeping[agentOf[p]] = 1;
#endif
		if
		:: some && !forTerm -> forTerm = 1; killPEs()
		:: !some && !terminating -> killPEs()
		:: else
		fi;
		some = 0
	fi
}

inline peEnded(well) {
	if
	:: well -> left = 1
	:: !well && (terminating && !deaths || deaths)
	:: else ->
		deaths = 1;
		if :: MAYGOON -> forTerm = 1 :: else fi;
		killPEs()
	fi
}

#define NEEDSSPARE(p) (unfit[p] || lost[p] && losses[p] >= 2)

inline successors() {
	if
	:: !counted ->
		counted = 1;
		for (i : 0 .. HOSTS - 1) {
			if
			:: lost[i] -> losses[i]++
			:: !lost[i] && started -> losses[i] = 0
			:: else
			fi
		}
	:: else
	fi;
	for (i : 0 .. HOSTS - 1) { plan[i] = NONE }
	for (i : 0 .. 2 * HOSTS - 1) {
		if
		:: i < HOSTS && NEEDSSPARE(i) || i >= HOSTS && plan[i % HOSTS] == NONE && lost[i % HOSTS] -> spareFor(); plan[i % HOSTS] = y; y = 0
		:: else
		fi
	}
	i = 0
}

/* startPlace sees to an agent for a place in the next term. */
inline startPlace(p) {
	if
	:: plan[p] == NONE && gone[p] ->
		assert(agents < A);
		machine[agents] = machine[agentOf[p]];
		agentOf[p] = agents;
		linked[agents] = 1;
		agents++;
		if
		:: alive[agentOf[p]] = 1
		:: flaky[machine[agentOf[p]]] /* the command ends */
		:: flaky[machine[agentOf[p]]] -> mute[agentOf[p]] = 1
		fi
	:: plan[p] != NONE ->
		closed[agentOf[p]] = 1;
		if :: unfit[p] -> linked[agentOf[p]] = 0 :: else fi;
		agentOf[p] = plan[p];
		spare[plan[p]] = 0
	:: else
	fi
}

inline beginTerm() {
	some = 0;
	for (i : 0 .. HOSTS - 1) { some = some || plan[i] == NONE && NEEDSSPARE(i) }
	if
	:: some -> some = 0; abandon()
	:: else ->
		assert(!left);
		i = 0;
		do
		:: i == HOSTS -> break
		:: else -> startPlace(i); i++
		od;
		recoveries++; term++;
		joined[NAME(term)] = 0; closing[NAME(term)] = 0;
		started = 0; startErr = 0; lostHost = 0; deaths = 0; forTerm = 0; terminating = 0; timer = 0; counted = 0;
		for (i : 0 .. HOSTS - 1) {
			ready[i] = 0; ended[i] = 0; gone[i] = 0; lost[i] = 0; unfit[i] = 0;
#ifndef TWO_TERMS
			done[i] = 0;
#endif
			plan[i] = NONE;
			send(agentOf[i], CONFIG, term);
			for (j : 0 .. i - 1) { assert(machine[agentOf[i]] != machine[agentOf[j]]) }
		}
		i = 0; j = 0
	fi
}

#define AWAITED(p) (!done[p] && !gone[p] && !(lost[p] && MAYGOON) && !(lostHost && !started && (ready[p] || unfit[p])))

/* endTerm begins the next term when the PEs of all hosts are gone, or ends the agents. */
inline endTerm() {
	some = 0;
#ifdef EAGER
	some = 1;
	for (i : 0 .. HOSTS - 1) { some = some && AWAITED(i) }
#else
	for (i : 0 .. HOSTS - 1) { some = some || AWAITED(i) }
#endif
	i = 0;
	if
	:: some
#ifdef AFTER_EXIT
	:: !some && MAYGOON && (lostHost || deaths) ->
#else
	:: !some && MAYGOON && (lostHost || deaths) && !left ->
#endif
		successors();
		for (i : 0 .. HOSTS - 1) { some = some || !gone[i] && (lost[i] || unfit[i] && !done[i]) && plan[i] == NONE }
		i = 0;
		if
		:: some -> for (i : 0 .. HOSTS - 1) { plan[i] = NONE } i = 0
		:: else -> beginTerm()
		fi
	:: else ->
#ifndef DONE_WAITS
		timer = 1;
#endif
		closeInputs()
	fi;
	some = 0
}

/* after looks whether an event has ended a term, or the job. */
inline after() {
	endTerm();
	over = 1;
	for (i : 0 .. HOSTS - 1) { over = over && gone[i] }
	for (i : 0 .. A - 1) { over = over && !linked[i] && !sweeping[i] }
	i = 0;
	assert(!over || startErr || deaths || closing[NAME(term)] >= N)
}

#define DEAF(a) (cut[machine[a]] || mute[a])

#define LIVE(x) (state[x] >= JOINING && state[x] <= CLOSING)
#define KILLABLE(x) (LIVE(x) && !dying[x])
#if PER == 1
#define hasPEs(a) (state[a] != GONE)
#define canKill(a) KILLABLE(a)
#else
#define hasPEs(a) (state[2 * (a)] != GONE || state[2 * (a) + 1] != GONE)
#define canKill(a) (KILLABLE(2 * (a)) || KILLABLE(2 * (a) + 1))
#endif
#if HOSTS == 2
#define hasPlace(a) (agentOf[0] == a || agentOf[1] == a)
#else
#define hasPlace(a) (agentOf[0] == a || agentOf[1] == a || agentOf[2] == a)
#endif

inline kill(a) {
	for (x : PER * a .. PER * a + PER - 1) {
		if :: KILLABLE(x) -> dying[x] = 1 :: else fi
	}
	x = 0
}

inline drain(a) {
	do
	:: nempty(from[a]) -> from[a]?_, _
	:: empty(from[a]) -> break
	od
}

inline swept(a) {
	sweeping[a] = 0;
	for (i : 0 .. HOSTS - 1) { gone[i] = gone[i] || agentOf[i] == a }
	i = 0;
	after()
}

/* The launcher is one loop. Here are its events of place p, */
proctype place(byte p) {
	mtype kind;
	byte when = 0;
	do
	:: over -> break
	:: atomic {
			!over && linked[agentOf[p]] && !DEAF(agentOf[p]) && nempty(from[agentOf[p]]) ->
			from[agentOf[p]]?kind, when;
			assert(when == term);
			if
			:: kind == READY ->
				greeted[agentOf[p]] = 1;
				ready[p] = 1;
				some = lostHost || closes;
				for (i : 0 .. HOSTS - 1) { some = some || !ready[i] || gone[i] || unfit[i] }
				if
				:: !some ->
					for (i : 0 .. HOSTS - 1) { send(agentOf[i], START, term) }
					started = 1
				:: else
				fi;
				i = 0; some = 0
			:: kind == WELL -> peEnded(1)
			:: kind == FAILED -> peEnded(0)
			:: kind == DONE -> done[p] = 1
			fi;
			when = 0; kind = 0;
			after()
		}
	:: atomic {
			/* the command of the agent has ended */
			!over && linked[agentOf[p]] && !alive[agentOf[p]] && !DEAF(agentOf[p]) && empty(from[agentOf[p]]) ->
			agentExited(p);
			after()
		}
#ifndef NO_TIMER
	:: atomic {
			/* a timer ends it */
			!over && linked[agentOf[p]] && DEAF(agentOf[p]) &&
				(started && !done[p] || timer && (!forTerm || !MAYGOON || closes || !done[p])) ->
			closed[agentOf[p]] = 1;
			agentExited(p);
			after()
		}
	:: atomic {
			/* the agent has not answered in time */
			!over && linked[agentOf[p]] && DEAF(agentOf[p]) && !started && !ready[p] ->
			closed[agentOf[p]] = 1;
			cannotRun(p);
			agentExited(p);
			after()
		}
#endif
	od
}

/* and those of an agent that has no place. */
proctype idle(byte a) {
	do
	:: over -> break
	:: atomic {
			!over && linked[a] && !hasPlace(a) && (!DEAF(a) && !alive[a] || DEAF(a) && timer && closes) ->
			linked[a] = 0; closed[a] = 1; spare[a] = 0; drain(a);
			after()
		}
	:: atomic {
			/* another agent on the host kills what this one has left */
			!over && sweeping[a] && (cut[machine[a]] || !hasPEs(a)) ->
			if
			:: alive[a] || hasPEs(a) -> stranger[machine[a]] = 1
			:: else
			fi;
			swept(a)
		}
	:: atomic {
			!over && sweeping[a] && !cut[machine[a]] && canKill(a) -> kill(a)
		}
	od
}

inline tell(kind, when) {
	if
	:: linked[a] -> from[a]!kind, when
	:: else
	fi
}

inline reap(i) {
	atomic {
		state[PER * a + i] >= LEFT ->
		if
		:: state[PER * a + i] == LEFT -> tell(WELL, mine)
		:: else -> tell(FAILED, mine)
		fi;
		state[PER * a + i] = GONE; termOf[PER * a + i] = 0; dying[PER * a + i] = 0
	}
}

inline fork() {
	assert(!linked[a] || mine == term); /* T2 */
	for (i : 0 .. A - 1) {
		assert(i == a || machine[i] != machine[a] || !hasPEs(i) || stranger[machine[a]]) /* T1 */
	}
	for (i : PER * a .. PER * a + PER - 1) {
		assert(state[i] == GONE); /* T1 */
		state[i] = JOINING; termOf[i] = mine
	}
	i = 0
}

/* agent a starts PEs, follows them, and tells the launcher. */
proctype agent(byte a) {
	mtype kind;
	byte t = 0, mine = 0;
	(alive[a] || over);
	{
before: /* a term */
		do
#ifdef OLD_FRAME
		:: atomic { !cut[machine[a]] && to[a]??[CONFIG, t] ->
				to[a]??CONFIG, t; kind = CONFIG;
#else
		:: atomic { !cut[machine[a]] && nempty(to[a]) ->
				to[a]?kind, t;
#endif
				if
				:: kind == CONFIG -> assert(t > mine); mine = t; tell(READY, mine); t = 0; kind = 0; break
				:: else -> t = 0; kind = 0
				fi
			}
		:: !cut[machine[a]] && empty(to[a]) && closed[a] -> goto ending
		od;
		do
		:: atomic { !cut[machine[a]] && nempty(to[a]) ->
				to[a]?kind, t;
				assert(kind != KILL);
				if
				:: kind == CONFIG -> assert(t > mine); mine = t; tell(READY, mine); t = 0; kind = 0
				:: kind == START ->
					assert(t == mine);
					t = 0; kind = 0;
					fork();
					break
				fi
			}
		:: !cut[machine[a]] && empty(to[a]) && closed[a] -> goto ending
		od;
		do
		:: atomic { !cut[machine[a]] && nempty(to[a]) ->
				to[a]?kind, t;
				assert(kind == KILL && t == mine);
				kill(a);
				kind = 0; t = 0;
#ifdef FORKS_EARLY
				break
#endif
			}
		:: atomic { !cut[machine[a]] && empty(to[a]) && closed[a] && canKill(a) -> kill(a) }
		:: reap(0)
#if PER > 1
		:: reap(1)
#endif
		:: !hasPEs(a) -> break
		od;
		atomic { tell(DONE, mine) };
		goto before;
ending:
		skip
	} unless { !alive[a] };
	atomic { kind = 0; t = 0; mine = 0; alive[a] = 0 }
}

#ifdef ALONE
#define ALLJOINED(me) 1
#else
#define ALLJOINED(me) (joined[NAME(termOf[me])] >= N)
#endif

proctype pe(byte me) {
	byte o = 0;
end:
	do
	:: atomic { state[me] == JOINING && !cut[machine[me / PER]] ->
			joined[NAME(termOf[me])]++; members[termOf[me]]++; state[me] = JOINED
		}
	:: atomic { state[me] == JOINED && !cut[machine[me / PER]] && ALLJOINED(me) ->
			assert(members[termOf[me]] == N); /* T4 */
			for (o : 0 .. A * PER - 1) {
				assert(!LIVE(o) || termOf[o] == termOf[me] || !linked[o / PER] || !linked[me / PER]) /* T2 */
			}
			o = 0;
			closing[NAME(termOf[me])]++; state[me] = CLOSING
		}
	:: atomic { state[me] == CLOSING && !cut[machine[me / PER]] && closing[NAME(termOf[me])] >= N -> state[me] = LEFT }
	:: atomic { LIVE(me) && (dying[me] || FELLOWSFAIL && broken[termOf[me]] && !cut[machine[me / PER]]) ->
			broken[termOf[me]] = 1; state[me] = DEAD
		}
	:: atomic { state[me] >= LEFT && !alive[me / PER] -> /* the guard reaps it */
			state[me] = GONE; termOf[me] = 0; dying[me] = 0
		}
	od
}

inline loseHost(m) {
	for (i : 0 .. A - 1) {
		if
		:: alive[i] && machine[i] == m -> alive[i] = 0; mute[i] = silent && linked[i]; if :: drain(i) :: skip fi
		:: else
		fi;
		if
		:: machine[i] == m ->
			for (x : PER * i .. PER * i + PER - 1) {
				broken[termOf[x]] = 1; state[x] = GONE; termOf[x] = 0; dying[x] = 0
			}
		:: else
		fi
	}
	i = 0; x = 0;
	flaky[m] = 1; cut[m] = 0
}

proctype nature() {
	byte a = 0;
	bool silent = 0;
	do
	:: over -> break
	:: atomic {
			failures > 0 && !over ->
			failures--;
			do :: a < agents - 1 -> a++ :: break od;
			if
			:: KILLABLE(PER * a) -> dying[PER * a] = 1
			:: alive[a] -> alive[a] = 0; kill(a); if :: drain(a) :: skip fi
			:: alive[a] -> if :: silent = 1 :: silent = 0 fi; loseHost(machine[a]); silent = 0
			:: alive[a] && !cut[machine[a]] -> cut[machine[a]] = 1
			:: !alive[a] -> failures++
			fi;
			a = 0
		}
	od
}

/* A host that was cut off, or stopped, comes back. */
proctype back(byte m) {
	do
	:: cut[m] -> cut[m] = 0
	:: over && !cut[m] -> break
	od
}

init {
	atomic {
		for (i : 0 .. A - 1) { run agent(i); run idle(i) }
		for (i : 0 .. A * PER - 1) { run pe(i) }
		for (i : 0 .. HOSTS - 1) { agentOf[i] = i; plan[i] = NONE; run place(i) }
		for (i : 0 .. M - 1) { machine[i] = i; alive[i] = 1; linked[i] = 1; spare[i] = i >= HOSTS; greeted[i] = 1; run back(i) }
		i = 0;
		send(0, CONFIG, 1); send(1, CONFIG, 1);
		run nature()
	}
}
