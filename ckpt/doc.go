// Package ckpt saves the state of a job, so that a later job can go on from it. A program adds what it wants to keep to
// a Set, calls Restore, and works; now and then it calls Save.
//
//	set := ckpt.New(w, ckpt.In(ckpt.Dir("/shared/heat")))
//	set.Add("grid", ckpt.Sym(grid)) // on all PEs, in the same order
//	set.Add("step", ckpt.Shared(&step))
//	if _, _, err := set.Restore(ctx); err != nil { // the newest cut, or nothing
//		return err
//	}
//	for ; step < steps; step++ {
//		if step%100 == 0 {
//			if err := set.Save(ctx); err != nil {
//				return err
//			}
//		}
//		…
//	}
//
// What all PEs save at one moment between two barriers is a cut. It is there if its manifest is, and the manifest comes
// last. The two newest cuts are kept. In a job that was started with pgasrun -survive cuts are in the memory of hosts,
// too, where the PEs of the next term find them.
package ckpt

//	store.go              where cuts are kept (package internal/cuts)
//	item.go, items.go     what a program keeps
//	set.go                the items of a program, and what PEs agree on
//	save.go, restore.go   the two ways between items and files
//	background.go         what goes on after a Save
//	journal.go            what was done since the last cut
//	owner.go              which of two jobs saves in a Store
//	internal/memory       what is kept in the memory of hosts, with pgasrun -survive
