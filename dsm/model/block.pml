/*
 * One block of one PE in mode Paged (dsm/pager: block.c, fault.c, fence.c, map.c): the pager against the fences of the
 * PE, a thread of the program, and a goroutine that calls View or Update. Each step is one access to what the others
 * see: to the page table, to the memory of the block, to its flags under its lock, to a list.
 *
 * The block has two bytes. The PE's program counts in byte o: STORES stores, and LOADS loads. Other PEs count in byte
 * r, REMOTE times: w_r and w_o are the newest released version, and w_ver is its number. A fence process does FENCES
 * fences, each a release or an acquire, and a release at the end. The acquire is by a notice, or by the least time.
 * VIEWS calls of View or Update come beside, and ZAPS times the kernel takes the page from the page table. SIGNALS
 * times a signal wakes a thread in a fault, which faults again. With NEAR, the homes are on the PE's own host. EVICTS
 * times a copy is given back to bound memory, at any moment. With LOSES, the home of the block may be lost.
 *
 * known_r, stored, must are not in the code: what a load must see, and what a release must publish.
 *
 * Checked: a load sees what the fences before have acquired, and the program's own last store; a release publishes
 * every store before it; a store that is not published is not forgotten; no access waits for ever; a page that is given
 * up is known to be lost; what the program has mapped has pages that are known, so that they can be given back.
 *
 * Planted bugs, by -D: LETS_GO_FIRST (the thread goes on before the dirty list has the block), TWIN_LATE (the twin is
 * made after the page may be written), NO_MISSING (the kernel fills holes), MAPS_UNLOCKED (outside of the block's
 * lock), NO_GENERATION (it is not compared), DROPS_SHORT (a run is dropped one block short), BY_FLAG (a fetch protects
 * only a page whose flags say that it is writable), COUNTS_LATE (an acquire counts its fence after it has gone through
 * the copies), CLEANS_WRITABLE (a release takes a page for clean that may be written), NOT_HELD_BACK (a merge lets the
 * program write), CLEARS_LATE (a release notes that the page is protected after it has protected it), LOSES_OWN (a
 * fetch replaces own bytes), FORGETS_DIRTY (a release leaves what is still dirty out of the list), POISONS_FIRST (a
 * page fails before the loss is known), ZEROS_LATE (the generation is read after the time at which the block is zeros),
 * EVICTS_DIRTY, EVICTED_VALID (a copy without pages stays valid), EVICTED_ZEROS (it is taken for untouched),
 * EVICTS_UNLOCKED (its pages go before the block's lock is taken), TAKES_EVICTED (a fetch does not look whether the
 * pages have gone meanwhile).
 */

#ifndef STORES
#define STORES 2
#endif
#ifndef LOADS
#define LOADS 1
#endif
#ifndef FENCES
#define FENCES 2
#endif
#ifndef REMOTE
#define REMOTE 1
#endif
#ifndef VIEWS
#define VIEWS 0
#endif
#ifndef ZAPS
#define ZAPS 0
#endif
#ifndef SIGNALS
#define SIGNALS 0
#endif
#ifndef EVICTS
#define EVICTS 0
#endif

#define UNMAPPED 0
#define RO 1
#define RW 2
#define POISON 3

byte pte = UNMAPPED;
byte copy_r = 0, copy_o = 0, twin_r = 0, twin_o = 0;
bool busy = false; /* the block's lock */
bool valid = false, dirty = false, writable = false, mapped = false, touched = false, allocated = false;
bool in_dirty = false, in_copies = false, poisoned = false;
bool dirty_list = false, copies_list = false;
byte generation = 0, fences = 0, rts = 0, now = 0;
bool home = true; /* this PE is the home of the version that the block's flags tell of */
bool lost = false;

byte w_r = 0, w_o = 0, w_ver = 0;
bool mine = true; /* this PE has made the newest version */
bool turn = false;

byte known_r = 0, stored = 0;
bool waiting = false;
byte signals = 0;
byte through = 0;

chan faults = [4] of { bool, bool }; /* is it a write? was the page protected? */

#define LOCK atomic { !busy -> busy = true }
#define UNLOCK busy = false
#define CURRENT (generation + fences)

/* map.c: the kernel's calls. */
inline map_blocks(rw) {
	atomic {
		if
		:: pte == UNMAPPED -> pte = (rw -> RW : RO); waiting = false
		:: else -> waiting = false /* it is mapped already, as after a signal */
		fi
	}
}
inline map_writable() { atomic { if :: pte == RO -> pte = RW :: else fi; waiting = false } }
inline map_protect() { atomic { if :: pte == RW -> pte = RO :: else fi } }
inline map_drop() { atomic { if :: pte != POISON -> pte = UNMAPPED :: else fi } }

/* block.c: under the lock, so that only the program, the kernel and lists see the steps. */
inline add_dirty() { atomic { if :: !in_dirty -> in_dirty = true; dirty_list = true :: else fi } }
inline add_copies() { atomic { if :: !in_copies -> in_copies = true; copies_list = true :: else fi } }

inline make_twin() {
	if
	:: !dirty ->
		atomic { twin_r = copy_r; twin_o = copy_o };
		dirty = true;
		add_dirty()
	:: else
	fi
}

inline allocate() {
	if :: !allocated -> allocated = true :: else fi
}

inline validate_if_current() {
	atomic { valid = true; touched = true };
	add_copies();
	if :: CURRENT == g -> ok = true :: else -> valid = false; ok = false fi
}

inline take_zeros() {
	ok = false;
#ifndef ZEROS_LATE
	g = CURRENT;
#endif
	if
	:: !touched && now == 0 ->
#ifdef ZEROS_LATE
		g = CURRENT;
#endif
		validate_if_current()
	:: else
	fi
}

/* locate finds the home of the newest version, unless the lease of the one that is known is good. */
inline locate() {
	if
	:: f_rts < f_now -> atomic { f_rts = w_ver; f_home = mine }
	:: else
	fi
}

/* fetch gets a version, without the lock: this PE's own released bytes are those of the twin. */
inline fetch() {
	if
	:: f_home -> f_r = twin_r; f_o = twin_o
	:: else -> f_r = w_r; f_o = w_o
	fi
}

inline take() {
#ifdef NO_GENERATION
	g = CURRENT;
#endif
	if
	:: CURRENT != g -> ok = false
	:: else ->
		if
		:: valid -> ok = true
		:: else ->
#ifndef TAKES_EVICTED
			allocate();
#endif
			if
			:: dirty ->
#ifdef BY_FLAG
				if :: writable -> map_protect() :: else fi;
#else
				map_protect();
#endif
				writable = false;
				same = (copy_o == twin_o);
#ifdef LOSES_OWN
				same = true;
#endif
				atomic {
					if :: same -> copy_o = f_o :: else fi;
					copy_r = f_r;
					twin_r = f_r;
					twin_o = f_o
				}
			:: else -> atomic { copy_r = f_r; copy_o = f_o }
			fi;
			atomic { rts = f_rts; home = f_home };
			validate_if_current()
		fi
	fi
}

/* take_near copies the newest version straight into a clean copy, from the memory of a PE of the same host. */
inline take_near() {
	ok = false;
	if
	:: CURRENT == g && !valid && !dirty ->
		allocate();
		fetch();
		copy_r = f_r;
		copy_o = f_o;
		atomic { rts = f_rts; home = f_home };
		validate_if_current()
	:: CURRENT == g && valid -> ok = true
	:: else
	fi
}

/* bring makes the block valid, and keeps its lock. */
inline bring() {
	do
	:: true ->
		LOCK;
		allocate();
		if
		:: valid -> ok = true
		:: else ->
			take_zeros();
			if
			:: ok
			:: else ->
				atomic { g = CURRENT; f_now = now; f_rts = rts; f_home = home };
				UNLOCK;
#ifdef NEAR
				locate();
				LOCK;
				take_near();
				if
				:: !ok -> UNLOCK; fetch(); LOCK; take()
				:: else
				fi
#else
				locate();
				fetch();
				LOCK;
				take()
#endif
			fi
		fi;
		if :: ok -> break :: else -> UNLOCK fi
	od
}

inline go_on(protected) {
	assert(allocated);
	if
	:: protected -> map_writable()
	:: else -> map_blocks(dirty)
	fi
}

active proctype pager() {
	bool write, protected, ok, same, f_home;
	byte g, f_now, f_rts, f_r, f_o;
end:
	do
	:: faults ? write, protected ->
#ifdef LOSES
		if
		:: lost = false; goto give_up
		:: skip
		fi;
#endif
		bring();
#if defined(LETS_GO_FIRST) || defined(TWIN_LATE)
		if
		:: write && !dirty ->
#ifdef LETS_GO_FIRST
			atomic { twin_r = copy_r; twin_o = copy_o };
#endif
			mapped = true;
			if
			:: protected -> map_writable()
			:: else -> map_blocks(true)
			fi;
			writable = true;
#ifdef LETS_GO_FIRST
			UNLOCK; LOCK;
			dirty = true;
			add_dirty()
#else
			make_twin()
#endif
		:: else -> mapped = true; writable = dirty; go_on(protected)
		fi;
		UNLOCK
#else
		if :: write -> make_twin() :: else fi;
		atomic { mapped = true; writable = writable || dirty };
#ifdef MAPS_UNLOCKED
		same = dirty;
		UNLOCK;
		if :: protected -> map_writable() :: else -> map_blocks(same) fi
#else
		go_on(protected);
		UNLOCK
#endif
#endif
	od;
give_up:
	LOCK;
	poisoned = true;
	UNLOCK;
#ifdef POISONS_FIRST
	atomic { pte = POISON; waiting = false };
	lost = true
#else
	lost = true;
	atomic { pte = POISON; waiting = false }
#endif
}

/* fault sends a message and waits. */
inline fault(write, protected) {
	faults ! write, protected;
	waiting = true
}

inline wait() {
	if
	:: !waiting
	:: atomic { waiting && signals < SIGNALS && nfull(faults) -> signals++; waiting = false }
	fi
}

active proctype program() {
	byte stores = 0, loads = 0, k = 0;
	do
	:: stores < STORES ->
		stores++;
		do
		:: atomic { pte == RW -> stored++; copy_o = stored; break }
		:: atomic { pte == RO -> fault(true, true) }; wait()
#ifdef NO_MISSING
		:: atomic { pte == UNMAPPED && !allocated -> allocated = true; pte = RW }
		:: atomic { pte == UNMAPPED && allocated -> fault(true, false) }; wait()
#else
		:: atomic { pte == UNMAPPED -> fault(true, false) }; wait()
#endif
		:: atomic { pte == POISON -> assert(lost); goto gone }
		od
	:: loads < LOADS ->
		loads++;
		k = known_r;
		do
		:: atomic { pte == RO || pte == RW -> assert(copy_r >= k); assert(copy_o == stored); break }
#ifdef NO_MISSING
		:: atomic { pte == UNMAPPED && !allocated -> allocated = true; pte = RW }
		:: atomic { pte == UNMAPPED && allocated -> fault(false, false) }; wait()
#else
		:: atomic { pte == UNMAPPED -> fault(false, false) }; wait()
#endif
		:: atomic { pte == POISON -> assert(lost); goto gone }
		od
	:: stores == STORES && loads == LOADS -> break
	od;
gone:
	through++
}

#if ZAPS > 0
active proctype kernel() {
	byte zaps = 0;
	do
	:: zaps < ZAPS -> map_drop(); zaps++
	:: else -> break
	od
}
#endif

#if EVICTS > 0
/* evict is give_back of evict.c, which the pager calls after a fault and a fence at the end of an acquire. */
inline punch() { atomic { pte = UNMAPPED; copy_r = 0; copy_o = 0 } }

active proctype evict() {
	byte evicts = 0;
	do
	:: evicts < EVICTS ->
		evicts++;
#ifdef EVICTS_UNLOCKED
		if :: allocated && !dirty && !poisoned -> punch() :: else fi;
#endif
		LOCK;
		if
#ifdef EVICTS_DIRTY
		:: allocated && !poisoned ->
#else
		:: allocated && !dirty && !poisoned ->
#endif
#ifndef EVICTS_UNLOCKED
			punch();
#endif
			atomic {
				allocated = false;
#ifndef EVICTED_VALID
				valid = false;
#endif
				mapped = false;
				writable = false;
#ifdef EVICTED_ZEROS
				touched = false
#else
				touched = true
#endif
			}
		:: else
		fi;
		UNLOCK
	:: else -> break
	od
}
#endif

#if VIEWS > 0
/* view is View or Update: pager_known, pager_zeros, pager_install, pager_ready. */
active proctype view() {
	byte views = 0, g, f_now, f_rts, f_r, f_o;
	bool ok, same, had, could, write, f_home;
	do
	:: views < VIEWS ->
		views++;
		if :: write = true :: write = false fi;
		bring();
		UNLOCK;
		LOCK; /* ready */
		if
		:: valid ->
			assert(allocated);
			atomic { had = mapped; could = writable };
			if :: write -> make_twin() :: else fi;
			atomic { mapped = true; writable = writable || dirty };
			if
			:: !had -> map_blocks(dirty)
			:: had && writable && !could -> map_writable()
			:: else
			fi
		:: else
		fi;
		UNLOCK
	:: else -> break
	od
}
#endif

active proctype remote() {
	byte i = 0;
	do
	:: i < REMOTE ->
		i++;
		atomic { !turn -> w_r++; w_ver++; mine = false }
	:: else -> break
	od
}

/* written tells whether the block differs from its twin. */
inline written() {
	differs = false;
	atomic { had = dirty_list; dirty_list = false };
	if
	:: had ->
		LOCK;
		in_dirty = false;
#ifndef CLEARS_LATE
		writable = false;
#endif
		UNLOCK;
		map_protect();
		LOCK;
#ifdef CLEARS_LATE
		writable = false;
#endif
		differs = dirty && (copy_o != twin_o || copy_r != twin_r);
#ifdef CLEANS_WRITABLE
		if :: dirty && !differs -> dirty = false :: else fi;
#else
		if :: dirty && !differs && !writable -> dirty = false :: else fi;
#endif
#ifndef FORGETS_DIRTY
		if :: dirty -> add_dirty() :: else fi;
#endif
		UNLOCK
	:: else
	fi
}

/* merge makes a new version, with the turn. */
inline merge() {
	atomic { !turn -> turn = true };
	if
	:: mine -> atomic { n_r = twin_r; n_o = twin_o }
	:: else -> n_r = w_r; n_o = w_o
	fi;
	LOCK;
#ifndef NOT_HELD_BACK
	if :: writable -> map_protect(); writable = false :: else fi;
#endif
	if
	:: mine -> atomic { n_r = twin_r; n_o = twin_o }
	:: else
	fi;
	if :: copy_o != twin_o -> n_o = copy_o :: else fi;
	atomic { copy_o = n_o; copy_r = n_r; twin_o = n_o; twin_r = n_r };
	dirty = false;
	generation++;
	atomic { rts = w_ver + 1; home = true };
	atomic { valid = true; touched = true };
	add_copies();
	UNLOCK;
	atomic { w_r = n_r; w_o = n_o; w_ver++; mine = true; turn = false }
}

inline release() {
	must = stored;
	written();
	if :: differs -> merge() :: else fi;
	assert(w_o >= must)
}

/* acquire drops the copy if what another PE has released is newer. */
inline acquire() {
	atomic { n_r = w_r; n_ver = w_ver };
	if
	:: LOCK;
		n_rts = rts;
		UNLOCK;
		if
		:: n_ver > n_rts ->
			LOCK;
			atomic { valid = false; touched = true; generation++; rts = n_ver; home = false };
			add_copies();
			UNLOCK
		:: else
		fi
	:: now = n_ver
	fi;
#ifndef COUNTS_LATE
	fences++;
#endif
	gone = false;
	atomic { had = copies_list; copies_list = false };
	if
	:: had ->
		LOCK;
		in_copies = false;
		UNLOCK;
		LOCK;
		if :: rts < now -> valid = false :: else fi;
		if
		:: valid -> add_copies()
		:: !valid && mapped -> mapped = false; writable = false; gone = true
		:: else
		fi;
		UNLOCK
	:: else
	fi;
#ifdef COUNTS_LATE
	fences++;
#endif
#ifndef DROPS_SHORT
	if :: gone -> map_drop() :: else fi;
#endif
	if :: n_r > known_r -> known_r = n_r :: else fi
}

active proctype fence() {
	byte i = 0, must, n_r, n_o, n_ver, n_rts;
	bool had, gone, differs;
	do
	:: i < FENCES ->
		i++;
		if
		:: true -> release()
		:: !mine -> acquire()
		fi
	:: else -> break
	od;
	through == 1;
	release();
	assert(lost || w_o == stored)
}
