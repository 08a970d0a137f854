package revise_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/fault"
	"adshard/ingest"
	"adshard/quality"
	"adshard/quality/revise"
)

// database returns a database with two groups of a campaign, which have four keywords each and a default quality.
func database(t *testing.T) backend.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var b strings.Builder
	for g := range 2 {
		for k := range 4 {
			fmt.Fprintf(&b, `{"type":"keyword","advertiser":"A","campaign":"C","group":"G%d","text":"word%d","match_type":"%s"}`+"\n",
				g, k, []string{"exact", "phrase", "broad", "exact"}[k])
		}
	}
	load(t, db, b.String())
	return db
}

func load(t *testing.T, db backend.Store, lines string) {
	t.Helper()
	sum, err := ingest.Run(t.Context(), db, []string{"-"}, ingest.Options{Stdin: strings.NewReader(lines)})
	if err != nil || sum.Rejected > 0 {
		t.Fatalf("%v %v", sum.First, err)
	}
}

// items returns the groups by name.
func items(t *testing.T, db backend.Store) map[string]*backend.Item {
	t.Helper()
	s, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	out := make(map[string]*backend.Item)
	for it, err := range s.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out[it.Group.Name] = it
	}
	return out
}

// counted returns clicks of the keywords of group G0 except the last. The first has the most.
func counted(t *testing.T, db backend.Store) *quality.Counts {
	t.Helper()
	c, it := new(quality.Counts), items(t, db)["G0"]
	for i, clicks := range []uint64{4000, 2400, 400} {
		k := quality.Key{Campaign: it.Group.CampaignID, Group: it.Group.ID, Keyword: it.Keywords[i].ID, Ad: 1}
		if err := c.Add(quality.Cell{Key: k, Position: 1, Day: 9}, quality.Count{Impressions: 40_000, Clicks: clicks}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// options returns options with which a rate of 0.1 is 10 points.
func options() revise.Options {
	return revise.Options{Options: quality.Options{Strength: 5, Examination: []float64{1}}, Scale: 0.01, Today: 9}
}

func planned(t *testing.T, db backend.Store, c *quality.Counts) *revise.Plan {
	t.Helper()
	p, err := revise.Make(t.Context(), db, c, options())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func qualities(it *backend.Item) (list []uint8) {
	for i := range it.Keywords {
		list = append(list, it.Keywords[i].Served())
	}
	return list
}

// TestRevision: keywords of a counted group get the learned quality without the factor of their match type, even those
// never shown. Everything else stays as it is, and a second run changes nothing.
func TestRevision(t *testing.T) {
	db := database(t)
	counts := counted(t, db)
	before := items(t, db)
	p := planned(t, db, counts)
	// 0.1 for exact, 0.06 ÷ 0.9 for phrase, 0.01 ÷ 0.8 for broad; the last keyword has the group's 0.063.
	if len(p.Changes) != 4 || p.Left != 0 || p.Unknown != 0 {
		t.Fatalf("%d changes, %d stay, %d unknown", len(p.Changes), p.Left, p.Unknown)
	}
	r, err := p.Write(t.Context(), db, nil)
	if err != nil || r.Written != 4 || r.Gone != 0 || r.Transactions != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	after := items(t, db)
	if got := qualities(after["G0"]); !reflect.DeepEqual(got, []uint8{10, 7, 1, 6}) {
		t.Errorf("qualities %v", got)
	}
	learned := after["G0"].Keywords[0].Learned
	if quality.Level(learned.Level()) != quality.LevelKeyword || learned.Impressions() != 40_000 || learned.Clicks() != 4000 {
		t.Errorf("learned from %d impressions and %d clicks of level %d", learned.Impressions(), learned.Clicks(), learned.Level())
	}
	if never := after["G0"].Keywords[3].Learned; quality.Level(never.Level()) != quality.LevelGroup || never.Impressions() != 120_000 {
		t.Errorf("of what was never shown: %d impressions of level %d", never.Impressions(), never.Level())
	}
	for i := range after["G0"].Keywords {
		after["G0"].Keywords[i].Learned = 0
	}
	after["G0"].Group.Version = before["G0"].Group.Version
	if !reflect.DeepEqual(after, before) {
		t.Errorf("something else changed: %+v, was %+v", after, before)
	}

	at, err := db.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p := planned(t, db, counts); len(p.Changes) != 0 || p.Left != 4 {
		t.Errorf("the second plan has %d changes", len(p.Changes))
	}
	if _, err := p.Write(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	if now, _ := db.Newest(t.Context()); now != at {
		t.Errorf("written again, the database moved from %v to %v", at, now)
	}
}

// TestUnknownTeaches: a keyword that the database does not have, or has in another campaign, is not written, but counts
// for its group.
func TestUnknownTeaches(t *testing.T) {
	db := database(t)
	counts := counted(t, db)
	it := items(t, db)["G0"]
	for _, k := range []quality.Key{
		{Campaign: it.Group.CampaignID, Group: it.Group.ID, Keyword: 999},
		{Campaign: 77, Group: it.Group.ID, Keyword: it.Keywords[3].ID},
	} {
		if err := counts.Add(quality.Cell{Key: k, Position: 1, Day: 9}, quality.Count{Impressions: 400_000, Clicks: 4000}); err != nil {
			t.Fatal(err)
		}
	}
	o := options()
	o.Find = []uint64{999, it.Keywords[3].ID}
	p, err := revise.Make(t.Context(), db, counts, o)
	if err != nil {
		t.Fatal(err)
	}
	if p.Unknown != 2 {
		t.Errorf("%d unknown", p.Unknown)
	}
	for _, c := range p.Changes {
		if c.Key.Keyword == it.Keywords[3].ID && c.To > 3 {
			t.Errorf("the keyword that was never shown gets %d: the unknown one does not count", c.To)
		}
	}
	if _, ok := p.Find(999); ok {
		t.Error("the unknown keyword is found")
	}
	if key, ok := p.Find(it.Keywords[3].ID); !ok || key.Keyword != it.Keywords[3].ID {
		t.Errorf("%+v, %v", key, ok)
	}
}

// TestGoneStaysGone: a keyword that was removed after the plan was made is not created again.
func TestGoneStaysGone(t *testing.T) {
	for name, c := range map[string]struct {
		lines   string
		gone    int
		written []uint8 // qualities in G0; nil: the group does not exist
	}{
		"a keyword": {`{"type":"keyword","advertiser":"A","campaign":"C","group":"G0","text":"word0","match_type":"exact","status":"removed"}`, 1, []uint8{7, 1, 6}},
		"two keywords": {`{"type":"keyword","advertiser":"A","campaign":"C","group":"G0","text":"word0","match_type":"exact","status":"removed"}
{"type":"keyword","advertiser":"A","campaign":"C","group":"G0","text":"word2","match_type":"broad","status":"removed"}`, 2, []uint8{7, 6}},
		"the group":      {`{"type":"group","advertiser":"A","campaign":"C","name":"G0","status":"removed"}`, 4, nil},
		"the campaign":   {`{"type":"campaign","advertiser":"A","name":"C","status":"removed"}`, 4, nil},
		"the advertiser": {`{"type":"advertiser","name":"A","status":"removed"}`, 4, nil},
		"the group, and it was made again": {`{"type":"group","advertiser":"A","campaign":"C","name":"G0","status":"removed"}
{"type":"keyword","advertiser":"A","campaign":"C","group":"G0","text":"word0","match_type":"exact"}`, 4, []uint8{5}},
	} {
		db := database(t)
		p := planned(t, db, counted(t, db))
		load(t, db, c.lines)
		before := items(t, db)
		r, err := p.Write(t.Context(), db, nil)
		if err != nil || r.Gone != c.gone || r.Written != 4-c.gone {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		after := items(t, db)
		if len(after) != len(before) {
			t.Errorf("%s: %d groups, there were %d", name, len(after), len(before))
		}
		it := after["G0"]
		if (it != nil) != (c.written != nil) || it != nil && !reflect.DeepEqual(qualities(it), c.written) {
			t.Errorf("%s: %+v", name, it)
		}
	}
}

// failing is a store whose first transactions cannot begin.
type failing struct {
	backend.Store
	left int
	kind fault.Kind
}

func (f *failing) Begin(ctx context.Context) (backend.Tx, error) {
	if f.left > 0 {
		f.left--
		return nil, fault.Newf(f.kind, "test", "not now")
	}
	return f.Store.Begin(ctx)
}

// TestWriteIsPatient: a write that fails because of another writer or a failover is repeated. Any other error ends it.
func TestWriteIsPatient(t *testing.T) {
	for kind, ok := range map[fault.Kind]bool{fault.Locked: true, fault.Unavailable: true, fault.NoSpace: false} {
		db := database(t)
		p := planned(t, db, counted(t, db))
		r, err := p.Write(t.Context(), &failing{db, 1, kind}, nil)
		if (err == nil) != ok || (r.Written == 4) != ok {
			t.Errorf("%v: %+v, %v", kind, r, err)
		}
	}
}

// TestGivenAgain: a given quality is never changed, neither by learning nor by a later import that does not mention it.
// It is served again when the learned one is taken back. Taking it back a second time changes nothing.
func TestGivenAgain(t *testing.T) {
	db := database(t)
	load(t, db, `{"type":"keyword","advertiser":"A","campaign":"C","group":"G0","text":"word1","match_type":"phrase","quality_score":2}`)
	before := items(t, db)
	if _, err := planned(t, db, counted(t, db)).Write(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	load(t, db, `{"type":"keyword","advertiser":"A","campaign":"C","group":"G0","text":"word2","match_type":"broad","quality_score":9}`)
	if got := qualities(items(t, db)["G0"]); !reflect.DeepEqual(got, []uint8{10, 7, 1, 6}) {
		t.Errorf("an import's quality is served in place of the learned one: %v", got)
	}
	before["G0"].Keywords[2].Quality = 9
	if p, err := revise.Given(t.Context(), db, 2); err != nil || len(p.Changes) > 0 || p.Left > 0 {
		t.Fatalf("of another advertiser: %+v, %v", p, err)
	}
	for step, want := range []int{4, 0} {
		p, err := revise.Given(t.Context(), db, uint64(1-step)) // for the advertiser, then for all
		if err != nil || len(p.Changes) != want || p.Left != 8-want {
			t.Fatalf("step %d: %+v, %v", step, p, err)
		}
		if r, err := p.Write(t.Context(), db, nil); err != nil || r.Written != want {
			t.Fatalf("step %d: %+v, %v", step, r, err)
		}
	}
	after := items(t, db)
	after["G0"].Group.Version = before["G0"].Group.Version
	if !reflect.DeepEqual(after, before) {
		t.Errorf("%+v, was %+v", after["G0"], before["G0"])
	}
}

// TestKeptScale: the scale of the last round is kept as long as it is close to the one that the counts give.
func TestKeptScale(t *testing.T) {
	db := database(t)
	counts := counted(t, db)
	scale := func(kept quality.Scale) quality.Scale {
		o := options()
		o.Scale, o.Kept = 0, kept
		p, err := revise.Make(t.Context(), db, counts, o)
		if err != nil {
			t.Fatal(err)
		}
		return p.Scale
	}
	fresh := scale(0)
	for factor, stays := range map[quality.Scale]bool{1: true, 1.2: true, 0.85: true, 1.3: false, 0.7: false} {
		if got := scale(fresh * factor); got != fresh && !stays || got != fresh*factor && stays {
			t.Errorf("%v times the fresh one: %v, fresh %v", factor, got, fresh)
		}
	}
}

// TestPauses: other transactions can run between two of a write.
func TestPauses(t *testing.T) {
	db := database(t)
	p := planned(t, db, counted(t, db))
	for len(p.Changes) < 2100 {
		p.Changes = append(p.Changes, p.Changes[0])
	}
	p.Pause = 50 * time.Millisecond
	began := time.Now()
	if r, err := p.Write(t.Context(), db, nil); err != nil || r.Transactions != 2 || time.Since(began) < p.Pause {
		t.Errorf("%+v after %v, %v", r, time.Since(began), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p.Pause = time.Hour
	if r, err := p.Write(ctx, db, func(int) { cancel() }); err == nil || r.Transactions != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestGroups finds the groups of keywords, and the groups that have learned qualities and none of the keywords.
func TestGroups(t *testing.T) {
	db := database(t)
	all := items(t, db)
	wanted, want := map[uint64]bool{999: true}, make(map[uint64]uint64)
	for _, it := range all {
		wanted[it.Keywords[1].ID], want[it.Keywords[1].ID] = true, it.Group.ID
	}
	if got, lapsed, err := revise.Groups(t.Context(), db, wanted); err != nil || !reflect.DeepEqual(got, want) || len(lapsed) > 0 {
		t.Errorf("%v, %v, %v, want %v", got, lapsed, err, want)
	}
	if _, err := planned(t, db, counted(t, db)).Write(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	if _, lapsed, err := revise.Groups(t.Context(), db, wanted); err != nil || len(lapsed) > 0 {
		t.Errorf("lapsed, though their keywords were counted: %v, %v", lapsed, err)
	}
	if got, lapsed, err := revise.Groups(t.Context(), db, nil); err != nil || len(got) > 0 || !reflect.DeepEqual(lapsed, []uint64{all["G0"].Group.ID}) {
		t.Errorf("lapsed are %v, %v, %v", lapsed, got, err)
	}
}

// TestLapsed: the keywords of a lapsed group are served with their given qualities again, unless the group has counts.
// Changes are in the order of groups.
func TestLapsed(t *testing.T) {
	db := database(t)
	counts, all := counted(t, db), items(t, db)
	o := options()
	o.Lapsed = []uint64{all["G1"].Group.ID, all["G0"].Group.ID}
	for step, want := range []int{4, 4, 0} {
		if step == 1 { // the other group has learned qualities, too
			k := &all["G1"].Keywords[0]
			other := new(quality.Counts)
			if err := other.Add(quality.Cell{Key: quality.Key{Campaign: all["G1"].Group.CampaignID, Group: all["G1"].Group.ID, Keyword: k.ID}, Position: 1, Day: 9},
				quality.Count{Impressions: 1000, Clicks: 90}); err != nil {
				t.Fatal(err)
			}
			if r, err := planned(t, db, other).Write(t.Context(), db, nil); err != nil || r.Written != 4 {
				t.Fatal(r, err)
			}
		}
		p, err := revise.Make(t.Context(), db, counts, o)
		if err != nil || len(p.Changes) != want {
			t.Fatalf("step %d: %d changes, %v", step, len(p.Changes), err)
		}
		for _, c := range p.Changes {
			if lapsed := step == 1; lapsed != (c.To == 0) || lapsed != (c.Key.Group == all["G1"].Group.ID) {
				t.Errorf("step %d: %+v", step, c)
			}
		}
		if _, err := p.Write(t.Context(), db, nil); err != nil {
			t.Fatal(err)
		}
	}
	after := items(t, db)
	if got := qualities(after["G0"]); !reflect.DeepEqual(got, []uint8{10, 7, 1, 6}) {
		t.Errorf("what was counted has %v", got)
	}
	all["G1"].Group.Version = after["G1"].Group.Version
	if !reflect.DeepEqual(after["G1"], all["G1"]) {
		t.Errorf("%+v, was %+v", after["G1"], all["G1"])
	}
}
