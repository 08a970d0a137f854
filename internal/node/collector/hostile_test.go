package collector_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"adshard/internal/node/collector"
)

// TestBodyOfManyEvents: a body of a million elements takes a few times its size in memory, as for
// copies of it, and not the memory of a million events.
func TestBodyOfManyEvents(t *testing.T) {
	for _, element := range []string{"{}", "0", "null", "[]", `{"kind":"click","token":"x"}`} {
		body := []byte(`{"events":[` + strings.Repeat(element+",", collector.MaxBody/(len(element)+1)-10) + element + `]}`)
		if len(body) > collector.MaxBody {
			t.Fatal(len(body))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := collector.Parse(body)
		runtime.ReadMemStats(&after)
		took := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d bytes: %v", element, took, err)
		if err == nil || took > 6*collector.MaxBody {
			t.Errorf("%s: a body of %d bytes takes %d bytes of memory: %v", element, len(body), took, err)
		}
	}
}

// TestStrangersDoNotSeeTheDatabase: a client that sends events learns that the database is
// unavailable, but not where it is.
func TestStrangersDoNotSeeTheDatabase(t *testing.T) {
	r := newRig(t, 1)
	c := r.run("collector-0")
	file := r.Path + "-events"
	r.Must(os.Rename(file, file+".away"))
	status, _, text := r.post(c.URL(), batch(event("click", r.token(1, 20_000))))
	if status != 503 || strings.Contains(text, r.Path) || strings.Contains(text, "sqlite") {
		t.Errorf("%d %s", status, text)
	}
}
