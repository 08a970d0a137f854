package processtest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// costly returns the longest query that the port accepts, of the most frequent words and with everything that makes it expensive:
// each word has its variants, all slots are requested, and all counts must be exact.
func costly() string {
	words := strings.Join(vocabulary, " ")
	for len(words) < 1024 {
		words += " " + vocabulary[len(words)%len(vocabulary)]
	}
	return "/v1/search?slots=20&variants=synonym&timeout_ms=1000&q=" + url.QueryEscape(words[:1024])
}

// got sends a request as a tenant and returns the status, or 0 if there was none. It reports anything other than an answer or a
// refusal.
func got(t *testing.T, client *http.Client, tenant int, url string) int {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Error(err)
		return 0
	}
	r.Header.Set("X-Tenant", fmt.Sprint("tenant-", tenant))
	resp, err := client.Do(r)
	if err != nil {
		t.Errorf("neither answered nor refused: %v", err)
		return 0
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	switch resp.StatusCode {
	case http.StatusOK, http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		t.Errorf("status %d: %.200s", resp.StatusCode, body)
	}
	return resp.StatusCode
}

// TestCostliestQueries: 200 of the most expensive queries a second, and explanations of them, are each answered or refused before the
// client gives up. Other queries are answered meanwhile. Then many distinct queries follow, each from another tenant: what the
// master, the slaves and the balancer store about them is bounded. GROWTH_LONG=1 sends a million.
func TestCostliestQueries(t *testing.T) {
	w := newWorld(t, 200)
	c := newCluster(t, w)
	c.startBalancer()
	c.slave[0].Admin, c.slave[1].Admin = anyPort, anyPort
	c.startSlave(0)
	c.startSlave(1)
	base := c.startMaster()
	w.follows(base)
	client := &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	var answered, refused, others atomic.Int64
	tick := time.NewTicker(time.Second / 200)
	defer tick.Stop()
	for n := range 200 {
		<-tick.C
		all.Go(func() {
			address := base + costly() + "&counts=exact"
			if n%10 == 0 {
				address = c.health + strings.Replace(costly(), "/search?", "/explain?", 1) + "&limit=1000"
			}
			if got(t, client, n, address) == http.StatusOK {
				answered.Add(1)
			} else {
				refused.Add(1)
			}
			if n%10 == 5 && got(t, client, n, base+"/v1/search?q=usb&timeout_ms=5000") == http.StatusOK {
				others.Add(1)
			}
		})
	}
	all.Wait()
	t.Logf("%d answered, %d refused; %d others answered", answered.Load(), refused.Load(), others.Load())
	if answered.Load() == 0 || others.Load() == 0 {
		t.Errorf("%d are answered, and %d others", answered.Load(), others.Load())
	}
	w.compare(base)
	grows(t, c, client, base)
}

// grows sends distinct queries and compares the memory of the processes when their caches are full with that at the end.
func grows(t *testing.T, c *cluster, client *http.Client, base string) {
	queries, quarter := 2000, map[string]uint64{}
	if os.Getenv("GROWTH_LONG") != "" {
		queries = 1_000_000
	}
	admins := map[string]string{"master": c.health, "balancer": c.admin, "slave-0": c.parts["slave-0"].line("admin "), "slave-1": c.parts["slave-1"].line("admin ")}
	var all sync.WaitGroup
	var next atomic.Int64
	ask := func(to int) {
		for range 8 {
			all.Go(func() {
				for n := int(next.Add(1)); n <= to; n = int(next.Add(1)) {
					got(t, client, n, fmt.Sprintf("%s/v1/search?q=usb+word%d+%s&timeout_ms=5000", base, n, vocabulary[n%len(vocabulary)]))
				}
			})
		}
		all.Wait()
		next.Store(int64(to))
	}
	ask(queries / 4)
	for name, admin := range admins {
		quarter[name] = heapOf(t, admin)
	}
	ask(queries)
	for name, admin := range admins {
		const most = 32 << 20
		now := heapOf(t, admin)
		t.Logf("%s: %d MiB, then %d", name, quarter[name]>>20, now>>20)
		if now > quarter[name]+most {
			t.Errorf("%s has %d MiB after %d queries, and had %d after a quarter of them", name, now>>20, queries, quarter[name]>>20)
		}
	}
}

// heapOf returns the heap size at which a process starts its next garbage collection. It depends only on how much the last collection
// left alive, and not on garbage since then.
func heapOf(t *testing.T, admin string) uint64 {
	t.Helper()
	for line := range strings.Lines(read(t, admin+"/metrics")) {
		if text, ok := strings.CutPrefix(line, "go_memstats_next_gc_bytes "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				t.Fatal(err)
			}
			return uint64(n)
		}
	}
	t.Fatal("there is no metric of the heap")
	return 0
}

// TestKilledForMemory: a slave that the kernel kills because its control group has used up its memory is like one that was killed for
// another reason. Answers lack it until it is back, and then nothing is lost or wrong.
func TestKilledForMemory(t *testing.T) {
	w := newWorld(t, 100)
	c := newCluster(t, w)
	c.startBalancer()
	c.startSlave(0)
	c.startSlave(1)
	base := c.startMaster()
	w.follows(base)
	p := c.parts["slave-0"]
	confine(t, p, 1<<20)
	for n := 0; ; n++ { // changes and queries need memory
		select {
		case <-p.ended:
		default:
			if n > 2000 {
				t.Fatal("it lives on with less memory than it needs")
			}
			w.write(n%100, n%100+1)
			ask(t, base, "usb "+vocabulary[n%len(vocabulary)], "", 0)
			continue
		}
		break
	}
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Fatalf("it was not killed: %v", p.cmd.ProcessState)
	}
	if a := ask(t, base, "usb", "", 0); a.Coverage.Complete {
		t.Error("complete without one of two slaves")
	}
	c.startSlave(0)
	w.follows(base)
	w.compare(base)
}

// set writes a number to a file of a control group. The file does not exist if the group is not real.
func set(group, file string, n int) error {
	f, err := os.OpenFile(filepath.Join(group, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Itoa(n))
	return errors.Join(err, f.Close())
}

// confine puts a process into its own control group, which may use the given number of bytes more. It supports cgroup versions 1 and
// 2.
func confine(t *testing.T, p *process, most int) {
	t.Helper()
	for dir, limit := range map[string]string{"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"} {
		group := filepath.Join(dir, fmt.Sprint("adshard-test-", p.cmd.Process.Pid))
		if err := os.Mkdir(group, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group) })
		if set(group, limit, most) == nil && set(group, "cgroup.procs", p.cmd.Process.Pid) == nil {
			return
		}
	}
	t.Skip("a limit on memory needs the right to make a cgroup")
}
