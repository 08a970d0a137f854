package budget_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/budget"
	"adshard/fault"
)

// slowPacer is a Pacer that keeps all of its input and computes each share from all of it.
type slowPacer struct {
	options budget.Options
	mark    budget.Mark
	steps   []slowStep
}

type slowStep struct {
	at      time.Time
	day     budget.Day
	account budget.Account
	mark    budget.Mark // the mark from then on
}

func (p *slowPacer) step(now time.Time, day budget.Day, a budget.Account) budget.Mark {
	p.steps = append(p.steps, slowStep{at: now, day: day, account: a})
	share := p.options.Least
	until := now.Add(p.options.Horizon)
	if day.End.Before(until) {
		until = day.End
	}
	goal := day.Planned(a.Budget, until)
	spend, part := p.memory()
	switch {
	case !a.Paced:
		share = 1
	case a.Spent >= goal:
	case part == 0:
		share = max(share, min(p.options.Start, float64(p.mark.Share)/budget.Whole))
	case spend == 0:
		share = max(share, min(1, float64(p.mark.Share)/(budget.Whole/2)))
	default:
		share = max(share, min(1, float64(goal-a.Spent)*part/spend/until.Sub(now).Seconds()))
	}
	told := uint32(math.Round(share * budget.Whole))
	if was := float64(p.mark.Share); told != budget.Whole && math.Abs(float64(told)-was) <= p.options.Grain*was {
		told = p.mark.Share
	}
	p.mark = budget.Mark{Exhausted: a.Spent >= a.Budget, Share: told}
	p.steps[len(p.steps)-1].mark = p.mark
	return p.mark
}

// memory sums over all steps. It weights each by its age, counted in the time during which
// something could be learned.
func (p *slowPacer) memory() (spend, part float64) {
	age := 0.0
	for i := len(p.steps) - 1; i > 0; i-- {
		s, before := p.steps[i], p.steps[i-1]
		passed, first := s.at.Sub(before.at), before.account.Spent
		if s.day.Date != before.day.Date {
			passed, first = min(passed, s.at.Sub(s.day.Begin)), 0
		}
		if before.mark.Exhausted || passed <= 0 {
			continue
		}
		weight := math.Pow(0.5, age/p.options.Memory.Seconds())
		if s.account.Spent > first {
			spend += weight * float64(s.account.Spent-first)
		}
		part += weight * passed.Seconds() * float64(before.mark.Share) / budget.Whole
		age += passed.Seconds()
	}
	return spend, part
}

func TestPacerIsTheOracles(t *testing.T) {
	z := zone(t, "Europe/Prague")
	rapid.Check(t, func(t *rapid.T) {
		o := budget.Options{
			Horizon: time.Duration(rapid.IntRange(1, 300).Draw(t, "horizon")) * time.Minute,
			Memory:  time.Duration(rapid.IntRange(1, 300).Draw(t, "memory")) * time.Minute,
			Least:   rapid.SampledFrom([]float64{0.000001, 0.001, 0.5}).Draw(t, "least"),
			Start:   rapid.SampledFrom([]float64{0.01, 0.1, 1}).Draw(t, "start"),
			Grain:   rapid.SampledFrom([]float64{0, 0.05, 0.5}).Draw(t, "grain"),
		}
		in := budget.Mark{Share: rapid.SampledFrom([]uint32{budget.Whole, 300_000, 1}).Draw(t, "share in force")}
		fast, slow := budget.NewPacer(o, in), &slowPacer{options: o, mark: in}
		now := time.Unix(1_790_000_000, 0)
		a, date := budget.Account{Budget: 1_000_000_000, Paced: true}, ""
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 7200).Draw(t, "seconds")) * time.Second)
			day := budget.DayOf(now, z)
			if day.Date != date {
				a.Spent, date = 0, day.Date
			}
			a.Spent += rapid.SampledFrom([]uint64{0, 1, 1_000_000, 40_000_000, 400_000_000}).Draw(t, "spent")
			if rapid.IntRange(0, 9).Draw(t, "corrected") == 0 {
				a.Spent /= 2
			}
			a.Paced = rapid.IntRange(0, 9).Draw(t, "accelerated") > 0
			got, want := fast.Step(now, day, a), slow.step(now, day, a)
			near := math.Abs(float64(got.Share)-float64(want.Share)) <= 1
			if got.Exhausted != want.Exhausted || !near {
				t.Fatalf("at %v with %+v: got %+v, want %+v", now, a, got, want)
			}
			slow.mark, slow.steps[len(slow.steps)-1].mark = got, got // so that rounding errors do not add up
		}
	})
}

func TestMarks(t *testing.T) {
	day := budget.DayOf(time.Unix(1_790_000_000, 0), time.UTC)
	at := func(share float64) time.Time {
		return day.Begin.Add(time.Duration(share * float64(day.Length())))
	}
	o := budget.DefaultOptions()
	for _, c := range []struct {
		name string
		in   uint32
		at   float64
		a    budget.Account
		want budget.Mark
	}{
		{"no budget at all", budget.Whole, 0.5, budget.Account{Paced: true}, budget.Mark{Exhausted: true, Share: 100}},
		{"used up", budget.Whole, 0.5, budget.Account{Budget: 5, Spent: 5}, budget.Mark{Exhausted: true, Share: budget.Whole}},
		{"accelerated", 400_000, 0.1, budget.Account{Budget: 1000, Spent: 999}, budget.Mark{Share: budget.Whole}},
		{"ahead of the plan", budget.Whole, 0.5, budget.Account{Budget: 1000, Spent: 600, Paced: true}, budget.Mark{Share: 100}},
		{"the first step starts low", budget.Whole, 0.5, budget.Account{Budget: 1000, Spent: 500, Paced: true}, budget.Mark{Share: 100_000}},
		{"the first step keeps what is lower", 30_000, 0.5, budget.Account{Budget: 1000, Spent: 500, Paced: true}, budget.Mark{Share: 30_000}},
	} {
		if got := budget.NewPacer(o, budget.Mark{Share: c.in}).Step(at(c.at), day, c.a); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestOptions(t *testing.T) {
	if err := budget.DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
	for field, change := range map[string]func(*budget.Options){
		"horizon": func(o *budget.Options) { o.Horizon = time.Second },
		"memory":  func(o *budget.Options) { o.Memory = 13 * time.Hour },
		"start":   func(o *budget.Options) { o.Start = 0 },
		"least":   func(o *budget.Options) { o.Least = 0 },
		"grain":   func(o *budget.Options) { o.Grain = 1 },
	} {
		o := budget.DefaultOptions()
		change(&o)
		if err := o.Validate(); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
