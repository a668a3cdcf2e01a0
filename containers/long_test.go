package containers_test

import "flag"

// Most planted bugs, which take minutes, are tried on demand only; one of each kind always is.
var long = flag.Bool("long", false, "run what takes minutes too")
