package backendtest

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"adshard/backend"
	"adshard/fault"
	"adshard/search"
)

// Histories runs random operations on two handles of a database and on the
// model: contents, ids and clocks must agree, and replicas that follow the feed
// from any point must reach the same state.
func Histories(t *testing.T, f Factory) {
	rapid.Check(t, func(rt *rapid.T) { history(t, rt, f(t)) })
}

// run is one random history.
type run struct {
	t      *testing.T
	rt     *rapid.T
	stores [2]backend.Store
	model  *Model
	// replicas follow the feed from time to time.
	replicas []*replica
}

func history(t *testing.T, rt *rapid.T, p Place) {
	h := &run{t: t, rt: rt, model: NewModel()}
	for i := range h.stores {
		h.stores[i] = p.Open(t, Patience)
		defer func() { closing(t, h.stores[i]) }()
	}
	h.replicas = []*replica{newReplica(t, h.stores[0])}
	steps := rapid.IntRange(1, 12).Draw(rt, "steps")
	for range steps {
		h.step(p)
	}
	h.compare()
	if c, ok := h.stores[1].(backend.Checker); ok {
		report, err := c.Check(t.Context(), nil)
		check(t, err)
		if len(report.Damage) > 0 || report.ByOthers > 0 {
			rt.Fatalf("a check found %v, and %d without a sum", report.Damage, report.ByOthers)
		}
	}
	for _, r := range h.replicas {
		r.follow(t, h.stores[1], 1000)
		if d := Differ(r.state, h.model.State()); d != "" {
			rt.Fatalf("a replica differs:\n%s", d)
		}
	}
}

func (h *run) store() backend.Store {
	return h.stores[rapid.IntRange(0, 1).Draw(h.rt, "handle")]
}

func (h *run) step(p Place) {
	ctx := h.t.Context()
	switch rapid.IntRange(0, 11).Draw(h.rt, "step") {
	default:
		h.transaction()
	case 0:
		c := rapid.Uint64Range(1, 4).Draw(h.rt, "campaign")
		mark := backend.BudgetMark{
			Exhausted: rapid.Bool().Draw(h.rt, "exhausted"), ShareOnly: rapid.Bool().Draw(h.rt, "share only"), Share: patch(h.rt, "share", []uint32{0, 1, 999_999, 1_000_000}),
		}
		err := h.store().SetBudget(ctx, c, mark)
		_, there := h.model.State().Campaigns[c]
		if there != (err == nil) || err != nil && !fault.Is(err, fault.NotFound) {
			h.rt.Fatalf("budget of %d: %v", c, err)
		}
		h.model.SetBudget(c, mark)
	case 1:
		clock := clockOf(h.t, h.stores[0])
		_, err := h.store().Compact(ctx, rapid.Uint64Range(0, clock+1).Draw(h.rt, "up to"), 0)
		check(h.t, err)
	case 2:
		closing(h.t, h.stores[0])
		h.stores[0] = p.Open(h.t, Patience)
	case 3:
		h.replicas = append(h.replicas, newReplica(h.t, h.store()))
	case 4:
		r := h.replicas[rapid.IntRange(0, len(h.replicas)-1).Draw(h.rt, "replica")]
		r.follow(h.t, h.store(), rapid.IntRange(1, 5).Draw(h.rt, "limit"))
		if d := Differ(r.state, h.model.State()); d != "" {
			h.rt.Fatalf("a replica differs:\n%s", d)
		}
	}
}

// transaction runs the same random operations on the database and the model.
func (h *run) transaction() {
	ctx := h.t.Context()
	s := h.store()
	before := clockOf(h.t, s)
	tx, err := s.Begin(ctx)
	check(h.t, err)
	defer tx.Rollback()
	got, want := make(effects), make(effects)
	tx.Watch(got.watch)
	h.model.Watch(want.watch)
	for range rapid.IntRange(1, 15).Draw(h.rt, "operations") {
		op := drawOperation(h.rt)
		got, want := op.call(ctx, tx), op.call(ctx, h.model)
		if got != want {
			h.rt.Fatalf("got %s, want %s", got, want)
		}
	}
	if rapid.IntRange(0, 4).Draw(h.rt, "rollback") == 0 {
		check(h.t, tx.Rollback())
		h.model.Rollback()
		if now := clockOf(h.t, s); now != before {
			h.rt.Fatalf("a rollback moved the clock from %d to %d", before, now)
		}
		return
	}
	same := Differ(h.model.open.State, h.model.committed.State) == ""
	check(h.t, tx.Commit(ctx))
	h.model.Commit(ctx)
	if d := got.differ(want); d != "" {
		h.rt.Fatalf("the effects reported differ:\n%s", d)
	}
	if now := clockOf(h.t, s); !same && now == before || now < before {
		h.rt.Fatalf("the clock went from %d to %d by a change", before, now)
	}
	h.compare()
}

func (h *run) compare() {
	if d := Differ(ReadNow(h.t, h.store()), h.model.State()); d != "" {
		h.rt.Fatalf("the database differs from the model:\n%s", d)
	}
}

// operation is one random call.
type operation struct {
	kind                        int
	advertiser, campaign, group string
	ofAdvertiser                backend.AdvertiserPatch
	ofCampaign                  backend.CampaignPatch
	ofGroup                     backend.GroupPatch
	ofKeyword                   backend.KeywordPatch
	ofNegative                  backend.NegativePatch
	ofAd                        backend.AdPatch
	held                        backend.HeldQuery // used with limit and to
	limit                       int
	to                          backend.Hold
}

func drawOperation(rt *rapid.T) *operation {
	o := &operation{
		advertiser: rapid.SampledFrom([]string{"A", "B"}).Draw(rt, "advertiser"),
		campaign:   rapid.SampledFrom([]string{"C", "D"}).Draw(rt, "campaign"),
		group:      rapid.SampledFrom([]string{"G", "H"}).Draw(rt, "group"),
	}
	status := rapid.SampledFrom([]backend.Status{
		backend.Keep, backend.Keep, backend.Keep, backend.Enable, backend.Pause, backend.Remove,
	}).Draw(rt, "status")
	words := rapid.SampledFrom([]string{"a", "b", "a b"}).Draw(rt, "words")
	text := rapid.SampledFrom([]string{words, words + "!"}).Draw(rt, "text")
	match := search.MatchType(rapid.IntRange(0, 2).Draw(rt, "type"))
	o.kind = rapid.IntRange(0, 15).Draw(rt, "operation")
	o.ofAdvertiser.Status = status
	o.ofCampaign = backend.CampaignPatch{Status: status, Hold: holdChange(rt)}
	o.ofGroup = backend.GroupPatch{Status: status, Hold: holdChange(rt)}
	o.ofKeyword = backend.KeywordPatch{Text: text, Words: words, Type: match, Status: status}
	draw(rt, &o.ofAdvertiser)
	draw(rt, &o.ofCampaign)
	draw(rt, &o.ofGroup)
	draw(rt, &o.ofKeyword)
	o.ofNegative = backend.NegativePatch{Text: text, Words: words, Type: match, Status: status}
	o.held, o.to = heldQuery(rt), holds(rt)
	o.limit = rapid.IntRange(1, 3).Draw(rt, "limit")
	o.ofAd = backend.AdPatch{Headlines: []string{words}, Descriptions: []string{"d"}, Path1: text, Status: status}
	return o
}

// call makes the call and returns its results as text.
func (o *operation) call(ctx context.Context, tx backend.Tx) string {
	switch o.kind {
	case 0:
		a, err := tx.FindAdvertiser(ctx, o.advertiser)
		if err == nil && a != 0 {
			err = tx.UpdateAdvertiser(ctx, a, o.ofAdvertiser)
		}
		return fmt.Sprint("advertiser ", a, err)
	case 13:
		var found []backend.Held
		n, err := tx.Held(ctx, o.held, 0, o.limit, func(h backend.Held) backend.Hold {
			found = append(found, h)
			return o.to
		})
		return fmt.Sprint("held ", n, found, err)
	}
	a, err := tx.Advertiser(ctx, o.advertiser)
	if err != nil {
		return err.Error()
	}
	switch o.kind {
	case 15:
		return fmt.Sprint("advertiser's negative ", tx.Negative(ctx, backend.NegativeOwner{Advertiser: a}, o.ofNegative))
	case 14:
		c, err := tx.Rename(ctx, backend.EntityCampaign, a, "C", o.campaign)
		g, e := tx.Rename(ctx, backend.EntityGroup, c, o.group, "H")
		return fmt.Sprint("renamed ", c, err != nil, g, e != nil)
	case 1:
		c, err := tx.Campaign(ctx, a, o.campaign, o.ofCampaign)
		return fmt.Sprint("campaign ", c, err)
	}
	return o.inCampaign(ctx, tx, a)
}

func (o *operation) inCampaign(ctx context.Context, tx backend.Tx, a uint64) string {
	c, err := tx.Campaign(ctx, a, o.campaign, backend.CampaignPatch{})
	if err != nil {
		return err.Error()
	}
	switch o.kind {
	case 2:
		g, err := tx.Group(ctx, c, o.group, o.ofGroup)
		return fmt.Sprint("group ", g, err)
	case 3:
		return fmt.Sprint("campaign negative ", tx.Negative(ctx, backend.NegativeOwner{Campaign: c}, o.ofNegative))
	}
	g, err := tx.Group(ctx, c, o.group, backend.GroupPatch{})
	if err != nil {
		return err.Error()
	}
	switch o.kind {
	case 4:
		return fmt.Sprint("negative ", tx.Negative(ctx, backend.NegativeOwner{Campaign: c, Group: g}, o.ofNegative))
	case 5, 6:
		return fmt.Sprint("ad ", tx.Ad(ctx, g, o.ofAd))
	}
	return fmt.Sprint("keyword ", a, c, g, tx.Keyword(ctx, g, o.ofKeyword))
}

// holds draws a hold by one of two imports or by none, with any marks.
func holds(rt *rapid.T) backend.Hold {
	by := rapid.SampledFrom([]uint64{0, 1, backend.MaxImport}).Draw(rt, "import")
	return backend.HeldBy(by) | rapid.SampledFrom([]backend.Hold{0, backend.Refused, backend.Ended, backend.Refused | backend.Ended}).Draw(rt, "marks")
}

func heldQuery(rt *rapid.T) backend.HeldQuery {
	q := rapid.SampledFrom([]backend.HeldQuery{{Import: 1}, {Import: backend.MaxImport}, {Any: true}, {ID: 1}, {ID: 2}}).Draw(rt, "query")
	if q.Groups = rapid.Bool().Draw(rt, "groups"); q.Groups && q.Any {
		q = backend.HeldQuery{Groups: true, Free: 1}
	}
	return q
}

func holdChange(rt *rapid.T) backend.HoldChange {
	if rapid.IntRange(0, 2).Draw(rt, "holds") > 0 {
		return nil
	}
	return backend.HoldTo(holds(rt))
}

func patch[T comparable](rt *rapid.T, name string, values []T) backend.Patch[T] {
	switch rapid.IntRange(0, 3).Draw(rt, name) {
	case 0:
		return backend.Patch[T]{Op: backend.Reset}
	case 1:
		return backend.To(rapid.SampledFrom(values).Draw(rt, name))
	}
	return backend.Patch[T]{}
}
