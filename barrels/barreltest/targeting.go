package barreltest

import (
	"context"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"adshard/internal/oracle"
	"adshard/search"
	"adshard/targeting"
)

// Context resolves an oracle's context as a master does.
func Context(c *oracle.Context) *targeting.Context {
	if c == nil {
		return nil
	}
	out := &targeting.Context{Time: c.Time, Places: resolve(c), Languages: c.Languages, Audiences: c.Audiences, UnknownLocation: c.Include}
	if c.HasPoint {
		p, err := targeting.ParsePoint(fmt.Sprint(c.Lat), fmt.Sprint(c.Lon))
		if err != nil {
			panic(err)
		}
		out.Point = &p
	}
	if c.Host != "" {
		out.Site = &targeting.Page{Host: c.Host, Path: c.Path}
	}
	if b := targeting.NewBlocks(c.BlockAdvertisers, c.BlockDomains, c.BlockCategories, c.BlockUncategorised); b != nil {
		out.Blocks = []*targeting.Blocks{b}
	}
	return out
}

// resolve does what places.Table.Resolve does, for a few places.
func resolve(c *oracle.Context) (out []targeting.Place) {
	for presence, list := range map[bool][]uint32{true: c.Locations, false: c.Interest} {
		for _, id := range list {
			for ; id != 0; id = c.Parents[id] {
				i := slices.IndexFunc(out, func(p targeting.Place) bool { return p.ID == id })
				if i < 0 {
					i = len(out)
					out = append(out, targeting.Place{ID: id})
					for up := id; up != 0; up = c.Parents[up] {
						out[i].Depth++
					}
				}
				out[i].Presence, out[i].Interest = out[i].Presence || presence, out[i].Interest || !presence
			}
		}
	}
	return out
}

// checkFactors fails if the factors of an explanation do not make its modifier.
func checkFactors(t *rapid.T, m *search.Explained) {
	t.Helper()
	made := uint64(targeting.Default)
	if m.Device != nil {
		made = m.Device.Permille
	}
	if m.Context != nil && m.Context.Verdict == targeting.Pass {
		for _, f := range m.Context.Factors.All() {
			made = made * uint64(f) / 1000
		}
	}
	if m.Modifier != min(made, targeting.MaxModifier) || m.Clamped != (made > targeting.MaxModifier) {
		t.Fatalf("keyword %d, %v: the factors make %d, not %d, clamped %v\n%+v %+v", m.Keyword, m.Verdict, made, m.Modifier, m.Clamped, m.Device, m.Context)
	}
}

// SameVerdicts fails if a store's verdicts on keywords, one by one or counted, differ from the
// oracle's.
func SameVerdicts(t *rapid.T, s search.Explainer, o *oracle.Oracle, r oracle.Request) {
	t.Helper()
	want, err := o.Explain(r)
	if err != nil {
		t.Fatal(err)
	}
	q := Request(t, r, nil)
	e, err := s.Explain(context.Background(), q, 1000)
	if err != nil || len(e.Matches) != len(want) {
		t.Fatalf("%q: %d matches, %v, want %d", r.Text, len(e.Matches), err, len(want))
	}
	verdicts, counts := map[uint64]search.Verdict{}, [search.Verdicts]uint64{}
	for _, j := range want {
		v := j.Verdict
		if v == search.Won || v == search.Lost || v == search.Superseded {
			v = search.Eligible
		}
		verdicts[j.Keyword.ID] = v
		counts[v]++
	}
	for _, m := range e.Matches {
		if m.Verdict != verdicts[m.Keyword] {
			t.Fatalf("%q, keyword %d: %v, want %v\n%+v", r.Text, m.Keyword, m.Verdict, verdicts[m.Keyword], r.Context)
		}
		checkFactors(t, &m)
	}
	if e, err = s.Explain(context.Background(), q, 0); err != nil || e.Counts != counts {
		t.Fatalf("%q: counts %v, %v, want %v", r.Text, e.Counts, err, counts)
	}
}
