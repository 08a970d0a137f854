package backendtest

import (
	"fmt"
	"testing"

	"adshard/backend"
	"adshard/fault"
)

func positionClauses() []clause {
	return []clause{
		{"a database has an id, its copies have the same", testID},
		{"each change has a mark of its own", testMarks},
		{"the newest position is that of the last change, also when it was compacted", testNewest},
		{"the position at a clock", testAt},
		{"a position of another history is refused", testOtherHistory},
		{"a position without a mark is not compared", testUnmarked},
	}
}

func newest(t testing.TB, s backend.Store) backend.Position {
	t.Helper()
	p, err := s.Newest(t.Context())
	check(t, err)
	return p
}

// log returns all changes.
func log(t testing.TB, s backend.Store) []backend.Change {
	t.Helper()
	changes, err := s.Changes(t.Context(), backend.Position{}, 1<<20)
	check(t, err)
	return changes
}

func testID(t *testing.T, f Factory) {
	id := func(s backend.Store) string {
		t.Helper()
		id, err := s.ID(t.Context())
		check(t, err)
		return id
	}
	p := f(t)
	s := p.Open(t, Patience)
	first := id(s)
	if len(first) < 20 {
		t.Errorf("the id %q has less than 128 bits", first)
	}
	writes(t, s, sample)
	closing(t, s)
	if again := id(openAt(t, p)); again != first {
		t.Errorf("reopened, the id is %s, it was %s", again, first)
	}
	if copied := id(openAt(t, p.Copy(t))); copied != first {
		t.Errorf("a copy of %s has the id %s", first, copied)
	}
	if other := id(open(t, f)); other == first {
		t.Errorf("two databases have the id %s", other)
	}
}

func testMarks(t *testing.T, f Factory) {
	marks := make(map[uint64]string)
	for _, name := range []string{"one database", "another"} {
		s := open(t, f)
		writes(t, s, func(w writer) { // one statement adds several entries
			for i := range 20 {
				w.path(fmt.Sprint("G", i))
			}
			w.campaign(1, "C", backend.CampaignPatch{Languages: backend.To(backend.LanguagesOf("en"))})
		})
		check(t, s.SetBudget(t.Context(), 1, backend.BudgetMark{Exhausted: true}))
		for _, c := range log(t, s) {
			at := fmt.Sprintf("clock %d of %s", c.Clock, name)
			if before, ok := marks[c.Mark]; ok || c.Mark == 0 {
				t.Errorf("%s has mark %x, as %q", at, c.Mark, before)
			}
			marks[c.Mark] = at
		}
	}
	if len(marks) < 46 {
		t.Errorf("only %d marks", len(marks))
	}
}

func testNewest(t *testing.T, f Factory) {
	p := f(t)
	s := p.Open(t, Patience)
	if n := newest(t, s); n != (backend.Position{}) {
		t.Errorf("an empty database is at %v", n)
	}
	writes(t, s, sample)
	changes := log(t, s)
	last := changes[len(changes)-1]
	want := backend.Position{Clock: last.Clock, Mark: last.Mark}
	for _, step := range []string{"written", "compacted", "reopened"} {
		switch step {
		case "compacted":
			_, err := s.Compact(t.Context(), last.Clock, 0)
			check(t, err)
		case "reopened":
			closing(t, s)
			s = openAt(t, p)
		}
		if n := newest(t, s); n != want {
			t.Errorf("%s: %v, want %v", step, n, want)
		}
		n := snapshot(t, s)
		if n.Position() != want {
			t.Errorf("%s: a snapshot is at %v, want %v", step, n.Position(), want)
		}
		check(t, n.Close())
		if changes, err := s.Changes(t.Context(), want, 10); err != nil || len(changes) != 0 {
			t.Errorf("%s: %v, %v", step, changes, err)
		}
	}
}

func testAt(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, sample)
	changes := log(t, s)
	end := changes[len(changes)-1].Clock
	compact := end - 2
	for _, compacted := range []bool{false, true} {
		if compacted {
			_, err := s.Compact(t.Context(), compact, 0)
			check(t, err)
		}
		for _, c := range changes {
			p, err := s.At(t.Context(), c.Clock)
			if compacted && c.Clock < compact {
				if !fault.Is(err, fault.Stale) {
					t.Errorf("at clock %d, below what was compacted: %v, %v", c.Clock, p, err)
				}
			} else if err != nil || p != (backend.Position{Clock: c.Clock, Mark: c.Mark}) {
				t.Errorf("at clock %d: %v, %v; want mark %x", c.Clock, p, err, c.Mark)
			}
		}
		if p, err := s.At(t.Context(), 0); compacted != fault.Is(err, fault.Stale) || !compacted && err != nil || p != (backend.Position{}) {
			t.Errorf("before the first change, compacted %v: %v, %v", compacted, p, err)
		}
		for _, clock := range []uint64{end + 1, 1 << 63, 1<<64 - 1} {
			if p, err := s.At(t.Context(), clock); !fault.Is(err, fault.NotFound) {
				t.Errorf("at clock %d of %d: %v, %v", clock, end, p, err)
			}
		}
	}
}

// testOtherHistory makes a backup, imports A, restores the backup and imports B: the clocks are then the same, but
// the marks are not.
func testOtherHistory(t *testing.T, f Factory) {
	ctx := t.Context()
	before := f(t)
	s := openAt(t, before)
	writes(t, s, sample)
	shared := newest(t, s)
	restored := openAt(t, before.Copy(t))
	writes(t, s, func(w writer) { w.words(1, "a") })
	writes(t, restored, func(w writer) { w.words(1, "b") })
	a, b := newest(t, s), newest(t, restored)
	if a.Clock != b.Clock || a.Mark == b.Mark {
		t.Fatalf("%v and %v, want equal clocks and other marks", a, b)
	}
	for _, compacted := range []bool{false, true} {
		if compacted {
			_, err := restored.Compact(ctx, b.Clock, 0)
			check(t, err)
		}
		if p, err := restored.At(ctx, a.Clock); err != nil || p != b {
			t.Errorf("compacted %v: at clock %d %v, %v; want %v", compacted, a.Clock, p, err, b)
		}
		if c, err := restored.Changes(ctx, a, 10); !fault.Is(err, fault.Conflict) {
			t.Errorf("compacted %v: after %v of the other history: %v, %v", compacted, a, c, err)
		}
		_, err := restored.Changes(ctx, shared, 10)
		if want := compacted; fault.Is(err, fault.Stale) != want || !want && err != nil {
			t.Errorf("compacted %v: after the position that both had: %v", compacted, err)
		}
	}
	writes(t, s, func(w writer) { w.words(1, "more") })
	for _, p := range []backend.Position{newest(t, s), {Clock: 1 << 63, Mark: 1}, {Mark: 1}} {
		kind := fault.Conflict
		if p.Clock == 0 {
			kind = fault.Stale
		}
		if c, err := restored.Changes(ctx, p, 10); !fault.Is(err, kind) {
			t.Errorf("after %v, which is not there: %v, %v", p, c, err)
		}
	}
}

func testUnmarked(t *testing.T, f Factory) {
	s := open(t, f)
	writes(t, s, sample)
	changes := log(t, s)
	for i, c := range changes {
		rest, err := s.Changes(t.Context(), at(c.Clock), 100)
		if err != nil || len(rest) != len(changes)-i-1 {
			t.Errorf("after clock %d: %v, %v", c.Clock, rest, err)
		}
	}
	if rest, err := s.Changes(t.Context(), at(1000), 100); err != nil || len(rest) > 0 {
		t.Errorf("%v, %v", rest, err)
	}
}
