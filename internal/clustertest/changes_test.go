package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
)

// TestChangerJudges gives the changer answers with versions that are allowed, and answers with versions that are not.
func TestChangerJudges(t *testing.T) {
	ctx := t.Context()
	store, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	c, err := NewChanger(ctx, store, false)
	if err != nil {
		t.Fatal(err)
	}
	clock := func() uint64 {
		at, err := store.Newest(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return at.Clock
	}
	first := clock()
	if err := c.change(ctx, 3); err != nil {
		t.Fatal(err)
	}
	second := clock()
	shown := func(version int, at uint64) func(url.Values) (Answer, error) {
		var a Answer
		a.Matched, a.Candidates, a.Coverage.Complete, a.Coverage.AppliedClock = 1, 1, true, at
		a.Ads = []Ad{{Group: c.ids[3], FinalURL: fmt.Sprint("https://changing.example/", version)}}
		return func(url.Values) (Answer, error) { return a, nil }
	}
	none := func(url.Values) (a Answer, err error) { a.Coverage.Complete = true; return a, nil }
	judged := func(what string, ask func(url.Values) (Answer, error), wrong bool) {
		t.Helper()
		if _, why, err := c.One(3, ask); err != nil || (why != "") != wrong {
			t.Errorf("%s: %q, %v", what, why, err)
		}
	}
	judged("the last version", shown(2, second), false)
	judged("an older one at an older clock", shown(1, first), false)
	judged("a newer one at an older clock", shown(2, first), false)
	judged("an older one at a newer clock", shown(1, second), true)
	judged("one that there never was", shown(3, second), true)
	judged("no ad", none, true)
	if _, why, err := c.Last(3, shown(1, first)); why == "" || err != nil {
		t.Errorf("not the last version: %v", err)
	}
	if _, why, err := c.All(none); why == "" || err != nil {
		t.Errorf("no group of all: %v", err)
	}

	resume := c.Pause()
	c.Restored(first)
	judged("what the restored database lacks, at first", shown(2, second), false)
	c.Settled()
	resume()
	judged("an older version than that of the clock, once it is settled", shown(0, second), true)
	failed := errors.New("no answer")
	if _, _, err := c.One(3, func(url.Values) (Answer, error) { return Answer{}, failed }); !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
}

// lossy is a database that loses the answers to commits while lost is set.
type lossy struct {
	backend.Store
	lost bool
}

type lossyTx struct {
	backend.Tx
	of *lossy
}

func (l *lossy) Begin(ctx context.Context) (backend.Tx, error) {
	tx, err := l.Store.Begin(ctx)
	return &lossyTx{tx, l}, err
}

func (t *lossyTx) Commit(ctx context.Context) error {
	if err := t.Tx.Commit(ctx); err != nil || !t.of.lost {
		return err
	}
	return errors.New("the answer was lost")
}

// TestARestoredCommitWithoutAnswer: a version was committed without an answer, and removed by the next change. If the
// database is restored to a state between the two, that version is valid again.
func TestARestoredCommitWithoutAnswer(t *testing.T) {
	ctx := t.Context()
	db, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	store := &lossy{Store: db}
	c, err := NewChanger(ctx, store, false)
	if err != nil {
		t.Fatal(err)
	}
	store.lost = true
	if err := c.change(ctx, 3); err == nil {
		t.Fatal("no answer was lost")
	}
	backup, err := store.Newest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	store.lost = false
	if err := c.change(ctx, 3); err != nil {
		t.Fatal(err)
	}
	c.Restored(backup.Clock)
	if got := slices.Sorted(slices.Values(c.before(3))); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("the next change removes the versions %d, and 2 is there", got)
	}
}
