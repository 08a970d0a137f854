package backendtest

import (
	"fmt"
	"testing"
	"time"

	"adshard/backend"
	"adshard/fault"
)

func lockClauses() []clause {
	return []clause{
		{"what is locked is not changed by others, and a snapshot shows it", testLock},
		{"nothing is locked that is missing", testLockMissing},
		{"a control value that is expected stays until the transaction ends", testExpect},
		{"a receipt is there when its transaction is committed, for a day", testReceipts},
		{"ids by owner, page by page", testPages},
	}
}

// testLock checks that a second writer of a locked entity waits for the first one and fails, and that a snapshot
// after the lock has what was committed before it.
func testLock(t *testing.T, f Factory) {
	p := f(t)
	s := openAt(t, p)
	writes(t, s, sample)
	other := p.Open(t, 100*time.Millisecond)
	t.Cleanup(func() { closing(t, other) })
	for _, kind := range []backend.Kind{backend.KindAdvertiser, backend.KindCampaign, backend.KindGroup} {
		writes(t, s, func(w writer) { w.words(1, fmt.Sprint("before ", uint8(kind))) })
		first := begin(t, s)
		first.must(first.Lock(first.ctx, kind, 1))
		if err := meddle(t, other, kind); !fault.Is(err, fault.Locked) {
			t.Errorf("%v: another changes it meanwhile: %v", kind, err)
		}
		if got := ReadNow(t, s); got.Items[1].Group.Version != clockOf(t, s) {
			t.Errorf("%v: a snapshot has version %d at clock %d", kind, got.Items[1].Group.Version, clockOf(t, s))
		}
		check(t, first.Rollback())
		check(t, meddle(t, other, kind))
	}
}

// meddle changes the entity 1 of a kind; a group is changed by changing what it holds.
func meddle(t *testing.T, s backend.Store, kind backend.Kind) error {
	ctx := t.Context()
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	switch kind {
	case backend.KindAdvertiser:
		err = tx.UpdateAdvertiser(ctx, 1, backend.AdvertiserPatch{Status: backend.Pause})
	case backend.KindCampaign:
		err = tx.Negative(ctx, backend.NegativeOwner{Campaign: 1}, backend.NegativePatch{Text: "new", Words: "new"})
	default:
		err = tx.Keyword(ctx, 1, broad("meddled"))
	}
	if err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func testLockMissing(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, sample)
	for _, kind := range []backend.Kind{backend.KindAdvertiser, backend.KindCampaign, backend.KindGroup} {
		for _, id := range []uint64{0, 99, 1 << 63, 1<<64 - 1} {
			w := begin(t, s)
			if err := w.Lock(w.ctx, kind, id); !fault.Is(err, fault.NotFound) {
				t.Errorf("%v %d: %v", kind, id, err)
			}
			check(t, w.Rollback())
		}
	}
}

// testExpect checks that a transaction that expects a value fails if the key has another value or none, and that
// otherwise a transaction that saves the value must wait for it and then fails.
func testExpect(t *testing.T, f Factory) {
	p := f(t)
	s := openAt(t, p)
	writes(t, s, sample)
	other := p.Open(t, 100*time.Millisecond)
	t.Cleanup(func() { closing(t, other) })
	expect := func(value string) error {
		w := begin(t, s)
		defer func() { check(t, w.Rollback()) }()
		return w.Expect(w.ctx, "k", []byte(value))
	}
	if err := expect(""); !fault.Is(err, fault.Conflict) {
		t.Errorf("of a key that is missing: %v", err)
	}
	check(t, s.SaveControl(t.Context(), "k", []byte("one")))
	check(t, expect("one"))
	if err := expect("two"); !fault.Is(err, fault.Conflict) {
		t.Errorf("of another value: %v", err)
	}
	first := begin(t, s)
	first.must(first.Expect(first.ctx, "k", []byte("one")))
	first.words(1, "expected")
	if err := other.SaveControl(t.Context(), "k", []byte("two")); !fault.Is(err, fault.Locked) {
		t.Errorf("another one saves it meanwhile: %v", err)
	}
	check(t, first.Commit(first.ctx))
	check(t, other.SaveControl(t.Context(), "k", []byte("two")))
	if err := expect("one"); !fault.Is(err, fault.Conflict) {
		t.Errorf("of the value before: %v", err)
	}
}

func testReceipts(t *testing.T, f Factory) {
	p := f(t)
	s := openAt(t, p)
	ctx, now := t.Context(), time.Unix(1_800_000_000, 0)
	found := func(key string, at time.Time) string {
		t.Helper()
		got, err := backend.FindReceipt(ctx, s, key, at)
		check(t, err)
		return string(got)
	}
	w := begin(t, s)
	w.must(w.Receipt(ctx, "undone", []byte("x"), now))
	check(t, w.Rollback())
	check(t, s.SaveControl(ctx, "receipt", []byte("no receipt")))
	writes(t, s, func(w writer) { w.must(w.Receipt(ctx, "k", []byte("answer"), now)) })
	if got := found("k", now.Add(backend.ReceiptAge)) + found("undone", now) + found("other", now); got != "answer" {
		t.Errorf("found %q", got)
	}
	writes(t, s, func(w writer) { w.must(w.Receipt(ctx, "l", []byte("next day"), now.Add(backend.ReceiptAge))) })
	if got := found("k", now.Add(backend.ReceiptAge)); got != "answer" {
		t.Errorf("after a day found %q", got)
	}
	writes(t, s, func(w writer) { w.must(w.Receipt(ctx, "m", nil, now.Add(2*backend.ReceiptAge))) })
	if got := found("k", now); got != "" {
		t.Errorf("after two days found %q", got)
	}
	if v, err := s.LoadControl(ctx, "receipt"); err != nil || string(v) != "no receipt" {
		t.Errorf("a value that is not a receipt is %q, %v", v, err)
	}
}

func testPages(t *testing.T, f Factory) {
	s := open(t, f)
	many(t, s, 100)
	n := snapshot(t, s)
	all := Read(t, n)
	for _, owner := range []uint64{0, 1, 3, 99, 1 << 63} {
		want := map[backend.Kind]map[uint64]bool{backend.KindCampaign: {}, backend.KindGroup: {}}
		for id, c := range all.Campaigns {
			want[backend.KindCampaign][id] = owner == 0 || c.AdvertiserID == owner
		}
		for id, it := range all.Items {
			want[backend.KindGroup][id] = owner == 0 || it.Group.CampaignID == owner
		}
		for kind, ids := range want {
			for after, more := uint64(0), true; more; {
				page, err := n.IDs(t.Context(), kind, owner, after, 7)
				check(t, err)
				for _, id := range page {
					if id <= after || !ids[id] {
						t.Fatalf("%v %d of %d after %d", kind, id, owner, after)
					}
					delete(ids, id)
					after = id
				}
				more = len(page) == 7
			}
			for id, left := range ids {
				if left {
					t.Errorf("%v %d of %d is left out", kind, id, owner)
				}
			}
		}
	}
	if page, err := n.IDs(t.Context(), backend.KindAdvertiser, 0, 1, 5); err != nil || fmt.Sprint(page) != "[2 3]" {
		t.Errorf("advertisers %v, %v", page, err)
	}
}
