package planted

import "testing"

func TestOnly(*testing.T) { onlyTestsCall() }
