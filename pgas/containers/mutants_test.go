package containers_test

import "flag"

// long has every planted bug tried.
var long = flag.Bool("long", false, "try all planted bugs, not the first of each kind alone")
