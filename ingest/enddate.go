package ingest

import (
	"strconv"
	"strings"
	"time"
)

// endDate is what a cell End Date says: until which day a campaign is to be shown.
type endDate struct {
	filled bool
	none   bool // it erases the date
	// latest are the days that it can mean, or none if it cannot be read.
	readings []time.Time
}

// noDates are cells by which exports say that there is no end.
var noDates = []string{"[]", "none", "--", "—", "–", "-", "n/a"}

// parseEndDate reads a day, its year first. Where the year is last, the order of day and month depends on the
// language of the program that wrote the file: each is a reading. A time of day behind it does not count.
func parseEndDate(cell string) endDate {
	d := endDate{filled: cell != ""}
	for _, none := range noDates {
		if strings.EqualFold(cell, none) {
			d.none = true
			return d
		}
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
			d.readings = append(d.readings, t)
		}
	}
	return d
}

// dayOf returns the beginning of a day in UTC.
func dayOf(year, month, day string) (time.Time, bool) {
	if len(year) != 4 || !digits(year) || !digits(month) || !digits(day) {
		return time.Time{}, false
	}
	y, _ := strconv.Atoi(year)
	m, err1 := strconv.Atoi(month)
	d, err2 := strconv.Atoi(day)
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return t, err1 == nil && err2 == nil && len(month) <= 2 && len(day) <= 2 && t.Year() == y && int(t.Month()) == m && t.Day() == d
}

// over reports whether the date is over at a time in a zone. A date that cannot be read counts as over, and so does
// one with any reading that is over: nothing is shown because a cell could not be read.
func (d endDate) over(now time.Time, zone *time.Location) bool {
	if d.none {
		return false
	}
	y, m, day := now.In(zone).Date()
	today := time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
	for _, t := range d.readings {
		if t.Before(today) {
			return true
		}
	}
	return len(d.readings) == 0
}
