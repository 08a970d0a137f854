package paired

import (
	"slices"

	"adshard/bench/layouts"
	"adshard/fault"
)

// compare compares what a layout found with the correct answers.
func compare(e *entrant, s *layouts.Setup, got, right []layouts.Found) error {
	tells := e.Provides()
	for i, q := range s.Queries {
		if tells.Matches && got[i].Matches != right[i].Matches {
			return wrong(e.Name(), s.Name, q, "finds %d keywords where %d match", got[i].Matches, right[i].Matches)
		}
		if tells.Sum && got[i].Sum != right[i].Sum {
			return wrong(e.Name(), s.Name, q, "finds other keywords than match: their ids sum up to %d instead of %d", got[i].Sum, right[i].Sum)
		}
	}
	return nil
}

func wrong(layout, setup string, q *layouts.Query, format string, numbers ...any) error {
	return fault.Newf(fault.Internal, "paired: check", "layout %s, setup %s, query %q: it "+format+"; nothing was measured of what is wrong",
		append([]any{layout, setup, q.Text}, numbers...)...)
}

// best holds the best keywords that the first layout which reports them found,
// by setup.
type best struct {
	by    string
	setup map[string][][]uint64
}

// compare compares the best keywords of a layout with those of the first one.
func (b *best) compare(e *entrant, s *layouts.Setup, got []layouts.Found) error {
	if !e.Provides().Best {
		return nil
	}
	if b.by == "" {
		b.by, b.setup = e.Name(), make(map[string][][]uint64)
	}
	if b.by == e.Name() {
		for _, f := range got {
			b.setup[s.Name] = append(b.setup[s.Name], f.Best)
		}
		return nil
	}
	for i, want := range b.setup[s.Name] {
		if !slices.Equal(got[i].Best, want) {
			return wrong(e.Name(), s.Name, s.Queries[i], "says the best are %d where %s says %d", got[i].Best, b.by, want)
		}
	}
	return nil
}
