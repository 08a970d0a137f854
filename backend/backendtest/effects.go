package backendtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/backend"
)

// thing is one entity.
type thing struct {
	entity backend.Entity
	id     uint64
}

// effects are the reported effects of a transaction, by entity. Of several effects on an entity the final one is
// kept, or `undone` if the entity was made and removed again.
type effects map[thing]string

const undone = "made and removed"

func (e effects) watch(entity backend.Entity, id uint64, effect backend.Effect) {
	name := [...]string{"named", "created", "changed", "removed"}[effect]
	at := thing{entity, id}
	switch was := e[at]; {
	case effect == backend.Named && was != "", effect == backend.Changed && was == "created":
	case effect == backend.Removed && was == "created":
		e[at] = undone
	default:
		e[at] = name
	}
}

// differ compares the effects that a store reported with the differences between its states. A change that was undone
// may have been reported, and an entity that is only named need not have been.
func (e effects) differ(want effects) string {
	var b strings.Builder
	for at, got := range e {
		if got != want[at] && got != undone && got != "named" && !(got == "changed" && want[at] == "") {
			fmt.Fprintf(&b, "%s %d: %s, want %q\n", at.entity, at.id, got, want[at])
		}
	}
	for at, w := range want {
		if e[at] != w {
			fmt.Fprintf(&b, "%s %d: %q, want %s\n", at.entity, at.id, e[at], w)
		}
	}
	return b.String()
}

// String lists the effects of entities, one a line.
func (e effects) String() string {
	lines := make([]string, 0, len(e))
	for at, effect := range e {
		lines = append(lines, fmt.Sprintf("%d%s %d %s", at.entity, at.entity, at.id, effect))
	}
	slices.Sort(lines)
	for i := range lines {
		lines[i] = lines[i][1:] // the order of the kinds
	}
	return strings.Join(lines, "\n")
}

// reportDifferences reports the effects that turn the state before into the state after.
func reportDifferences(before, after State, w backend.Watcher) {
	was, is := before.things(), after.things()
	for at, text := range was {
		switch now, there := is[at]; {
		case !there:
			w(at.entity, at.id, backend.Removed)
		case now != text:
			w(at.entity, at.id, backend.Changed)
		}
	}
	for at := range is {
		if _, there := was[at]; !there {
			w(at.entity, at.id, backend.Created)
		}
	}
}

// things returns the state as text by entity. The text of an entity leaves out its content, its version and its
// budget's mark.
func (s State) things() map[thing]string {
	m := make(map[thing]string)
	negatives := func(list []backend.Negative) {
		for _, n := range list {
			m[thing{backend.EntityNegative, n.ID}] = fmt.Sprint(n)
		}
	}
	for id, a := range s.Advertisers {
		negatives(a.Negatives)
		a.Version, a.Negatives = 0, nil
		m[thing{backend.EntityAdvertiser, id}] = fmt.Sprint(a)
	}
	for id, c := range s.Campaigns {
		negatives(c.Negatives)
		c.Version, c.Negatives, c.BudgetExhausted, c.Withheld = 0, nil, false, 0
		m[thing{backend.EntityCampaign, id}] = fmt.Sprint(c)
	}
	for id, it := range s.Items {
		it.Group.Version = 0
		m[thing{backend.EntityGroup, id}] = fmt.Sprint(it.Group)
		negatives(it.Negatives)
		for _, k := range it.Keywords {
			m[thing{backend.EntityKeyword, k.ID}] = fmt.Sprint(k)
		}
		for _, a := range it.Ads {
			m[thing{backend.EntityAd, a.ID}] = fmt.Sprint(a)
		}
	}
	return m
}

// Watch implements backend.Tx. Commit reports the differences; entities that are only named are not reported.
func (m *Model) Watch(w backend.Watcher) { m.watch = w }

// Lock implements backend.Tx. A Model has only one writer, which checks beforehand.
func (m *Model) Lock(context.Context, backend.Kind, uint64) error { return nil }

// Expect implements backend.Tx: a Model has no control values.
func (m *Model) Expect(context.Context, string, []byte) error { return nil }

// Receipt implements backend.Tx: a Model has no requests.
func (m *Model) Receipt(context.Context, string, []byte, time.Time) error { return nil }

// Names implements backend.Tx.
func (m *Model) Names(_ context.Context, advertiser uint64, limit int) (names []string, err error) {
	if advertiser == 0 {
		for _, a := range m.open.Advertisers {
			names = append(names, a.Name)
		}
	}
	for _, c := range m.open.Campaigns {
		if c.AdvertiserID == advertiser {
			names = append(names, c.Name)
		}
	}
	return names[:min(limit, len(names))], nil
}

func effectClauses() []clause {
	return []clause{
		{"a transaction reports its effects", testEffects},
		{"what is removed with its owner is reported", testEffectsOfRemoval},
		{"names of campaigns and advertisers", testNames},
	}
}

// watched runs f in a transaction and returns its reports.
func watched(t *testing.T, s backend.Store, f func(w writer)) string {
	t.Helper()
	e := make(effects)
	writes(t, s, func(w writer) {
		w.Watch(e.watch)
		f(w)
	})
	return e.String()
}

// setAll gives a status to everything that testEffects makes.
func setAll(w writer, status backend.Status) {
	a := w.advertiser("A")
	w.must(w.UpdateAdvertiser(w.ctx, a, backend.AdvertiserPatch{Status: status}))
	c := w.campaign(a, "C", backend.CampaignPatch{Status: status})
	g := w.group(c, "G", backend.GroupPatch{Status: status})
	for _, words := range []string{"a", "b"} {
		k := broad(words)
		k.Status = status
		w.keyword(g, k)
	}
	w.negative(backend.NegativeOwner{Campaign: c}, "n", status)
	w.negative(backend.NegativeOwner{Campaign: c, Group: g}, "n", status)
	w.negative(backend.NegativeOwner{Advertiser: a}, "n", status)
	w.ad(g, "h", status)
}

func testEffects(t *testing.T, f Factory) {
	s := open(t, f)
	all := func(w writer) {
		c, g := w.path("G")
		w.words(g, "a", "b")
		w.negative(backend.NegativeOwner{Campaign: c}, "n", backend.Keep)
		w.negative(backend.NegativeOwner{Campaign: c, Group: g}, "n", backend.Keep)
		w.negative(backend.NegativeOwner{Advertiser: 1}, "n", backend.Keep)
		w.ad(g, "h", backend.Keep)
	}
	lines := func(effect string) string {
		return strings.ReplaceAll("advertiser 1 X\ncampaign 1 X\ngroup 1 X\nkeyword 1 X\nkeyword 2 X\nnegative 1 X\nnegative 2 X\nnegative 3 X\nad 1 X", "X", effect)
	}
	for _, c := range []struct {
		name, want string
		do         func(w writer)
	}{
		{"created", lines("created"), all},
		{"named", lines("named"), all},
		{"changed", lines("changed"), func(w writer) { setAll(w, backend.Pause) }},
		{"named again", lines("named"), func(w writer) { setAll(w, backend.Pause) }},
		{"changed back", lines("changed"), func(w writer) { setAll(w, backend.Enable) }},
		{"created and changed", "advertiser 1 named\ncampaign 1 named\ngroup 2 created\nkeyword 3 created", func(w writer) {
			c, g := w.path("H")
			w.words(g, "a")
			w.group(c, "H", backend.GroupPatch{Status: backend.Pause})
		}},
		{"made and removed", "advertiser 1 named\ncampaign 1 named\ngroup 1 named\nkeyword 4 " + undone, func(w writer) {
			_, g := w.path("G")
			w.words(g, "c")
			k := broad("c")
			k.Status = backend.Remove
			w.keyword(g, k)
		}},
		{"not there", "", func(w writer) {
			if a, err := w.FindAdvertiser(w.ctx, "B"); a != 0 || err != nil {
				t.Error(a, err)
			}
			w.must(w.UpdateAdvertiser(w.ctx, 99, backend.AdvertiserPatch{Status: backend.Remove}))
		}},
	} {
		if got := watched(t, s, c.do); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func testEffectsOfRemoval(t *testing.T, f Factory) {
	for _, c := range []struct {
		name   string
		remove func(w writer)
	}{
		{"group", func(w writer) {
			c := w.campaign(w.advertiser("A"), "C", backend.CampaignPatch{})
			w.group(c, "G", backend.GroupPatch{Status: backend.Remove})
		}},
		{"campaign", func(w writer) { w.campaign(w.advertiser("A"), "C", backend.CampaignPatch{Status: backend.Remove}) }},
		{"advertiser", func(w writer) {
			w.must(w.UpdateAdvertiser(w.ctx, w.advertiser("A"), backend.AdvertiserPatch{Status: backend.Remove}))
		}},
	} {
		s := open(t, f)
		writes(t, s, func(w writer) {
			sample(w)
			other := w.campaign(w.advertiser("Z"), "C", backend.CampaignPatch{}) // must not be removed
			w.words(w.group(other, "G", backend.GroupPatch{}), "a")
		})
		before := ReadNow(t, s)
		got, want := make(effects), make(effects)
		writes(t, s, func(w writer) {
			w.Watch(got.watch)
			_, g := w.path("G")
			w.words(g, "made and removed with its owner")
			c.remove(w)
		})
		reportDifferences(before, ReadNow(t, s), want.watch)
		if d := got.differ(want); d != "" || len(want) < 3 {
			t.Errorf("%s: %d effects\n%s", c.name, len(want), d)
		}
	}
}

func testNames(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, func(w writer) {
		a, b := w.advertiser("A"), w.advertiser("B")
		for _, name := range []string{"C", "D", "E"} {
			w.campaign(a, name, backend.CampaignPatch{})
		}
		w.campaign(b, "F", backend.CampaignPatch{})
		for _, c := range []struct {
			advertiser uint64
			limit      int
			want       string
		}{{0, 10, "[A B]"}, {a, 10, "[C D E]"}, {b, 10, "[F]"}, {99, 10, "[]"}} {
			names, err := w.Names(w.ctx, c.advertiser, c.limit)
			slices.Sort(names)
			if err != nil || fmt.Sprint(names) != c.want {
				t.Errorf("%d: %v, %v", c.advertiser, names, err)
			}
		}
		if names, err := w.Names(w.ctx, a, 2); err != nil || len(names) != 2 {
			t.Errorf("at most 2: %v, %v", names, err)
		}
	})
}
