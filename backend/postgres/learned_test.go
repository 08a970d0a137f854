package postgres_test

import (
	"errors"
	"testing"

	"adshard/backend"
	"adshard/fault"
)

// TestUnsoundLearned: an invalid number for a learned quality is rejected when another program writes it. If a row
// has one nevertheless, reading its group reports damage, and other groups can be read.
func TestUnsoundLearned(t *testing.T) {
	ctx := t.Context()
	p := newPlace(t)
	s := open(t, p)
	c := session(t, p)
	add(t, s, "C", "G", "a", "b")
	add(t, s, "C", "H", "a", "b")
	const set, without = "UPDATE adshard.keyword SET learned = 16 WHERE group_id = 1", "ALTER TABLE adshard.keyword DROP CONSTRAINT keyword_learned_check"
	const with = "ALTER TABLE adshard.keyword ADD CONSTRAINT keyword_learned_check CHECK (learned = 0 OR learned > 0 AND (learned & 15) BETWEEN 1 AND 10)"
	if _, err := c.Exec(ctx, set); err == nil {
		t.Error("it is taken")
	}
	for _, sql := range []string{without, set} {
		_, err := c.Exec(ctx, sql)
		must(t, err)
	}
	n, err := s.Snapshot(ctx)
	must(t, err)
	var d *backend.Damage
	if _, err := n.Items(ctx, []uint64{1}); !fault.Is(err, fault.Corrupt) || !errors.As(err, &d) || d.Kind != backend.KindGroup || d.ID != 1 {
		t.Errorf("read as %v", err)
	}
	if items, err := n.Items(ctx, []uint64{2}); err != nil || len(items) != 1 {
		t.Errorf("another group: %v, %v", items, err)
	}
	must(t, n.Close())
	for _, sql := range []string{"UPDATE adshard.keyword SET learned = 0", with} { // restores the database for other tests
		_, err := c.Exec(ctx, sql)
		must(t, err)
	}
	after, err := s.Snapshot(ctx)
	must(t, err)
	defer after.Close()
	if items, err := after.Items(ctx, []uint64{1}); err != nil || len(items) != 1 {
		t.Errorf("set to 0 again: %v, %v", items, err)
	}
}
