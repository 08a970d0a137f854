package budget

import (
	"math"
	"time"
)

// Whole is the share of a campaign that takes part in all queries.
const Whole = 1_000_000

// Mark is the state of a campaign's budget that the auction needs.
type Mark struct {
	// Exhausted means that the campaign takes no part, whatever its share.
	Exhausted bool
	// Share is the number of queries in a million in which it takes part.
	Share uint32
}

// Account is a campaign's budget for a day and its spend so far.
type Account struct {
	Budget uint64 // micros
	Spent  uint64 // micros spent so far; corrections may lower it
	// Paced means that the spend is spread over the day (delivery method standard). Otherwise the
	// campaign takes part in every query as long as there is money (accelerated).
	Paced bool
}

// Pacer decides the marks of one campaign. It estimates the demand (what the campaign would spend
// if it took part in every query) as remembered spend ÷ remembered time of taking part. It chooses
// the share that brings the spend back to the day's plan within the horizon, so it needs no
// forecast of the traffic.
type Pacer struct {
	options Options
	mark    Mark // the mark in force
	// The decayed sums of micros spent, and of seconds × share.
	spend, part float64

	last  time.Time // time of the last Step; zero if there was none
	day   string    // date at that time
	spent uint64    // Spent at that time
}

// NewPacer returns a pacer for a campaign whose mark is inForce now. For a new campaign that is
// Mark{Share: Whole}.
func NewPacer(o Options, inForce Mark) *Pacer { return &Pacer{options: o, mark: inForce} }

// State is what a Pacer knows. Another process can continue from it.
type State struct {
	Exhausted bool      `json:"exhausted,omitempty"`
	Share     uint32    `json:"share"` // in force
	Spend     float64   `json:"spend"` // remembered micros
	Part      float64   `json:"part"`  // remembered seconds × share
	Last      time.Time `json:"last"`  // time of the last Step; zero if there was none
	Day       string    `json:"day"`   // date at that time
	Spent     uint64    `json:"spent"` // Spent at that time
}

// State returns what the pacer knows.
func (p *Pacer) State() State {
	return State{p.mark.Exhausted, p.mark.Share, p.spend, p.part, p.last, p.day, p.spent}
}

// Resume returns a pacer that continues from a State.
func Resume(o Options, s State) *Pacer {
	return &Pacer{o, Mark{s.Exhausted, s.Share}, s.Spend, s.Part, s.Last, s.Day, s.Spent}
}

// Step returns the mark that applies from a time on, given the account and the day of that time.
// Calls must be in order of time; one per minute is enough. A new day begins with nothing spent,
// and with the demand learned before.
func (p *Pacer) Step(now time.Time, day Day, a Account) Mark {
	p.remember(now, day, a.Spent)
	p.last, p.day, p.spent = now, day.Date, a.Spent
	share := 1.0
	if a.Paced {
		share = max(p.wanted(now, day, a), p.options.Least)
	}
	p.mark = Mark{Exhausted: a.Spent >= a.Budget, Share: p.grained(uint32(math.Round(share * Whole)))}
	return p.mark
}

// remember adds what was spent since the last step to the memory. Across midnight only the spend of
// the new day is known. While the budget was exhausted nothing could be learned.
func (p *Pacer) remember(now time.Time, day Day, spent uint64) {
	if p.last.IsZero() || !now.After(p.last) || p.mark.Exhausted {
		return
	}
	passed, before := now.Sub(p.last), p.spent
	if day.Date != p.day {
		passed, before = min(passed, now.Sub(day.Begin)), 0
	}
	kept := math.Exp2(-passed.Seconds() / p.options.Memory.Seconds())
	p.spend = p.spend*kept + float64(spent-min(spent, before))
	p.part = p.part*kept + passed.Seconds()*float64(p.mark.Share)/Whole
}

// wanted returns the share that would bring the spend back to its plan at the horizon, or at the
// day's end if that is earlier.
func (p *Pacer) wanted(now time.Time, day Day, a Account) float64 {
	until := now.Add(p.options.Horizon)
	if until.After(day.End) {
		until = day.End
	}
	goal := day.Planned(a.Budget, until)
	switch {
	case a.Spent >= goal:
		return 0
	case p.part == 0: // nothing is known yet
		return min(p.options.Start, float64(p.mark.Share)/Whole)
	case p.spend == 0: // no demand, or none known yet
		return min(1, 2*float64(p.mark.Share)/Whole)
	}
	demand := p.spend / p.part // micros per second
	return min(1, float64(goal-a.Spent)/(demand*until.Sub(now).Seconds()))
}

// grained returns the given share, or the present one if the two differ by less than the grain. A
// full share is always returned, since it costs searches nothing.
func (p *Pacer) grained(share uint32) uint32 {
	change := math.Abs(float64(share) - float64(p.mark.Share))
	if share == Whole || change > p.options.Grain*float64(p.mark.Share) {
		return share
	}
	return p.mark.Share
}
