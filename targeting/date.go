package targeting

import (
	"fmt"
	"time"
)

// Date is a day of the calendar as yyyymmdd, so that dates compare as numbers. 0 means no date.
type Date uint32

// DateOf returns the date that a wall clock shows.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date(y*10_000 + int(m)*100 + d)
}

// ParseDate reads a date such as 2026-03-31.
func ParseDate(s string) (Date, bool) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 1 {
		return 0, false
	}
	return DateOf(t), true
}

// String returns the date as 2026-03-31, or "" for no date.
func (d Date) String() string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d/10_000, d/100%100, d%100)
}
