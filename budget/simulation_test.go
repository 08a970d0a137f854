package budget_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"adshard/budget"
)

// traffic is the number of queries per second in each hour of the day, relative to the mean: few at
// night, most in the evening.
var traffic = [24]float64{
	0.5, 0.35, 0.25, 0.2, 0.2, 0.3, 0.5, 0.8, 1.05, 1.2, 1.3, 1.3, 1.25, 1.25, 1.25, 1.25, 1.3, 1.35, 1.4, 1.55, 1.6, 1.5, 1.2, 0.85,
}

// simulation is a campaign in simulated traffic.
type simulation struct {
	zone   *time.Location
	demand float64       // demand of a day with mean traffic, as a multiple of the budget
	clicks int           // number of clicks that the budget pays for
	lag    time.Duration // between an answer and the time when its clicks are counted
	paced  bool
	dice   *rand.Rand
	pacer  *budget.Pacer
}

// course is the result of a day.
type course struct {
	day   budget.Day
	spent float64   // as a part of the budget
	hours []float64 // spent by the end of each hour, as a part of the budget
	last  float64   // part of the day that had passed at the last click
	stop  float64   // part of the day that had passed when the budget was marked as exhausted; 1 if it never was
	peak  float64   // highest spend in a minute, as a part of the budget
}

const (
	simPrice = 500_000 // micros per click
	simTick  = 10 * time.Second
	simStep  = time.Minute // between two decisions
)

// run simulates a day.
func (s *simulation) run(day budget.Day) course {
	c := course{day: day, stop: 1}
	a := budget.Account{Budget: uint64(s.clicks) * simPrice, Paced: s.paced}
	mark := s.pacer.Step(day.Begin, day, a)
	spent, known, minute := uint64(0), []uint64{}, uint64(0)
	for at := day.Begin; at.Before(day.End); at = at.Add(simTick) {
		over := float64(at.Sub(day.Begin)) / float64(day.Length())
		if passed := at.Sub(day.Begin); passed > 0 && passed%simStep == 0 {
			c.peak, minute = max(c.peak, float64(spent-minute)/float64(a.Budget)), spent
			if i := len(known) - int(s.lag/simTick); i > 0 {
				a.Spent = known[i-1]
			}
			if mark = s.pacer.Step(at, day, a); mark.Exhausted {
				c.stop = min(c.stop, over)
			}
			if passed%time.Hour == 0 {
				c.hours = append(c.hours, float64(spent)/float64(a.Budget))
			}
		}
		if n := s.drawn(at, mark); n > 0 {
			spent, c.last = spent+n*simPrice, over
		}
		known = append(known, spent)
	}
	c.spent = float64(spent) / float64(a.Budget)
	return c
}

// drawn returns the number of clicks in a tick: it draws a hundred chances with the probability
// that the traffic and the mark give.
func (s *simulation) drawn(at time.Time, mark budget.Mark) (n uint64) {
	if mark.Exhausted {
		return 0
	}
	chance := s.demand * float64(s.clicks) * traffic[at.In(s.zone).Hour()] * simTick.Hours() / 24 / 100
	for range 100 {
		if s.dice.Float64() < chance*float64(mark.Share)/budget.Whole {
			n++
		}
	}
	return n
}

func simulate(t *testing.T, zoneName string, s simulation) func(date string) course {
	t.Helper()
	s.zone = zone(t, zoneName)
	s.dice = rand.New(rand.NewPCG(31, uint64(s.clicks)))
	s.pacer = budget.NewPacer(budget.DefaultOptions(), budget.Mark{Share: budget.Whole})
	return func(date string) course {
		noon, err := time.ParseInLocation("2006-01-02 15", date+" 12", s.zone)
		if err != nil {
			t.Fatal(err)
		}
		return s.run(budget.DayOf(noon, s.zone))
	}
}

// TestStandardLastsTheDay: a paced campaign spends all of its budget and little more, and takes
// part until the day ends, however long the day is and whatever the demand.
func TestStandardLastsTheDay(t *testing.T) {
	for _, c := range []struct {
		zone   string
		dates  []string // consecutive dates
		demand float64
		clicks int
		lag    time.Duration
		off    float64 // part of the budget
		ahead  float64 // how far it may be ahead of the plan
		behind float64 // how far it may be behind the plan, since the demand at night may be lower
	}{
		{"UTC", []string{"2026-11-23", "2026-11-24", "2026-11-25"}, 3, 2000, 0, 0.02, 0.02, 0.08},
		{"UTC", []string{"2026-11-23", "2026-11-24"}, 10, 2000, time.Minute, 0.02, 0.02, 0.02},
		{"UTC", []string{"2026-11-23", "2026-11-24"}, 100, 2000, 2 * time.Minute, 0.03, 0.03, 0.02},
		{"Europe/Prague", []string{"2026-03-28", "2026-03-29", "2026-03-30"}, 3, 2000, time.Minute, 0.02, 0.02, 0.08},
		{"Europe/Prague", []string{"2026-10-24", "2026-10-25", "2026-10-26"}, 3, 2000, time.Minute, 0.02, 0.02, 0.08},
		{"America/Sao_Paulo", []string{"2018-11-03", "2018-11-04"}, 3, 2000, time.Minute, 0.02, 0.02, 0.08},
		{"UTC", []string{"2026-11-23", "2026-11-24"}, 20, 50, time.Minute, 0.04, 0.06, 0.04},
	} {
		day := simulate(t, c.zone, simulation{demand: c.demand, clicks: c.clicks, lag: c.lag, paced: true})
		for _, date := range c.dates {
			got := day(date)
			t.Logf("%s %s (%.3g h), demand %g: spent %.4f, last click %.4f, exhausted %.4f, by hour %.3f",
				c.zone, date, got.day.Length().Hours(), c.demand, got.spent, got.last, got.stop, got.hours)
			if got.spent < 1-c.off || got.spent > 1+c.off {
				t.Errorf("%s %s, demand %g: %.4f of the budget were spent", c.zone, date, c.demand, got.spent)
			}
			if got.last < 0.97 || got.stop < 0.97 {
				t.Errorf("%s %s, demand %g: the last click was after %.4f of the day, exhausted after %.4f", c.zone, date, c.demand, got.last, got.stop)
			}
			for i, spent := range got.hours {
				plan := float64(i+1) / got.day.Length().Hours()
				if spent > plan+c.ahead || spent < plan-c.behind {
					t.Errorf("%s %s, demand %g: %.3f after %d hours, planned %.3f", c.zone, date, c.demand, spent, i+1, plan)
				}
			}
		}
	}
}

// TestAcceleratedEndsEarly: without pacing the budget is gone before noon. Only what the lag lets
// through is spent beyond it.
func TestAcceleratedEndsEarly(t *testing.T) {
	for _, lag := range []time.Duration{0, time.Minute, 5 * time.Minute} {
		day := simulate(t, "Europe/Prague", simulation{demand: 5, clicks: 2000, lag: lag})
		for _, date := range []string{"2026-03-28", "2026-03-29", "2026-03-30"} {
			got := day(date)
			most := 1 + got.peak*((lag+simStep).Minutes()+1)
			t.Logf("%s, lag %v: spent %.4f of at most %.4f, exhausted after %.3f of the day", date, lag, got.spent, most, got.stop)
			if got.stop > 0.5 || got.last > 0.5 || got.spent < 1 || got.spent > most {
				t.Errorf("%s, lag %v: %.4f of the budget were spent, at most %.4f expected; exhausted after %.3f of the day, last click %.3f",
					date, lag, got.spent, most, got.stop, got.last)
			}
		}
	}
}

// TestPoorDemandIsNotHeldBack: a campaign that cannot spend its budget spends as much as it
// can.
func TestPoorDemandIsNotHeldBack(t *testing.T) {
	day := simulate(t, "UTC", simulation{demand: 0.5, clicks: 2000, lag: time.Minute, paced: true})
	for _, date := range []string{"2026-11-23", "2026-11-24"} {
		got := day(date)
		t.Logf("%s: spent %.4f, by hour %.3f", date, got.spent, got.hours)
		if got.spent < 0.45 || got.stop < 1 {
			t.Errorf("%s: %.4f of the budget were spent, exhausted after %.3f", date, got.spent, got.stop)
		}
	}
}
