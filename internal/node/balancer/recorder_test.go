package balancer

import (
	"fmt"
	"testing"
	"time"

	"adshard/internal/node/control"
	"adshard/internal/node/control/indatabase"
	"adshard/internal/node/history"
	"adshard/internal/node/traffic"
)

// past returns the history that an admin port shows, without the present interval.
func past(t *testing.T, b *Balancer) (list []string) {
	t.Helper()
	h, err := adminControl{b}.BalanceHistory(t.Context())
	if err != nil || h.IntervalMs != 300_000 {
		t.Fatalf("%+v, %v", h, err)
	}
	for _, p := range h.Points {
		text := fmt.Sprintf("%d min: max/mean %.2f", p.AgeMs/60_000, p.MaxOverMean)
		if p.Traffic != nil {
			text += fmt.Sprintf(", %.0f a second, p99 %d µs", p.Traffic.PerSecond, p.Traffic.P99Micros)
		}
		list = append(list, text)
	}
	return list
}

// TestTheNextLeaderGoesOnWithTheHistory: the points of the last 24 hours outlive a restart and the move of the control state to etcd.
// A history that cannot be read is replaced.
func TestTheNextLeaderGoesOnWithTheHistory(t *testing.T) {
	r := newRig(t, 1)
	r.start()
	began := time.Now().Truncate(history.Interval).Add(-time.Hour)
	r.b.history.Add(began, history.Sample{MaxOverMean: 1.5, Bound: 1.25, Shadows: map[string]float64{"random": 2},
		Traffic: traffic.Rates{Over: time.Minute, PerSecond: 800, P50: time.Millisecond, P99: 4 * time.Millisecond}})
	r.Must(recorder{r.b}.add(t.Context(), began.Add(30*time.Minute)))
	first := func(list []string) string {
		if len(list) != 2 {
			t.Fatalf("%q", list)
		}
		return list[0][len("60 min"):]
	}
	want := first(past(t, r.b))
	if want != ": max/mean 1.50, 800 a second, p99 4000 µs" {
		t.Errorf("recorded %s", want)
	}
	r.stop()
	r.start()
	if got := first(past(t, r.b)); got != want {
		t.Errorf("after a restart: %s, want %s", got, want)
	}
	if p := r.b.history.List(time.Now())[0]; p.Bound != 1.25 || p.Shadows["random"] != 2 {
		t.Errorf("after a restart: %+v", p)
	}
	r.stop()
	r.cfg.Control = startEtcd(t).URL()
	h, stop := r.standBy(r.DB)
	within(t, "it leads", func() bool { return leads(t, h) > 0 })
	if got := first(past(t, h.last.Load())); got != want {
		t.Errorf("with etcd: %s, want %s", got, want)
	}
	stop()
}

// TestADamagedHistory: a balancer leads although it cannot read the history, and begins a new one.
func TestADamagedHistory(t *testing.T) {
	r := newRig(t, 1)
	r.start()
	r.Must(r.b.leadership.Save(t.Context(), historyKey, []byte("{")))
	r.stop()
	r.start()
	if got := past(t, r.b); len(got) != 0 {
		t.Errorf("%q", got)
	}
	r.Must(recorder{r.b}.add(t.Context(), time.Now()))
	if got := past(t, r.b); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestHistoryOfAReplacedLeader: a leader that was replaced adds nothing to the saved history. Without a database it goes on, and loses no
// more than the time until the next interval.
func TestHistoryOfAReplacedLeader(t *testing.T) {
	r := newRig(t, 1)
	db := &ailing{Store: r.DB}
	h, ended, cancel := r.candidate(db)
	within(t, "it leads", func() bool { return leads(t, h) > 0 })
	b, now := h.last.Load(), time.Now().Truncate(history.Interval)
	db.readOnly.Store(true)
	r.Must(recorder{b}.add(t.Context(), now.Add(-time.Hour)))
	db.readOnly.Store(false)
	if _, err := indatabase.New(r.DB, r.cfg.StateKey, control.DefaultTimes()).TakeOver(t.Context(), control.Candidate{Address: "10.0.0.9:7000"}); err != nil {
		t.Fatal(err)
	}
	if err := (recorder{b}).add(t.Context(), now); !isReplaced(err) {
		t.Errorf("a replaced leader saves its history: %v", err)
	}
	cancel()
	r.Must(<-ended)
}

// TestSamplesShowTheLoad: from the first plan on, a sample has the balance of the shards.
func TestSamplesShowTheLoad(t *testing.T) {
	r := newRig(t, 1)
	r.Write(4, 2, 2, 1_000_000)
	r.start()
	if s := (recorder{r.b}).sample(); s.MaxOverMean != 0 || s.Traffic.Over != 0 {
		t.Errorf("before the plan: %+v", s)
	}
	r.slave("a")
	within(t, "it has a plan", func() bool { return recorder{r.b}.sample().MaxOverMean >= 1 })
}
