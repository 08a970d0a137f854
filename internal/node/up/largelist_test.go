package up

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"adshard/blocklist"
)

// TestLargeListInAnswers: a list of as many entries as it may have is in the answers, and so is a change of one of them. It tells how long that
// took, from the answer to the change and from the call, and the processor time of the whole cluster.
func TestLargeListInAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it takes seconds")
	}
	cfg := upConfig(t, adsDB(t, 2)) // whose ads lead to a.example
	c := startUp(t, cfg)
	shown := func() string { return c.advertisers(t, "/v1/search?q=usb+cable&timeout_ms=5000&block=large") }
	change := func(what, method, path, body, want string) {
		t.Helper()
		begun, worked := time.Now(), processor(t)
		if status, answer := send(t, method, c.admin+path, body); status != http.StatusOK {
			t.Fatalf("%s: %d %.200s", what, status, answer)
		}
		called := time.Now()
		for end := called.Add(patience); shown() != want; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %q are shown, not %q", what, shown(), want)
			}
		}
		t.Logf("%s: answered after %v, in answers %v later; %v of processor time", what, called.Sub(begun).Round(time.Millisecond),
			time.Since(called).Round(time.Millisecond), (processor(t) - worked).Round(time.Millisecond))
	}
	const all = "advertiser 1, advertiser 0"
	heap := heapMB()
	change("a million entries", "POST", "/v1/blocklists", largeList("large", blocklist.MaxEntries), all)
	t.Logf("heap: %d MB more", heapMB()-heap)
	change("one entry for another", "PATCH", "/v1/blocklists/large", `{"remove":{"domains":["5.host.example"]},"add":{"domains":["a.example"]}}`, "")
	change("and back", "PATCH", "/v1/blocklists/large", `{"add":{"domains":["5.host.example"]},"remove":{"domains":["a.example"]}}`, all)
	change("a million others", "PATCH", "/v1/blocklists/large", strings.Replace(largeList("", blocklist.MaxEntries-1), `[`, `["a.example",`, 1), "")
}

// largeList is the body of a list of n domains; "": of a change of one.
func largeList(name string, n int) string {
	var b strings.Builder
	b.WriteByte('{')
	if name != "" {
		fmt.Fprintf(&b, `"name":%q,`, name)
	}
	b.WriteString(`"domains":[`)
	for i := range uint64(n) {
		if i > 0 {
			b.WriteByte(',')
		}
		at := i
		if name == "" {
			at = i * 7
		}
		fmt.Fprintf(&b, `"%d.host.example"`, at)
	}
	b.WriteString("]}")
	return b.String()
}

// processor is the processor time that this process has taken.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func heapMB() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc >> 20)
}
