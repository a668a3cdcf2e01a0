package plural

import "testing"

func TestCount(t *testing.T) {
	for got, want := range map[string]string{
		Count(0, "PE"): "0 PEs", Count(1, "PE"): "1 PE", Count(uint64(2), "more PE"): "2 more PEs",
		Count(int32(1), "index"): "1 index", Count(3, "index"): "3 indexes", Count(-1, "element"): "-1 elements",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
