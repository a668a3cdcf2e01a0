package kinds

// A Paper describes locks.
type Paper struct {
	Key     string // what comments call the paper, before the number of a section
	Authors string
	Title   string
	Where   string // where and when the paper appeared
}

var (
	rmaLocks = Paper{
		Key: "rma-locks", Authors: "P. Schmid, M. Besta, T. Hoefler",
		Title: "High-Performance Distributed RMA Locks", Where: "HPDC 2016",
	}
	nCoSED = Paper{
		Key: "n-cosed", Authors: "S. Narravula, A. Mamidala, A. Vishnu, K. Vaidyanathan, D. K. Panda",
		Title: "High Performance Distributed Lock Management Services using Network-based Remote Atomic Operations",
		Where: "CCGrid 2007",
	}
	aLock = Paper{
		Key: "alock", Authors: "A. Baran, J. Nelson-Slivon, L. Tseng, R. Palmieri",
		Title: "ALock: Asymmetric Lock Primitive for RDMA Systems", Where: "SPAA 2024",
	}
)

// Papers returns the papers of all kinds.
func Papers() []Paper { return []Paper{rmaLocks, nCoSED, aLock} }
