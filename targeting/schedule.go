package targeting

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Interval is a part of a weekday, [From, To) in quarter hours from 0 to 96, with its modifier in permille.
type Interval struct {
	Day      time.Weekday
	From, To uint8
	Modifier uint16
}

// Schedule is when a campaign is shown, on its advertiser's wall clock. Intervals are sorted by day, from Monday,
// then by From. An empty schedule means always.
type Schedule []Interval

// Bounds of a schedule.
const (
	dayQuarters  = 96
	maxIntervals = 6 // per day
)

var (
	errTime     = errors.New("times are quarter hours from 00:00 to 24:00, e.g. 08:15")
	errInterval = errors.New("an interval ends after its beginning, on the same day")
	errDay      = errors.New("days are monday, tuesday and so on")
)

// ParseDay reads the English name of a weekday, in upper or lower case.
func ParseDay(s string) (time.Weekday, bool) {
	for d := range time.Weekday(7) {
		if strings.EqualFold(s, d.String()) {
			return d, true
		}
	}
	return 0, false
}

// ParseQuarter reads a time such as 08:15 as a number of quarter hours.
func ParseQuarter(s string) (uint8, bool) {
	if len(s) != 5 || s[2] != ':' {
		return 0, false
	}
	for _, i := range [...]int{0, 1, 3, 4} {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	hour, minute := int(s[0]-'0')*10+int(s[1]-'0'), int(s[3]-'0')*10+int(s[4]-'0')
	n := hour*4 + minute/15
	return uint8(n), minute < 60 && minute%15 == 0 && n <= dayQuarters
}

// ParseSchedule reads the JSON form of serving.md §13: a list of objects with day, from, to and modifier_percent.
func ParseSchedule(raw []byte) (Schedule, error) {
	list, err := elements(raw, 7*maxIntervals)
	if err != nil {
		return nil, err
	}
	s := make(Schedule, 0, len(list))
	for _, e := range list {
		i, err := parseInterval(e)
		if err != nil {
			return nil, err
		}
		s = append(s, i)
	}
	return NewSchedule(s)
}

func parseInterval(raw []byte) (i Interval, err error) {
	var day, from, to, modifier json.RawMessage
	if err := members(raw, map[string]*json.RawMessage{"day": &day, "from": &from, "to": &to, "modifier_percent": &modifier}); err != nil {
		return i, err
	}
	name, _ := text(day)
	begin, _ := text(from)
	end, _ := text(to)
	var ok bool
	if i.Day, ok = ParseDay(name); !ok {
		return i, errDay
	}
	if i.From, ok = ParseQuarter(begin); !ok {
		return i, errTime
	}
	if i.To, ok = ParseQuarter(end); !ok {
		return i, errTime
	}
	i.Modifier, err = modifierOf(modifier)
	return i, err
}

// NewSchedule returns the intervals as a schedule, or an error if they do not form one.
func NewSchedule(list []Interval) (Schedule, error) {
	s := slices.Clone(list)
	slices.SortFunc(s, func(a, b Interval) int {
		return cmp.Or(cmp.Compare(fromMonday(a.Day), fromMonday(b.Day)), cmp.Compare(a.From, b.From))
	})
	ofDay := 0
	for n, i := range s {
		if i.From >= i.To {
			return nil, errInterval
		}
		if n == 0 || s[n-1].Day != i.Day {
			ofDay = 0
		} else if s[n-1].To > i.From {
			return nil, fmt.Errorf("intervals of %v overlap", i.Day)
		}
		if ofDay++; ofDay > maxIntervals {
			return nil, fmt.Errorf("more than %d intervals on %v", maxIntervals, i.Day)
		}
	}
	return s, nil
}

func fromMonday(d time.Weekday) int { return (int(d) + 6) % 7 }

// JSON returns the canonical form, which ParseSchedule reads, or "" if the schedule is empty.
func (s Schedule) JSON() string {
	if len(s) == 0 {
		return ""
	}
	var w writer
	w.open('[')
	for _, i := range s {
		w.next()
		w.open('{')
		w.member("day")
		w.text(strings.ToLower(i.Day.String()))
		w.member("from")
		w.text(quarter(i.From))
		w.member("to")
		w.text(quarter(i.To))
		w.modifier(i.Modifier)
		w.close('}')
	}
	w.close(']')
	return w.String()
}

func quarter(n uint8) string { return fmt.Sprintf("%02d:%02d", n/4, n%4*15) }

// at returns the interval that contains a moment of the wall clock, if there is one.
func (s Schedule) at(day time.Weekday, quarter uint8) (Interval, bool) {
	for _, i := range s {
		if i.Day == day && i.From <= quarter && quarter < i.To {
			return i, true
		}
	}
	return Interval{}, false
}
