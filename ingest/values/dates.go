package values

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"adshard/targeting"
	"adshard/targeting/zone"
)

var (
	errDate     = errors.New("not a date such as 2026-03-31")
	errDateCell = errors.New("not a date: 2026-03-31, 2026/03/31 or 20260331; other orders of day and month cannot be told apart")
)

// ParseDate reads a date and returns it in the form in which databases store it.
func ParseDate(s string) (string, error) {
	d, ok := targeting.ParseDate(s)
	if !ok {
		return "", errDate
	}
	return d.String(), nil
}

// ParseDateCell reads a date of an Editor file, with its year first, and returns it in the form in which databases
// store it.
func ParseDateCell(cell string) (string, error) {
	day := cell
	switch {
	case len(cell) == len("2026/03/31") && cell[4] == '/' && cell[7] == '/':
		day = strings.ReplaceAll(cell, "/", "-")
	case len(cell) == len("20260331") && Digits(cell):
		day = cell[:4] + "-" + cell[4:6] + "-" + cell[6:]
	}
	d, ok := targeting.ParseDate(day)
	if !ok {
		return "", errDateCell
	}
	return d.String(), nil
}

// Zones checks names of time zones. It remembers the last one, since many rows have the same and looking one up may
// read a file.
type Zones struct{ last string }

// Parse returns the name if there is such a time zone, or an error.
func (z *Zones) Parse(name string) (string, error) {
	if name != z.last || name == "" {
		if _, err := zone.Load(name); err != nil {
			return "", err
		}
		z.last = strings.Clone(name)
	}
	return z.last, nil
}

// EndDate is the content of a cell End Date: the last day on which a campaign is shown.
type EndDate struct {
	None bool // the cell erases the date
	// Readings are the days that the cell can mean, or none if it cannot be read.
	Readings []time.Time
}

// noDates are the cells by which exports say that there is no date.
var noDates = []string{"[]", "none", "--", "—", "–", "-", "n/a"}

// IsNoDate reports whether a cell says that there is no date.
func IsNoDate(cell string) bool {
	return slices.ContainsFunc(noDates, func(none string) bool { return strings.EqualFold(cell, none) })
}

// ParseEndDate reads a day with its year first. If the year is last, the order of day and month depends on the
// language of the program that wrote the file; then each order is a reading. A time of day after the date is ignored.
func ParseEndDate(cell string) EndDate {
	d := EndDate{}
	if d.None = IsNoDate(cell); d.None {
		return d
	}
	day, _, _ := strings.Cut(strings.ReplaceAll(cell, "T", " "), " ")
	parts := strings.FieldsFunc(day, func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	if len(parts) == 1 && len(day) == len("20260331") {
		parts = []string{day[:4], day[4:6], day[6:]}
	}
	if len(parts) != 3 {
		return d
	}
	orders := [][3]int{{0, 1, 2}}
	if len(parts[2]) == 4 {
		orders = [][3]int{{2, 1, 0}, {2, 0, 1}}
	}
	for _, o := range orders {
		if t, ok := dayOf(parts[o[0]], parts[o[1]], parts[o[2]]); ok {
			d.Readings = append(d.Readings, t)
		}
	}
	return d
}

// dayOf returns the beginning of a day in UTC.
func dayOf(year, month, day string) (time.Time, bool) {
	if len(year) != 4 || !Digits(year) || !Digits(month) || !Digits(day) {
		return time.Time{}, false
	}
	y, _ := strconv.Atoi(year)
	m, err1 := strconv.Atoi(month)
	d, err2 := strconv.Atoi(day)
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return t, err1 == nil && err2 == nil && len(month) <= 2 && len(day) <= 2 && t.Year() == y && int(t.Month()) == m && t.Day() == d
}

// Over reports whether the date is over at a time in a zone. A date that cannot be read is over, and so is one with
// any reading that is over: nothing must be shown because a cell could not be read.
func (d EndDate) Over(now time.Time, zone *time.Location) bool {
	if d.None {
		return false
	}
	y, m, day := now.In(zone).Date()
	today := time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
	for _, t := range d.Readings {
		if t.Before(today) {
			return true
		}
	}
	return len(d.Readings) == 0
}
