package budget_test

import (
	"math/big"
	"testing"
	"time"
	_ "time/tzdata" // the zones below, whatever zones the machine has

	"pgregory.net/rapid"

	"adshard/budget"
)

// zones are some ordinary zones, and some that skip or repeat midnights, half hours or whole dates.
var zones = []string{
	"UTC", "Europe/Prague", "America/New_York", "Asia/Kathmandu", "America/Sao_Paulo", "America/Havana", "Asia/Beirut",
	"Africa/Cairo", "America/Asuncion", "America/St_Johns", "Australia/Lord_Howe", "Antarctica/Troll", "Pacific/Apia",
	"Pacific/Kwajalein", "Africa/Monrovia", "America/Scoresbysund", "Asia/Tehran",
}

func zone(t interface{ Fatal(...any) }, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// slowDate returns the latest date that a zone has shown up to a time, by looking at every minute.
func slowDate(t time.Time, z *time.Location) string {
	latest := t.In(z).Format(time.DateOnly)
	for at := t.Add(-50 * time.Hour).Truncate(time.Minute); at.Before(t); at = at.Add(time.Minute) {
		latest = max(latest, at.In(z).Format(time.DateOnly))
	}
	return latest
}

// checkDay compares the day of a time with slowDate.
func checkDay(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, at time.Time, z *time.Location) {
	d := budget.DayOf(at, z)
	if at.Before(d.Begin) || !at.Before(d.End) {
		t.Fatalf("%v in %v: the day is %v to %v", at, z, d.Begin, d.End)
	}
	for _, c := range []struct {
		at   time.Time
		same bool
	}{{at, true}, {d.Begin, true}, {d.Begin.Add(-1), false}, {d.End.Add(-1), true}, {d.End, false}} {
		if got := slowDate(c.at, z); (got == d.Date) != c.same {
			t.Fatalf("%v in %v: the day %s is %v to %v, and at %v it is %s", at, z, d.Date, d.Begin, d.End, c.at, got)
		}
	}
	if next := budget.DayOf(d.End, z); !next.Begin.Equal(d.End) {
		t.Fatalf("%v in %v: the day ends %v, the next one begins %v", at, z, d.End, next.Begin)
	}
}

func TestDaysAreTheOracles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		at := time.Unix(rapid.Int64Range(0, 2_000_000_000).Draw(t, "time"), 0)
		if rapid.Bool().Draw(t, "near a change") { // of the zone's offset
			if begin, _ := at.In(z).ZoneBounds(); !begin.IsZero() {
				at = begin.Add(time.Duration(rapid.IntRange(-100, 100).Draw(t, "minutes")) * time.Minute)
			}
		}
		checkDay(t, at, z)
	})
}

func TestUnusualDays(t *testing.T) {
	for _, c := range []struct {
		zone, at, date, begin string
		hours                 float64
	}{
		{"UTC", "2026-03-29T12:00:00Z", "2026-03-29", "2026-03-29T00:00:00Z", 24},
		{"Europe/Prague", "2026-03-29T12:00:00Z", "2026-03-29", "2026-03-28T23:00:00Z", 23},
		{"Europe/Prague", "2026-10-25T12:00:00Z", "2026-10-25", "2026-10-24T22:00:00Z", 25},
		{"Australia/Lord_Howe", "2024-10-06T06:00:00Z", "2024-10-06", "2024-10-05T13:30:00Z", 23.5},
		// Midnight does not exist: the clocks go from 0:00 to 1:00.
		{"America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04", "2018-11-04T03:00:00Z", 23},
		{"Africa/Cairo", "2024-04-26T12:00:00Z", "2024-04-26", "2024-04-25T22:00:00Z", 23},
		// At 0:00 the clocks go back to 23:00: the repeated hour belongs to the day before.
		{"America/Sao_Paulo", "2018-02-18T02:30:00Z", "2018-02-17", "2018-02-17T02:00:00Z", 25},
		// Midnight occurs twice: at 1:00 the clocks go back to 0:00.
		{"America/Havana", "2024-11-03T12:00:00Z", "2024-11-03", "2024-11-03T04:00:00Z", 25},
		// At 0:01 the clocks go back to 23:01: the new day has begun and continues.
		{"America/St_Johns", "2010-11-07T03:00:00Z", "2010-11-07", "2010-11-07T02:30:00Z", 25},
		// There was no 30 December 2011.
		{"Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29", "2011-12-29T10:00:00Z", 24},
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31", "2011-12-30T10:00:00Z", 24},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		z := zone(t, c.zone)
		d := budget.DayOf(at, z)
		if begin := d.Begin.UTC().Format(time.RFC3339); d.Date != c.date || begin != c.begin || d.Length().Hours() != c.hours {
			t.Errorf("%s in %s: %s from %s for %g h, want %s from %s for %g h", c.at, c.zone, d.Date, begin, d.Length().Hours(),
				c.date, c.begin, c.hours)
		}
		checkDay(t, at, z)
	}
}

func TestPlannedIsTheOracles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := budget.DayOf(time.Unix(rapid.Int64Range(0, 2_000_000_000).Draw(t, "time"), 0), zone(t, rapid.SampledFrom(zones).Draw(t, "zone")))
		amount := rapid.Uint64().Draw(t, "budget")
		at := d.Begin.Add(time.Duration(rapid.Int64Range(-int64(time.Hour), int64(30*time.Hour)).Draw(t, "passed")))
		passed := min(max(0, at.Sub(d.Begin)), d.Length())
		want := new(big.Int).Mul(new(big.Int).SetUint64(amount), big.NewInt(int64(passed)))
		want.Div(want, big.NewInt(int64(d.Length())))
		if got := d.Planned(amount, at); got != want.Uint64() {
			t.Fatalf("%d of %v at %v: got %d, want %v", amount, d, at, got, want)
		}
	})
}
