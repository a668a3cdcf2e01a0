package compare

// Notified puts: against the same data with a flag behind a quiet, which is what one-sided access has without
// them, and against messages. On one host and on two.

// notifySizes are the operands that are compared: within an entry of a queue, short, and long.
var notifySizes = []struct {
	bytes int
	name  string
}{{8, "8 B"}, {1 << 10, "1 KiB"}, {8 << 10, "8 KiB"}, {64 << 10, "64 KiB"}, {mebi, "1 MiB"}}

func rowsOfNotes() (rows []row) {
	for _, f := range []struct {
		place, ours, osh, mpi string
		flags, messages       float64 // the goals
	}{
		{"2 PEs", of("ours", 2), of("osh", 2), of("mpi", 2), 0, 3},
		{twoHosts, ofHosts("ours", 2), ofHosts("osh", 2), ofHosts("mpi", 2), 2, 1},
	} {
		group := "notify, " + f.place
		for _, size := range notifySizes {
			least := f.flags
			if size.bytes > 1<<10 { // the goal is of small ones
				least = 0
			}
			ours := point{f.ours, "notify-pingpong", size.bytes}
			rows = append(rows,
				noteRow(group, size.name+", against a put, a quiet and a flag of ours", ours, point{f.ours, "quiet-pingpong", size.bytes}, least),
				noteRow(group, size.name+", against the same by OSHMEM", ours, point{f.osh, "quiet-pingpong", size.bytes}, least),
				noteRow(group, size.name+", against put-with-signal of ours", ours, point{f.ours, "signal-pingpong", size.bytes}, 0),
				noteRow(group, size.name+", against MPI's send and receive", ours, point{f.mpi, "sendrecv-pingpong", size.bytes}, f.messages),
				noteRow(group, size.name+" got, against a get and a flag of ours", point{f.ours, "get-notify-pingpong", size.bytes}, point{f.ours, "get-flag-pingpong", size.bytes}, 0))
		}
	}
	return rows
}

func noteRow(group, name string, ours, theirs point, least float64) row {
	return row{group, name, ours, []point{theirs}, least, goalOf(least), perOperation}
}
