package collector_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/events"
	"adshard/events/store"
	"adshard/events/token"
	"adshard/fault"
	"adshard/ingest"
	"adshard/internal/node/collector"
	"adshard/internal/node/ports"
	"adshard/quality/revise"
)

// learner is a collector that learns only when the test says so, on a database of one of the kinds.
type learner struct {
	testing.TB
	*collector.Collector
	db  backend.Store
	now atomic.Int64 // days after the first day
	n   uint64       // number of events so far
}

var firstDay = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func (l *learner) time() time.Time { return firstDay.AddDate(0, 0, int(l.now.Load())) }

// onEach runs a test on each kind of database. Each database has three groups with one keyword each, with a
// given quality of 4. If `through` is not nil, the collector accesses its database through it.
func onEach(t *testing.T, through func(backend.Store) backend.Store, test func(*learner)) {
	t.Run("sqlite", func(t *testing.T) {
		r := newRig(t, 1)
		newLearner(t, r.URL(), r.DB, through, test)
	})
	t.Run("postgresql", func(t *testing.T) {
		server, db := onPostgreSQL(t, 1)
		newLearner(t, server.URL("postgres"), db, through, test)
	})
}

func newLearner(t *testing.T, url string, db backend.Store, through func(backend.Store) backend.Store, test func(*learner)) {
	lines := ""
	for n := range 3 {
		lines += fmt.Sprintf(`{"type":"keyword","advertiser":"A","campaign":"C0","group":"G%d","text":"word","match_type":"exact","quality_score":4}`+"\n", n)
	}
	sum, err := ingest.Run(t.Context(), db, []string{"-"}, ingest.Options{Stdin: strings.NewReader(lines)})
	if err != nil || sum.Rejected > 0 {
		t.Fatal(sum.First, err)
	}
	l := &learner{TB: t, db: db}
	if through != nil {
		db = through(db)
	}
	cfg := collector.DefaultConfig()
	cfg.DB, cfg.HTTP, cfg.Admin, cfg.Quality = url, "127.0.0.1:0", "", collector.QualityLearned
	port, err := ports.Open(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if l.Collector, err = collector.Open(t.Context(), cfg, db, port, slog.New(slog.DiscardHandler), l.time); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	test(l)
}

// show counts impressions and clicks of a keyword today.
func (l *learner) show(keyword uint64, impressions, clicks int) {
	l.Helper()
	at := l.time()
	var list []store.Event
	for n := range max(impressions, clicks) {
		l.n++
		e := store.Event{ID: token.From(at), Kind: store.Impression, Day: store.Day(at.Unix() / (24 * 60 * 60)),
			Token: token.Token{Served: at, Nonce: l.n, Position: 1, Advertiser: 1, Campaign: 1, Keyword: keyword, Ad: 1, Price: 1}}
		copy(e.ID[8:], fmt.Sprintf("%08d", l.n))
		if n < impressions {
			list = append(list, e)
		}
		if n < clicks {
			e.Kind = store.Click
			list = append(list, e)
		}
	}
	out, err := l.Store().Add(l.Context(), list)
	if err != nil || out[0] != store.Counted {
		l.Fatal(out, err)
	}
}

// learn learns on the given day and returns the qualities that are served. Learned ones are negative.
func (l *learner) learn(day int64) (list [3]int) {
	l.Helper()
	l.now.Store(day)
	if err := l.Learn(l.Context()); err != nil {
		l.Fatal(err)
	}
	return l.served()
}

func (l *learner) served() (list [3]int) {
	l.Helper()
	s, err := l.db.Snapshot(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	defer s.Close()
	n := 0
	for it, err := range s.All(l.Context()) {
		if err != nil {
			l.Fatal(err)
		}
		k := &it.Keywords[0]
		if list[n] = int(k.Served()); k.Learned != 0 {
			list[n] = -list[n]
		}
		n++
	}
	return list
}

// TestLearnedLapses: groups without counts for 210 days are served with the given quality again; others keep
// the learned one. Until the collectors have been learning for that long, qualities that were learned
// elsewhere stay, too.
func TestLearnedLapses(t *testing.T) {
	onEach(t, nil, func(l *learner) {
		tx, err := l.db.Begin(l.Context())
		if err != nil {
			l.Fatal(err)
		}
		defer tx.Rollback()
		if err = tx.Keyword(l.Context(), 3, backend.KeywordPatch{Text: "word", Words: "word", Learned: backend.To(backend.NewLearned(2, 3, 100, 1))}); err == nil {
			err = tx.Commit(l.Context())
		}
		if err != nil {
			l.Fatal(err)
		}
		l.show(1, 300, 60)
		l.show(2, 300, 3)
		first := l.learn(0)
		if first[0] != -10 || first[1] >= 0 || first[2] != -2 {
			l.Fatalf("the first round: %v", first)
		}
		l.now.Store(100)
		l.show(1, 300, 60)
		if got := l.learn(209); got[0] >= 0 || got[1] >= 0 || got[2] != -2 {
			l.Errorf("after 209 days %v", got)
		}
		if got := l.learn(211); got[0] >= 0 || got[1] != 4 || got[2] != 4 {
			l.Errorf("after 211 days %v", got)
		}
		before, err := l.db.Newest(l.Context())
		if err != nil {
			l.Fatal(err)
		}
		if got := l.learn(212); got[0] >= 0 || got[1] != 4 || got[2] != 4 {
			l.Errorf("after 212 days %v", got)
		}
		if after, err := l.db.Newest(l.Context()); err != nil || after != before {
			l.Errorf("the round after changes something: %v, %v, %v", before, after, err)
		}
		if got := l.learn(500); got[0] >= 0 {
			l.Errorf("nothing at all is counted, as by a clock that is ahead: %v", got)
		}
	})
}

// TestRefusedDoesNotLapse: a group whose counts are refused is not treated as one without counts.
func TestRefusedDoesNotLapse(t *testing.T) {
	r := newRig(t, 1)
	newLearner(t, r.URL(), r.DB, nil, func(l *learner) {
		l.show(1, 300, 60)
		l.show(2, 300, 3)
		before := l.learn(0)
		l.now.Store(100)
		l.show(1, 300, 60)
		l.show(2, 3, 4)
		if got := l.learn(211); got[1] != before[1] || got[1] >= 0 {
			l.Errorf("%v, before %v", got, before)
		}
	})
}

// moment is a point in a round of learning.
type moment int

const (
	whilePlanned   moment = iota // counts are being read
	beforeWritten                // the plan has been made
	whileCommitted               // the qualities are in a transaction
)

// overtaken is a database in which `do` is called once, at a moment of a round.
type overtaken struct {
	backend.Store
	at   moment
	do   func()
	once sync.Once
	done chan struct{} // closed when `do` has returned
}

func (o *overtaken) happen() {
	o.once.Do(func() {
		go func() { defer close(o.done); o.do() }()
	})
}

func (o *overtaken) Snapshot(ctx context.Context) (backend.Snapshot, error) {
	if o.at == whilePlanned {
		o.happen()
		<-o.done
	}
	return o.Store.Snapshot(ctx)
}

func (o *overtaken) Begin(ctx context.Context) (backend.Tx, error) {
	if o.at == beforeWritten {
		o.happen()
		<-o.done
	}
	tx, err := o.Store.Begin(ctx)
	return overtakenTx{tx, o}, err
}

type overtakenTx struct {
	backend.Tx
	o *overtaken
}

// Commit first gives `do` the time to finish, unless it waits for this transaction.
func (t overtakenTx) Commit(ctx context.Context) error {
	if t.o.at == whileCommitted {
		t.o.happen()
		select {
		case <-t.o.done:
		case <-time.After(500 * time.Millisecond):
		}
	}
	return t.Tx.Commit(ctx)
}

// TestErasedWhileLearned: if an advertiser is erased at any moment of a round, none of its counts remain in
// qualities when both are done. The next round learns from what is counted later.
func TestErasedWhileLearned(t *testing.T) {
	for name, at := range map[string]moment{"planned": whilePlanned, "before it is written": beforeWritten, "committed": whileCommitted} {
		t.Run(name, func(t *testing.T) {
			var o *overtaken
			through := func(db backend.Store) backend.Store {
				o = &overtaken{Store: db, at: at, done: make(chan struct{})}
				return o
			}
			onEach(t, through, func(l *learner) {
				l.show(1, 300, 60)
				l.show(2, 300, 3)
				o.do = func() {
					_, _, err := events.Erase(l.Context(), l.Store(), 1, nil, l.time(), nil)
					if err == nil {
						_, err = revise.Unlearn(l.Context(), l.db, 1)
					}
					if err != nil {
						l.Error(err)
					}
				}
				l.learn(0)
				<-o.done
				if got := l.served(); got != [3]int{4, 4, 4} {
					l.Errorf("left in qualities: %v", got)
				}
				rounds := l.Rounds()
				if want := map[bool]float64{false: 1, true: 0}[at == whileCommitted]; rounds["overtaken"] != want {
					l.Errorf("rounds %v", rounds)
				}
				l.now.Store(1)
				l.show(2, 300, 60)
				if got := l.learn(1); got[1] != -10 || got[0] != 4 {
					l.Errorf("learned of what is counted later: %v", got)
				}
			})
		})
	}
}

// TestLearningIsCounted: metrics show the rounds by outcome, the time of the last round, and how many
// keywords it changed.
func TestLearningIsCounted(t *testing.T) {
	r := newRig(t, 1)
	newLearner(t, r.URL(), r.DB, nil, func(l *learner) {
		l.show(1, 300, 60)
		l.show(2, 300, 3)
		l.learn(1)
		got, at := l.Rounds(), float64(l.time().Unix())
		if got["learned"] != 1 || got["changed"] != 2 || got["last"] != at || got["failed"] != 0 || got["overtaken"] != 0 {
			l.Errorf("%v", got)
		}
		r.damage("UPDATE ad_group SET sum = sum + 1 WHERE id = 1")
		l.now.Store(2)
		if err := l.Learn(l.Context()); err == nil {
			l.Error("damage is learned from")
		}
		if got := l.Rounds(); got["learned"] != 1 || got["changed"] != 2 || got["last"] != at || got["failed"] != 1 {
			l.Errorf("%v", got)
		}
		// A round that fails before it has begun is also counted.
		r.Must(r.DB.SaveControl(l.Context(), "balancer"+collector.LearningKey, []byte("{")))
		if err := l.Learn(l.Context()); !fault.Is(err, fault.Corrupt) || l.Rounds()["failed"] != 2 {
			l.Errorf("%v, %v", err, l.Rounds())
		}
	})
}
