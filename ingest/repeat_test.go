package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest"
)

// flaky is a store whose calls fail: before they are done, or, for commits, also after them, as if the answer were
// lost.
type flaky struct {
	backend.Store
	chance *rand.Rand
	rate   float64
	failed int
	lost   int // commits that were done but reported as failed
	begun  bool
	gone   bool
}

func (s *flaky) fails(often float64) error {
	if s.chance.Float64() >= often*s.rate {
		return nil
	}
	s.failed++
	if s.chance.IntN(2) == 0 {
		return fault.Newf(fault.Locked, "test", "another transaction is writing the same")
	}
	return fault.Newf(fault.Unavailable, "test", "the connection was lost")
}

func (s *flaky) Begin(ctx context.Context) (backend.Tx, error) {
	s.begun = true
	if err := s.fails(1); err != nil {
		return nil, err
	}
	tx, err := s.Store.Begin(ctx)
	return &flakyTx{tx, s}, err
}

func (s *flaky) Newest(ctx context.Context) (backend.Position, error) {
	if !s.begun {
		return s.Store.Newest(ctx)
	}
	if err := s.fails(1); err != nil {
		return backend.Position{}, err
	}
	return s.Store.Newest(ctx)
}

func (s *flaky) Changes(ctx context.Context, after backend.Position, limit int) ([]backend.Change, error) {
	if s.gone {
		after.Mark++
	}
	return s.Store.Changes(ctx, after, limit)
}

type flakyTx struct {
	backend.Tx
	s *flaky
}

func (t *flakyTx) Campaign(ctx context.Context, advertiser uint64, name string, p backend.CampaignPatch) (uint64, error) {
	if err := t.s.fails(1); err != nil {
		return 0, err
	}
	return t.Tx.Campaign(ctx, advertiser, name, p)
}

func (t *flakyTx) Commit(ctx context.Context) error {
	err := t.s.fails(5) // the call that matters most
	switch {
	case err == nil:
		return t.Tx.Commit(ctx)
	case fault.Is(err, fault.Unavailable) && t.s.chance.IntN(2) == 0:
		t.s.lost++
		if e := t.Tx.Commit(ctx); e != nil {
			return e
		}
	default:
		_ = t.Tx.Rollback()
	}
	return err
}

// TestRepeated: an import whose transactions fail at any call, or whose commits lose their answers, gives the same
// database and the same report as an undisturbed one.
func TestRepeated(t *testing.T) {
	text := manyRows(900) + "A1\tC1\tG1\tx\tNonsense\t\t\t\n" + "B1\tC\tG\ty\tBroad\t\t\t\nB2\tC\tG\ty\tBroad\t\t\t\nA0\t\t\t\t\t\t\t\n"
	text += strings.ReplaceAll("A0\tC2\tG20\tword200 of 28\tBroad\t\t\tRemoved\nA0\tC3\tG30\tnew\tExact\t\t\t\n", "\r", "")
	run := func(store backend.Store) (ingest.Summary, string, error) {
		var rejects bytes.Buffer
		sum, err := ingest.Run(t.Context(), store, []string{"-"},
			ingest.Options{Stdin: strings.NewReader(text), BatchRows: 100, Rejects: &rejects, Patience: time.Hour})
		return sum, rejects.String(), err
	}
	calm := openDatabase(t, filepath.Join(t.TempDir(), "calm.db"))
	defer calm.Close()
	want, wantRejects, err := run(calm)
	if err != nil {
		t.Fatal(err)
	}
	failed, lost := 0, 0
	for seed := range uint64(12) {
		store := &flaky{Store: openDatabase(t, filepath.Join(t.TempDir(), fmt.Sprint(seed, ".db"))), chance: rand.New(rand.NewPCG(seed, 42)), rate: 0.02}
		got, rejects, err := run(store)
		if err != nil {
			t.Fatal(err)
		}
		if contents(t, store) != contents(t, calm) {
			t.Errorf("seed %d: a different content than without failures", seed)
		}
		if rejects != wantRejects {
			t.Errorf("seed %d: rejects %s, want %s", seed, rejects, wantRejects)
		}
		got.Position, got.ClockAfter = want.Position, want.ClockAfter // if transactions end by their age, these differ
		got.Transactions = want.Transactions
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("seed %d: %+v, want %+v", seed, got, want)
		}
		failed, lost = failed+store.failed, lost+store.lost
		store.Close()
	}
	if failed < 5 || lost == 0 {
		t.Errorf("only %d failures, %d of them after commits", failed, lost)
	}
}

// TestNotRepeatedForEver: an error that does not pass by itself ends the import, as does a database that lacks what
// the import has committed.
func TestNotRepeatedForEver(t *testing.T) {
	text := "Account\tCampaign\nA\tC\n"
	for name, c := range map[string]struct {
		store flaky
		wait  time.Duration
		kind  fault.Kind
		times int // how often the import is repeated: once or not at all
	}{
		"always locked":              {flaky{rate: 1}, time.Millisecond, fault.Locked, 1},
		"no permission":              {flaky{rate: 1}, time.Hour, fault.Unavailable, 1},
		"another history":            {flaky{rate: 1, gone: true}, time.Hour, fault.Conflict, 1},
		"another history, unnoticed": {flaky{gone: true}, time.Hour, fault.Conflict, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &c.store
			s.Store, s.chance = openDatabase(t, filepath.Join(t.TempDir(), "ads.db")), rand.New(&only{c.kind == fault.Locked})
			defer s.Store.Close()
			if _, err := ingest.Run(t.Context(), s.Store, []string{"-"}, ingest.Options{Stdin: strings.NewReader(text)}); err != nil {
				t.Fatal(err)
			}
			repeated := 0
			_, err := ingest.Run(t.Context(), s, []string{"-"}, ingest.Options{Stdin: strings.NewReader(text), Patience: c.wait,
				Repeating: func(error) { repeated++ }})
			if !fault.Is(err, c.kind) || repeated != c.times {
				t.Errorf("%v, repeated %d times", err, repeated)
			}
		})
	}
}

// only is a random source that makes every failure one of a lock, or none.
type only struct{ locked bool }

func (o *only) Uint64() uint64 {
	if o.locked {
		return 0
	}
	return math.MaxUint64
}
