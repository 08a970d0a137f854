package targeting

import (
	"testing"
	"time"

	"adshard/targeting/zone"
)

// TestClockChanges: in six zones a skipped hour never occurs, a repeated hour occurs twice, and the date changes at the zone's midnight,
// even if midnight is what is skipped or repeated.
func TestClockChanges(t *testing.T) {
	utc := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct {
		zone     string
		day      string // of the schedule
		from, to string
		start    string // of the campaign
		shown    []string
		not      []string
	}{
		// Forward: 02:00 to 03:00 does not occur on the 29th.
		{zone: "Europe/Prague", day: "sunday", from: "02:00", to: "03:00", not: []string{"2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"}},
		{zone: "Europe/Prague", day: "sunday", from: "01:45", to: "03:15", shown: []string{"2026-03-29T00:45:00Z", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-03-29T01:14:59Z"},
			not: []string{"2026-03-29T00:44:59Z", "2026-03-29T01:15:00Z"}},
		// Back: 02:00 to 03:00 occurs twice on the 25th.
		{zone: "Europe/Prague", day: "sunday", from: "02:30", to: "02:45", shown: []string{"2026-10-25T00:30:00Z", "2026-10-25T00:44:59Z", "2026-10-25T01:30:00Z", "2026-10-25T01:44:59Z"},
			not: []string{"2026-10-25T00:45:00Z", "2026-10-25T01:15:00Z", "2026-10-25T01:45:00Z"}},
		{zone: "America/New_York", day: "sunday", from: "02:00", to: "03:00", not: []string{"2026-03-08T06:59:59Z", "2026-03-08T07:00:00Z"}},
		{zone: "America/New_York", day: "sunday", from: "01:00", to: "01:15", shown: []string{"2026-11-01T05:00:00Z", "2026-11-01T06:14:59Z"}, not: []string{"2026-11-01T05:15:00Z", "2026-11-01T06:15:00Z", "2026-11-01T07:00:00Z"}},
		// By half an hour: forward at 02:00 on 4 October, back at 02:00 on 5 April.
		{zone: "Australia/Lord_Howe", day: "sunday", from: "02:00", to: "02:30", not: []string{"2026-10-03T15:29:59Z", "2026-10-03T15:30:00Z", "2026-10-03T15:45:00Z"}},
		{zone: "Australia/Lord_Howe", day: "sunday", from: "01:30", to: "01:45", shown: []string{"2026-04-04T14:30:00Z", "2026-04-04T15:00:00Z", "2026-04-04T15:14:59Z"}, not: []string{"2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"}},
		// At midnight: forward on 6 September, so that the day begins at 01:00; back on 5 April, so that the 4th has 25 hours.
		{zone: "America/Santiago", day: "sunday", from: "00:00", to: "01:00", not: []string{"2026-09-06T03:59:59Z", "2026-09-06T04:00:00Z"}},
		{zone: "America/Santiago", start: "2026-09-06", shown: []string{"2026-09-06T04:00:00Z"}, not: []string{"2026-09-06T03:59:59Z"}},
		{zone: "America/Santiago", day: "saturday", from: "23:00", to: "24:00", shown: []string{"2026-04-05T02:00:00Z", "2026-04-05T03:00:00Z", "2026-04-05T03:59:59Z"}, not: []string{"2026-04-05T04:00:00Z"}},
		{zone: "America/Santiago", start: "2026-04-05", shown: []string{"2026-04-05T04:00:00Z"}, not: []string{"2026-04-05T03:59:59Z"}},
		// From UTC to summer time at 01:00 UTC, and back.
		{zone: "Europe/London", day: "sunday", from: "01:00", to: "02:00", shown: []string{"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:59:59Z"},
			not: []string{"2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-10-25T02:00:00Z"}},
		// No clock changes, and quarter hours that differ from those of UTC.
		{zone: "Asia/Kathmandu", day: "monday", from: "00:00", to: "00:15", shown: []string{"2026-03-29T18:15:00Z", "2026-03-29T18:29:59Z"}, not: []string{"2026-03-29T18:14:59Z", "2026-03-29T18:30:00Z"}},
	} {
		z, err := zone.Load(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		said := &Targeting{}
		if c.day != "" {
			day, _ := ParseDay(c.day)
			from, _ := ParseQuarter(c.from)
			to, _ := ParseQuarter(c.to)
			if said.Schedule, err = NewSchedule([]Interval{{day, from, to, Default}}); err != nil {
				t.Fatal(err)
			}
		}
		said.Start, _ = ParseDate(c.start)
		campaign, owner := Compile(said), &Owner{ID: 1, Zone: z}
		for want, list := range map[bool][]string{true: c.shown, false: c.not} {
			for _, text := range list {
				if got := NewJudge(&Context{Time: utc(text)}).Group(campaign, nil, owner); (got.Verdict == Pass) != want {
					t.Errorf("%s, %s %s to %s, from %q on: %s: verdict %d, shown is to be %v", c.zone, c.day, c.from, c.to, c.start, text, got.Verdict, want)
				}
			}
		}
	}
}

// TestManyLocations: a campaign with the largest number of locations is judged by each of them.
func TestManyLocations(t *testing.T) {
	var list []Location
	for i := range MaxLocations {
		l := Location{Place: uint32(i + 1), Modifier: uint16(1000 + i%9000)}
		if l.Exclude = i%7 == 6; l.Exclude {
			l.Modifier = Default
		}
		list = append(list, l)
	}
	locations, err := NewLocations(list)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseLocations([]byte(locations.JSON())); err != nil || again.JSON() != locations.JSON() {
		t.Errorf("they are read again with %v", err)
	}
	c := Compile(&Targeting{Locations: locations})
	for i, l := range list {
		o := NewJudge(&Context{Places: []Place{{ID: l.Place, Presence: true, Depth: 1}}}).Group(c, nil, &Owner{Zone: time.UTC})
		if l.Exclude && o.Verdict != LocationExcluded || !l.Exclude && (o.Verdict != Pass || o.Factors.Location != l.Modifier) {
			t.Fatalf("location %d %v: %+v", i, l, o)
		}
	}
	if o := NewJudge(&Context{Places: []Place{{ID: MaxLocations + 1, Presence: true, Depth: 1}}}).Group(c, nil, &Owner{Zone: time.UTC}); o.Verdict != LocationMissed {
		t.Errorf("another place: %+v", o)
	}
	if _, err := NewLocations(append(list, Location{Place: MaxLocations + 1})); err == nil {
		t.Error("one more is taken")
	}
}
