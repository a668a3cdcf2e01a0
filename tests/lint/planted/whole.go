package planted

//lint:file-ignore S1002 the comparisons are what this test is about

func first(yes bool) bool { return yes == true }

// Both has two faults that the comment of this file silences, and calls what would be unused otherwise.
func Both(yes bool) bool { return first(yes == false) }
