package budget

import (
	"math/bits"
	"time"
)

// Day is a day in a time zone, from Begin up to, not including, End. Days follow each other without
// gaps: a day begins when the zone's calendar first shows its date or a later one. So a day has 23
// or 25 hours if the clocks change. If its midnight is skipped, it begins after the gap. A repeated
// hour across midnight belongs to the later day, and a skipped date has no day.
type Day struct {
	Date       string // as 2026-03-29
	Begin, End time.Time
}

// DayOf returns the day of a time in a zone.
func DayOf(t time.Time, zone *time.Location) Day {
	y, m, d := t.In(zone).Date()
	begin, end := midnight(y, m, d, zone), midnight(y, m, d+1, zone)
	for !end.After(t) { // the zone had already shown a later date
		d++
		begin, end = end, midnight(y, m, d+1, zone)
	}
	return Day{Date: time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), Begin: begin, End: end}
}

// Length returns how long the day lasts in real time.
func (d Day) Length() time.Duration { return d.End.Sub(d.Begin) }

// Planned returns how much of a budget an even spend would have used at a time: the budget times
// the elapsed part of the day's real time, rounded down.
func (d Day) Planned(budget uint64, at time.Time) uint64 {
	passed, length := min(max(0, at.Sub(d.Begin)), d.Length()), d.Length()
	hi, lo := bits.Mul64(budget, uint64(passed))
	if hi >= uint64(length) { // only if the whole day has passed
		return budget
	}
	planned, _ := bits.Div64(hi, lo, uint64(length))
	return planned
}

// farthest is more than any zone is ahead of UTC; the largest offset in the tz database is below 16
// hours.
const farthest = 24 * time.Hour

// midnight returns the first time at which a zone shows a date or a later one. While the offset
// from UTC stays the same, dates only grow, so each offset has one candidate.
func midnight(year int, month time.Month, day int, zone *time.Location) time.Time {
	utc := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	at := utc.Add(-farthest).In(zone)
	for {
		_, offset := at.Zone()
		_, end := at.ZoneBounds()
		first := utc.Add(-time.Duration(offset) * time.Second)
		if first.Before(at) {
			first = at
		}
		if end.IsZero() || first.Before(end) {
			return first.In(zone)
		}
		at = end
	}
}
