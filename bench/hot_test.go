package bench

import "testing"

func TestHotMeasuresOthers(t *testing.T) {
	r, err := do(t, HotCommand(), "--adshard", program(t), "--keywords", "20", "--others", "2", "--turns", "1", "--duration", "1s")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"others, median", "others, p99", "others, changes", "hot group, changes", "groups given to a slave"} {
		if f, ok := r.Find("20 keywords, adshard: " + name); !ok || f.Value <= 0 {
			t.Errorf("%s is %v", name, f.Value)
		}
	}
	for _, args := range [][]string{{"--source", ".", "--adshard", "x"}, {"--keywords", "0"}, {"--adshard", "/nonexistent"}} {
		if _, err := do(t, HotCommand(), args...); err == nil {
			t.Errorf("%v: accepted", args)
		}
	}
}
