// Package cuts keeps the state of jobs in a Store: an image of each PE at a cut, and a manifest. It knows nothing of
// PEs but their numbers, so pgasrun can list and check cuts without a job. Programs use package ckpt.
//
//	c000012-t0003/pe00007.img   what PE 7 has saved at version 12 in term 3
//	c000012-t0003.json          the manifest; the cut is there if it is
//	job.json                    which job has begun last with the Store
package cuts

//	store.go, dir.go   where files are kept
//	manifest.go        what a cut consists of
//	images.go          reads the images of a cut
//	list.go            which cuts there are, and whether they are whole
//	vault              keeps images in memory that outlives PEs
//	old.go             removes cuts that are not needed any more
