package fanout

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/search"
)

var (
	late    = fault.Newf(fault.Deadline, "", "the time was over")
	refused = fault.Newf(fault.Unavailable, "", "connection refused")
)

func served(a *search.Answer) (search.Width, bool) { return a.Width, a.Work.BlocksBad > 0 }

// TestReasons: which shards are missing, and why.
func TestReasons(t *testing.T) {
	half := search.Width{Lo: 1 << 63}
	quarter := search.Width{Lo: 1 << 62}
	for name, c := range map[string]struct {
		width  search.Width // of b in the map; a has the rest
		answer *search.Answer
		err    error
		want   search.Reason
	}{
		"too late":            {half, nil, nil, search.Late},
		"its time was over":   {half, nil, late, search.Late},
		"left out":            {half, nil, errSilent, search.Silent},
		"no connection":       {half, nil, refused, search.Unreachable},
		"busy":                {half, nil, overloaded, search.Refused},
		"an old map":          {half, nil, stale, search.Outdated},
		"another slave":       {half, nil, fault.Newf(fault.Conflict, "", "of another slave"), search.Foreign},
		"a defect":            {half, nil, errors.New("a defect"), search.Failed},
		"a damaged store":     {half, nil, fault.Newf(fault.Corrupt, "", "a bad block"), search.Damaged},
		"nothing yet":         {half, &search.Answer{}, nil, search.Behind},
		"not all yet":         {half, &search.Answer{Width: quarter}, nil, search.Behind},
		"a damaged block":     {half, &search.Answer{Width: quarter, Work: search.Work{BlocksBad: 1}}, nil, search.Damaged},
		"more than its part":  {half, &search.Answer{Width: half.Add(quarter)}, nil, search.Excess},
		"a map without parts": {search.Width{}, &search.Answer{Width: quarter}, nil, search.Behind},
	} {
		t.Run(name, func(t *testing.T) {
			g := replies[search.Answer]{[]Shard{{Name: "a", Width: half}, {Name: "b", Width: c.width}},
				[]*search.Answer{{Width: half}, c.answer}, []error{nil, c.err}}
			missing := missingShards(&g, served)
			if !slices.Contains(missing, search.Missing{Shard: "b", Reason: c.want}) || c.width == half && len(missing) != 1 {
				t.Errorf("missing %v, want b: %v", missing, c.want)
			}
			if sum := search.Merge(g.answers, 1); sum.Width == search.WholeRing() {
				t.Error("complete")
			}
		})
	}
}

// TestIncompleteNamesSomebody: whatever shards answer, either the answer is complete and no shard
// is missing, or at least one is.
func TestIncompleteNamesSomebody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "shards")
		rest := ^uint64(0)
		list := make([]Shard, n)
		told := rapid.Bool().Draw(t, "the map gives widths")
		parts := make([]search.Width, n)
		for i := range list {
			list[i].Name = string(rune('a' + i))
			parts[i] = search.Width{Lo: rapid.Uint64Range(1, rest/uint64(n)).Draw(t, "part")}
			if i == n-1 {
				parts[i] = search.IntervalWidth(0, rest)
			}
			rest -= parts[i].Lo
			if told {
				list[i].Width = parts[i]
			}
		}
		g := replies[search.Answer]{list, make([]*search.Answer, n), make([]error, n)}
		all := true
		for i, part := range parts {
			a := &search.Answer{Width: part, Shards: 1, Answered: 1}
			switch rapid.IntRange(0, 5).Draw(t, "fate") {
			case 0:
				g.errs[i] = refused
				all = false
				continue
			case 1:
				a.Width = search.Width{Lo: rapid.Uint64Range(0, part.Lo-min(part.Lo, 1)).Draw(t, "less")}
				a.Work.BlocksBad = rapid.Uint64Range(0, 1).Draw(t, "bad")
			case 2:
				if told { // two processes hold the same part
					a.Width = part.Add(search.Width{Lo: rapid.Uint64Range(1, 1<<40).Draw(t, "more")})
				}
			}
			all = all && a.Width == part
			g.answers[i] = a
		}
		missing := missingShards(&g, served)
		complete := search.Merge(g.answers, 1).Width == search.WholeRing()
		if complete != all || complete != (len(missing) == 0) {
			t.Fatalf("all there: %v, complete: %v, missing: %v", all, complete, missing)
		}
	})
}
