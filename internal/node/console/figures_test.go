package console

import "testing"

func TestDigits(t *testing.T) {
	for _, c := range []struct {
		x    float64
		n    int
		want string
	}{
		{0, 3, "0"}, {0.05, 3, "0.05"}, {0.0000123456, 3, "0.0000123"}, {0.9106, 3, "0.911"}, {4.342, 3, "4.34"}, {9.999, 3, "10"}, {12.3, 3, "12.3"}, {100, 3, "100"},
		{999.6, 3, "1,000"}, {1600, 3, "1,600"}, {8589.9, 3, "8,590"}, {123456.7, 3, "123,457"}, {1e12, 3, "1,000,000,000,000"},
	} {
		if got := digits(c.x, c.n); got != c.want {
			t.Errorf("%v in %d: %s, want %s", c.x, c.n, got, c.want)
		}
	}
	if got := millis(1_600_000); got != "1,600 ms" {
		t.Error(got)
	}
}
