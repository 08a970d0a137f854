package collector_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adshard/backend"
	"adshard/events/store"
	"adshard/internal/clustertest"
	"adshard/internal/node/collector"
	"adshard/internal/node/database"
	"adshard/internal/node/porttest"
)

// TestEvents: each event is counted once, and the answer says what happened to each.
func TestEvents(t *testing.T) {
	r := newRig(t, 2)
	c, second := r.run("collector-0"), r.run("collector-1")
	one, other := r.token(1, 20_000), r.token(2, 10_000)
	body := batch(event("impression", one), event("click", one), event("click", "x"), event("click", one), event("impression", other))
	status, a, text := r.post(c.URL(), body)
	if status != 200 || a.Counted != 3 || a.Duplicate != 1 || len(a.Refused) != 1 || a.Refused[0].Index != 2 || a.Refused[0].Reason != "malformed" {
		t.Fatalf("%d %s", status, text)
	}
	if status, a, text = r.post(second.URL(), body); status != 200 || a.Counted != 0 || a.Duplicate != 4 {
		t.Errorf("at another collector: %d %s", status, text)
	}
	sums, err := second.Store().Sums(t.Context(), 0)
	today := store.Day(time.Now().Unix() / (24 * 60 * 60))
	want := []store.Sum{{Campaign: 1, Day: today, Impressions: 1, Clicks: 1, Spend: 20_000}, {Campaign: 2, Day: today, Impressions: 1}}
	if err != nil || !reflect.DeepEqual(sums, want) {
		t.Errorf("%v, %v, want %v", sums, err, want)
	}
}

// TestRefusedRequests: a body that is not a valid batch is refused as a whole, as the API document
// says.
func TestRefusedRequests(t *testing.T) {
	r := newRig(t, 1)
	c := r.run("collector-0")
	good := event("click", r.token(1, 20_000))
	for body, want := range map[string]int{
		"": 400, "x": 400, "{}": 400, `[]`: 400, `{"events":[]}`: 400, `{"events":null}`: 400, batch(good) + "x": 400, `{"events":[` + good: 400,
		batch(good, event("view", "x")): 400, batch(good, `{"kind":"click","token":"x","price":1}`): 400, batch(good, `{"kind":1}`): 400,
		batch(good, `{"kind":"click"}`): 400, batch(good, `{"kind":"click","token":null}`): 400,
		`{"event":[` + good + `]}`: 400, batch(strings.Repeat(good+",", collector.MaxEvents) + good): 400, strings.Repeat(" ", collector.MaxBody+1): 413,
	} {
		if status, _, text := r.post(c.URL(), body); status != want {
			t.Errorf("%.60s: %d %s", body, status, text)
		}
	}
	for _, q := range []struct {
		method, path, kind string
		want               int
	}{
		{"GET", "/v1/events", "", 405}, {"PUT", "/v1/events", "application/json", 405}, {"POST", "/v1/events?x=1", "application/json", 400},
		{"POST", "/v1/events", "text/html", 415}, {"POST", "/v1/events", "text/plain;charset=latin1", 415}, {"POST", "/v1/events", "", 415},
		{"OPTIONS", "/v1/events", "", 405}, {"POST", "/v1/search", "application/json", 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), q.method, c.URL()+q.path, strings.NewReader(batch(good)))
		r.Must(err)
		req.Header.Set("Content-Type", q.kind)
		res, err := http.DefaultClient.Do(req)
		r.Must(err)
		res.Body.Close()
		if res.StatusCode != q.want {
			t.Errorf("%s %s: %d, want %d", q.method, q.path, res.StatusCode, q.want)
		}
	}
	if sum := total(t, c.Store()); sum.Clicks != 0 {
		t.Errorf("%d clicks of refused batches are counted", sum.Clicks)
	}
}

// TestDatabaseAway: while the database of events is unavailable, batches are refused with 503 and
// none is partly counted. When they are sent again after it is back, each event counts once.
func TestDatabaseAway(t *testing.T) {
	r := newRig(t, 1)
	c := r.run("collector-0")
	body := batch(event("click", r.token(1, 20_000)), event("impression", r.token(1, 20_000)))
	file := r.Path + "-events"
	r.Must(os.Rename(file, file+".away"))
	for range 3 {
		if status, _, text := r.post(c.URL(), body); status != 503 || !strings.Contains(text, "unavailable") {
			t.Fatalf("%d %s", status, text)
		}
	}
	if why := c.Ready(); len(why) == 0 {
		t.Error("it says that it is ready")
	}
	r.Must(os.Rename(file+".away", file))
	if status, a, text := r.post(c.URL(), body); status != 200 || a.Counted != 2 {
		t.Errorf("%d %s", status, text)
	}
	if sum := total(t, c.Store()); sum.Clicks != 1 || sum.Impressions != 1 {
		t.Errorf("%+v", sum)
	}
}

// TestTooMany: batches beyond the number of places are refused at once.
func TestTooMany(t *testing.T) {
	r := newRig(t, 1)
	c := r.run("collector-0")
	for range cap(c.Places()) {
		c.Places() <- struct{}{}
	}
	if status, _, text := r.post(c.URL(), batch(event("click", r.token(1, 20_000)))); status != 503 || !strings.Contains(text, "overloaded") {
		t.Errorf("%d %s", status, text)
	}
	for range cap(c.Places()) {
		<-c.Places()
	}
}

// TestBudgets: a campaign is marked after the click that spends the last of its budget, and not
// earlier. The mark is removed when the budget is raised. A removed campaign does not get in the
// way of others.
func TestBudgets(t *testing.T) {
	r := newRig(t, 3)
	c := r.run("collector-0")
	r.remove("C1")
	click := func(campaign, price uint64) {
		t.Helper()
		if status, a, text := r.post(c.URL(), batch(event("click", r.token(campaign, price)))); status != 200 || a.Counted != 1 {
			t.Fatalf("%d %s", status, text)
		}
	}
	click(1, 49_999)
	click(2, 60_000) // of the removed campaign
	time.Sleep(3 * collector.CheckEvery)
	if r.exhausted(1) {
		t.Fatal("marked too soon")
	}
	click(1, 1)
	eventually(t, "the campaign is not marked", func() bool { return r.exhausted(1) })
	if r.exhausted(3) {
		t.Error("another campaign is marked")
	}
	tx, err := r.DB.Begin(t.Context())
	r.Must(err)
	_, err = tx.Campaign(t.Context(), 1, "C0", backend.CampaignPatch{DailyBudget: backend.To(uint64(60_000))})
	r.Must(err)
	r.Must(tx.Commit(t.Context()))
	r.Must(c.Sweep(t.Context()))
	if r.exhausted(1) {
		t.Error("still marked, with a larger budget")
	}
}

func (r *rig) remove(campaign string) {
	tx, err := r.DB.Begin(r.TB.Context())
	r.Must(err)
	_, err = tx.Campaign(r.TB.Context(), 1, campaign, backend.CampaignPatch{Status: backend.Remove})
	r.Must(err)
	r.Must(tx.Commit(r.TB.Context()))
}

func (r *rig) exhausted(campaign uint64) bool {
	r.TB.Helper()
	list, err := collector.Budgets(r.TB.Context(), r.DB, campaign)
	if err != nil || len(list) != 1 {
		r.TB.Fatal(list, err)
	}
	return list[0].Exhausted
}

// TestKill: clients send events to two collectors and repeat them until they are acknowledged,
// while the processes are killed. Each event counts once, and campaigns that spent their budget are
// marked.
func TestKill(t *testing.T) {
	const clients, batches, size, campaigns = 4, 60, 20, 5
	r := newRig(t, campaigns)
	var processes [2]*clustertest.Process
	var urls [2]string
	for i := range processes {
		name, address := fmt.Sprint("collector-", i), porttest.Address(t)
		urls[i] = "http://" + address
		processes[i] = clustertest.NewProcess(t, "collector", name, "collector listening", map[string]any{
			"name": name, "db": r.URL(), "http": address, "admin": ""})
		r.Must(processes[i].Start())
	}
	var tokens [clients][batches]string
	ring := r.ring()
	for i := range tokens {
		for j := range tokens[i] {
			var list []string
			for n := range size {
				list = append(list, event("click", r.sign(ring, uint64(1+n%campaigns), 1000)))
			}
			tokens[i][j] = batch(list...)
		}
	}
	var sent sync.WaitGroup
	for i := range clients {
		sent.Go(func() { sendUntilCounted(t, urls, tokens[i][:]) })
	}
	done := make(chan struct{})
	go func() { sent.Wait(); close(done) }()
	for kills := 0; ; kills++ {
		select {
		case <-done:
			if kills == 0 {
				t.Error("nobody was killed")
			}
			r.checkKilled(clients*batches*size, campaigns)
			return
		case <-time.After(time.Duration(20+rand.IntN(120)) * time.Millisecond):
		}
		p := processes[kills%2]
		if kills%3 == 2 { // the collector may hold the lock of the database
			r.Must(p.Signal(syscall.SIGSTOP))
			time.Sleep(pauseOfACollector())
			r.Must(p.Signal(syscall.SIGCONT))
			continue
		}
		p.Kill()
		r.Must(p.Start())
	}
}

// pauseOfACollector is how long a collector is stopped.
func pauseOfACollector() time.Duration {
	if os.Getenv("BUDGETS_LONG") != "" {
		return 30 * time.Second
	}
	return 300 * time.Millisecond
}

// checkKilled checks the sums and waits for the marks.
func (r *rig) checkKilled(clicks, campaigns int) {
	s, err := database.OpenEvents(r.TB.Context(), "sqlite:"+filepath.Clean(r.Path)+"-events")
	r.Must(err)
	defer s.Close()
	if sum := total(r.TB, s); sum.Clicks != uint64(clicks) || sum.Spend != uint64(clicks)*1000 {
		r.TB.Errorf("%d clicks of %d are counted, %d micros", sum.Clicks, clicks, sum.Spend)
	}
	for c := range campaigns {
		eventually(r.TB, fmt.Sprintf("campaign %d is not marked", c+1), func() bool { return r.exhausted(uint64(c + 1)) })
	}
}

// sendUntilCounted sends each body to the two collectors in turn until one acknowledges it.
func sendUntilCounted(t *testing.T, urls [2]string, bodies []string) {
	for _, body := range bodies {
		began := time.Now()
		for try := 0; ; try++ {
			res, err := http.Post(urls[try%2]+"/v1/events", "application/json", strings.NewReader(body))
			if err == nil {
				res.Body.Close()
				if res.StatusCode == http.StatusOK {
					time.Sleep(5 * time.Millisecond) // leaves time for a kill
					break
				}
			}
			if time.Since(began) > clustertest.Patience {
				t.Error("a batch is not acknowledged", err)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}
