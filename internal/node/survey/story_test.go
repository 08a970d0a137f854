package survey

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/balance/mapper"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/httpapi/apitest"
)

// set are loads that a test has set.
type set struct {
	slices map[uint64]float64
	hot    map[balance.Key]float64
	items  balance.Items
}

func (s set) Slice(id uint64) float64 { return s.slices[id] }
func (s set) Measured() bool          { return true }
func (s set) Hot(lo, hi balance.Key, visit func(balance.Key, float64) bool) {
	s.items.Ascend(lo, hi, func(k balance.Key, _ uint32) bool {
		load, ok := s.hot[k]
		return !ok || visit(k, load)
	})
}

// lay makes a model of shards a, b, c … and of one slice for each letter of
// where, ten keys each; of all keys from 1 on each tenth is an item.
func lay(t rapid.TB, where string) (*balance.Model, *balance.Index) {
	t.Helper()
	var shards []balance.Shard
	for _, name := range []string{"a", "b", "c"} {
		shards = append(shards, balance.Shard{Name: name})
	}
	m, err := balance.NewModel(shards)
	if err != nil {
		t.Fatal(err)
	}
	e, items := m.Edit(), &balance.Index{}
	slice := uint64(1)
	for i, c := range where {
		if i > 0 {
			if slice, err = e.Split(slice, balance.Key(i*100)); err != nil {
				t.Fatal(err)
			}
		}
		if c != 'a' {
			if err := e.Map(slice, balance.ShardID(c-'a'+1)); err != nil {
				t.Fatal(err)
			}
		}
		for k := range 10 {
			items.Put(balance.Key(i*100+k*10+1), 1)
		}
	}
	if m, err = e.Model(); err != nil {
		t.Fatal(err)
	}
	return m, items
}

// told is a survey of a model with slices of the given costs.
func told(t rapid.TB, where string, load map[uint64]float64, hot map[balance.Key]float64) *Survey {
	m, items := lay(t, where)
	return New(balance.Input{Model: m, Items: items, Loads: set{load, hot, items}}, time.Time{})
}

func TestStories(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		where   string
		load    map[uint64]float64
		hot     map[balance.Key]float64
		slice   uint64
		known   Facts
		verdict api.SliceVerdict
		says    []string
	}{
		"cannot be helped": {"aabc", map[uint64]float64{1: 950, 2: 50, 3: 100, 4: 100}, map[balance.Key]float64{11: 900}, 1, Facts{Asked: true},
			api.SliceVerdictStuck, []string{fmt.Sprintf("ad group %d alone is 2.25 x the mean", balance.ByOwner.Item(11)), "the slice's other 9 cost 50", "less than 440, it costs 900"}},
		"its slave has too little": {"aabc", map[uint64]float64{1: 50, 2: 50, 3: 200, 4: 100}, nil, 1, Facts{Asked: true},
			api.SliceVerdictStayed, []string{"a has 0.75 x the mean, so nothing had to leave it", "a must carry more than 147"}},
		"too hot to move whole": {"aabc", map[uint64]float64{1: 260, 2: 1, 3: 100, 4: 100}, nil, 1, Facts{Asked: true},
			api.SliceVerdictStayed, []string{"other slices of a were the better choice", "it must cost less than 161, or be split"}},
		"small": {"aabc", map[uint64]float64{1: 300, 2: 1, 3: 100, 4: 100}, nil, 2, Facts{Asked: true},
			api.SliceVerdictStayed, []string{"it is 0.60 % of the mean"}},
		"others come first": {"aabc", map[uint64]float64{1: 150, 2: 150, 3: 50, 4: 60}, nil, 2, Facts{Asked: true, Paused: true},
			api.SliceVerdictStayed, []string{"`adshard balance move 2 b` moves it by hand", "balancing is paused"}},
		"the strategy told": {"aabc", map[uint64]float64{1: 150, 2: 150, 3: 50, 4: 60}, nil, 2, Facts{Asked: true, Reasons: []string{"slice 2 rests"}},
			api.SliceVerdictStayed, []string{"slice 2 rests"}},
		"nobody asked": {"aabc", map[uint64]float64{1: 150, 2: 150, 3: 50, 4: 60}, nil, 2, Facts{},
			api.SliceVerdictStayed, []string{"has not been asked"}},
		"its slave is away": {"aabc", map[uint64]float64{1: 150, 2: 150, 3: 50, 4: 60}, nil, 2,
			Facts{Asked: true, Away: &mapper.Away{For: 12 * time.Second, In: 288 * time.Second}, EvacuateAfter: 5 * time.Minute, Now: noon},
			api.SliceVerdictAway, []string{"a has been away since 2026-01-31T11:59:48Z (12s)", "answers are incomplete",
				"if it is not back in 4m48s (`evacuate_after` is 5m0s), its slices are filled on other slaves", "`adshard slaves drain a`"}},
		"away and to stay": {"aabc", nil, nil, 2, Facts{Away: &mapper.Away{For: time.Hour, Fate: mapper.Stay}, Now: noon},
			api.SliceVerdictAway, []string{"away since 2026-01-31T11:00:00Z", "`evacuate_after` is 0"}},
		"away and paused": {"aabc", nil, nil, 2, Facts{Paused: true, Away: &mapper.Away{For: time.Hour, Fate: mapper.Paused}, Now: noon},
			api.SliceVerdictAway, []string{"`adshard balance resume` lets them go"}},
		"away and emptied": {"aabc", nil, nil, 2, Facts{Away: &mapper.Away{For: time.Hour, Fate: mapper.Now}, Now: noon},
			api.SliceVerdictAway, []string{"its slices are being filled on other slaves"}},
	} {
		m := told(t, c.where, c.load, c.hot)
		i, _ := m.Slice(c.slice)
		s := m.Story(i, c.known)
		text := s.Decision + "\n" + strings.Join(s.Needs, "\n")
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, text)
			}
		}
		if s.Verdict != c.verdict || c.known.Away != nil && strings.Contains(text, "nothing had to leave it") {
			t.Errorf("%s: %s: %s", name, s.Verdict, text)
		}
	}
}

// TestDominantGroups: a slice names the ad group that has half of its load or more, by its id.
func TestDominantGroups(t *testing.T) {
	m := told(t, "ab", map[uint64]float64{1: 100, 2: 100}, map[balance.Key]float64{1: 20, 11: 50, 101: 49})
	first, second := m.Info(0), m.Info(1)
	if d := first.Dominant; d == nil || d.Key != "000000000000000b" || d.Load != 50 || d.Share != 0.5 || d.GroupID != m.In.Order.Item(11) {
		t.Errorf("%+v", d)
	}
	if first.Hot != 2 || second.Hot != 1 || second.Dominant != nil {
		t.Errorf("%+v, %+v", first, second)
	}
	if hot := m.Story(0, Facts{}).Hot; len(hot) != 2 || hot[0].GroupID != m.In.Order.Item(11) {
		t.Errorf("%+v", hot)
	}
}

// TestStoryOfAnIdleCluster: without queries there is no load, and no slave has
// more than another.
func TestStoryOfAnIdleCluster(t *testing.T) {
	m, items := lay(t, "aabc")
	v := New(balance.Input{Model: m, Items: items, Loads: set{nil, nil, items}, NoQueries: true}, time.Time{})
	s := v.Story(0, Facts{Asked: true})
	if s.MaxOverMean != 1 || s.SlaveOverMean != 1 || s.LowerBound != 1 || s.Load != 0 || !strings.Contains(s.Decision, "queries have stopped") ||
		len(s.Needs) != 1 || !strings.Contains(s.Needs[0], "until queries arrive") {
		t.Errorf("%+v", s)
	}
}

// TestStoryOfAMove follows a slice from one slave to another.
func TestStoryOfAMove(t *testing.T) {
	m := told(t, "aabc", map[uint64]float64{1: 150, 2: 150, 3: 50, 4: 60}, nil)
	change := func(do func(e *balance.Edit) error) *Survey {
		e := m.In.Model.Edit()
		if err := do(e); err != nil {
			t.Fatal(err)
		}
		in := m.In
		var err error
		if in.Model, err = e.Model(); err != nil {
			t.Fatal(err)
		}
		return New(in, time.Time{})
	}
	check := func(verdict api.SliceVerdict, slave, says string) {
		t.Helper()
		i, _ := m.Slice(2)
		s := m.Story(i, Facts{Asked: true})
		if s.Verdict != verdict || s.Slave != slave || !strings.Contains(s.Decision, says) {
			t.Errorf("%s on %s: %s", s.Verdict, s.Slave, s.Decision)
		}
	}
	m = change(func(e *balance.Edit) error { return e.Start(2, 2) })
	check(api.SliceVerdictMoving, "a", "it goes to b, which has 1.46 x the mean with it")
	m = change(func(e *balance.Edit) error { return e.Switch(2) })
	check(api.SliceVerdictMoving, "b", "b serves it from view 2 on; a goes on answering older ones")
	m = change(func(e *balance.Edit) error { return e.Finish(2) })
	check(api.SliceVerdictMoved, "b", "in view 2")
}

// TestStoriesOfAnything: whatever the loads are, there is a decision, and
// something that would have to change; answers fit the document.
func TestStoriesOfAnything(t *testing.T) {
	d := apitest.Read(t, httpapi.Spec)
	rapid.Check(t, func(t *rapid.T) {
		where := "a" + rapid.StringMatching("[abc]{0,7}").Draw(t, "where")
		load, hot := map[uint64]float64{}, map[balance.Key]float64{}
		for i := range where {
			load[uint64(i+1)] = rapid.SampledFrom([]float64{0, 0.1, 1, 50, 1000, 1e12}).Draw(t, "load")
			if rapid.Bool().Draw(t, "hot") {
				hot[balance.Key(i*100+11)] = load[uint64(i+1)] * rapid.Float64Range(0, 1).Draw(t, "part")
			}
		}
		m := told(t, where, load, hot)
		for i := range m.Sums {
			s := m.Story(i, Facts{Asked: true, Events: []api.Event{}, Reasons: []string{}})
			if s.Decision == "" || len(s.Needs) == 0 {
				t.Fatalf("%+v", s)
			}
			d.Fits(t, "SliceStory", jsonOf(t, s))
			d.Fits(t, "SliceInfo", jsonOf(t, m.Info(i)))
		}
	})
}

func TestNames(t *testing.T) {
	m := told(t, "abca", nil, nil)
	if _, err := m.Named("d"); err == nil || !strings.Contains(err.Error(), `no slave "d"; there are a, b and c`) {
		t.Error(err)
	}
	if got := m.Nearest(9); !strings.HasPrefix(got, "the nearest number is 4;") {
		t.Error(got)
	}
	if i, ok := m.Slice(3); !ok || i != 2 {
		t.Error(i, ok)
	}
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("slave-%02d", i))
	}
	if got := listed(names); !strings.HasSuffix(got, "slave-19 and 10 more; `adshard slaves list` shows them") {
		t.Error(got)
	}
	if listed(nil) != "are none" || listed([]string{"a"}) != "is a" {
		t.Error(listed(nil), listed([]string{"a"}))
	}
}

func jsonOf(t rapid.TB, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(b)
}
