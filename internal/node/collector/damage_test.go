package collector_test

import (
	"strings"
	"testing"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/fault"
	"adshard/internal/node/collector"
)

// damage runs SQL on the database's file, as a failing disk or another program might change it.
func (r *rig) damage(sql string) {
	r.TB.Helper()
	c, err := zs.OpenConn(r.Path, zs.OpenReadWrite)
	r.Must(err)
	defer c.Close()
	r.Must(sqlitex.ExecuteTransient(c, sql, nil))
}

// TestDamagedCampaign: a campaign whose row is damaged is reported by its number. Other campaigns
// can still be read, marked and counted, and the collector stays ready.
func TestDamagedCampaign(t *testing.T) {
	r := newRig(t, 5)
	c := r.run("collector-0")
	r.damage("UPDATE campaign SET sum = sum + 1 WHERE id = 2")
	list, err := collector.Budgets(t.Context(), r.DB, 1, 2, 3, 4, 5, 99)
	if err != nil || len(list) != 5 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, b := range list {
		if damaged := b.Campaign == 2; fault.Is(b.Damage, fault.Corrupt) != damaged || !damaged && b.Daily != 50_000 {
			t.Errorf("%+v", b)
		}
	}
	for campaign := uint64(1); campaign <= 3; campaign++ {
		if status, _, text := r.post(c.URL(), batch(event("click", r.token(campaign, 60_000)))); status != 200 {
			t.Fatal(text)
		}
	}
	eventually(t, "the others are not marked", func() bool { return r.exhausted(1) && r.exhausted(3) })
	if err := c.Sweep(t.Context()); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "campaign 2") {
		t.Errorf("a sweep says %v", err)
	}
	if why := c.Ready(); len(why) > 0 {
		t.Errorf("not ready: %v", why)
	}
	r.damage("UPDATE advertiser SET sum = sum + 1 WHERE id = 1")
	if list, err = collector.Budgets(t.Context(), r.DB, 1, 3); err != nil || len(list) != 2 || !fault.Is(list[0].Damage, fault.Corrupt) {
		t.Errorf("of a damaged advertiser: %v, %v", list, err)
	}
	if status, a, text := r.post(c.URL(), batch(event("impression", r.token(1, 60_000)))); status != 200 || a.Counted != 1 {
		t.Errorf("of a damaged advertiser: %s", text)
	}
}
