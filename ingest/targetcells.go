package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"adshard/backend"
	"adshard/targeting"
)

// Cells of Editor files that say where and when a campaign is shown (serving.md §13).

var (
	errDateCell     = errors.New("not a date: 2026-03-31, 2026/03/31 or 20260331; other orders of day and month cannot be told apart")
	errScheduleCell = errors.New("not a schedule: (Monday[08:00-18:00]);(Tuesday@120%[08:00-12:15])")
	errMethodCell   = errors.New("unknown method: Location of presence; Location of presence or Area of interest")
	errBidPercent   = errors.New("a percentage of the bid is 10 to 1000, with at most one decimal")
)

// date reads a date; what exports write where there is none erases it.
func (s *editorSource) date(c column) backend.Patch[string] {
	if cell := s.cell(c); len(cell) > 0 && slices.ContainsFunc(noDates, func(none string) bool { return strings.EqualFold(string(cell), none) }) {
		return backend.Patch[string]{Op: backend.Reset}
	}
	return patch(s, c, parseDateCell)
}

// parseDateCell reads a date, its year first, as the databases keep it.
func parseDateCell(cell string) (string, error) {
	day := cell
	switch {
	case len(cell) == len("2026/03/31") && cell[4] == '/' && cell[7] == '/':
		day = strings.ReplaceAll(cell, "/", "-")
	case len(cell) == len("20260331") && digits(cell):
		day = cell[:4] + "-" + cell[4:6] + "-" + cell[6:]
	}
	d, ok := targeting.ParseDate(day)
	if !ok {
		return "", errDateCell
	}
	return d.String(), nil
}

// parseMethodCell reports whether only places where the user is count.
func parseMethodCell(cell string) (bool, error) {
	switch plainName(cell) {
	case "locationofpresence":
		return true, nil
	case "locationofpresenceorareaofinterest":
		return false, nil
	}
	return false, errMethodCell
}

// parseScheduleCell reads a schedule as the databases keep it.
func parseScheduleCell(cell string) (string, error) {
	var list []targeting.Interval
	for entry := range strings.SplitSeq(cell, ";") {
		i, err := parseInterval(strings.TrimSpace(entry))
		if err != nil {
			return "", err
		}
		list = append(list, i)
	}
	s, err := targeting.NewSchedule(list)
	return s.JSON(), err
}

// parseInterval reads (Day[08:00-18:00]) or (Day@120%[08:00-18:00]).
func parseInterval(entry string) (i targeting.Interval, err error) {
	inner, ok := strings.CutPrefix(entry, "(")
	inner, ok2 := strings.CutSuffix(inner, ")")
	day, times, ok3 := strings.Cut(strings.TrimSpace(inner), "[")
	times, ok4 := strings.CutSuffix(times, "]")
	if !ok || !ok2 || !ok3 || !ok4 {
		return i, errScheduleCell
	}
	i.Modifier = targeting.Default
	if name, percent, ok := strings.Cut(day, "@"); ok {
		day = name
		if i.Modifier, err = parseOfBid(percent); err != nil {
			return i, err
		}
	}
	from, to, ok := strings.Cut(times, "-")
	if i.Day, ok2 = targeting.ParseDay(strings.TrimSpace(day)); !ok || !ok2 {
		return i, errScheduleCell
	}
	if i.From, ok = targeting.ParseQuarter(strings.TrimSpace(from)); !ok {
		return i, errScheduleCell
	}
	if i.To, ok = targeting.ParseQuarter(strings.TrimSpace(to)); !ok {
		return i, errScheduleCell
	}
	return i, nil
}

// parseOfBid reads a percentage of the bid such as 120% as permille.
func parseOfBid(s string) (uint16, error) {
	whole, tenth, pointed := strings.Cut(strings.TrimSuffix(strings.TrimSpace(s), "%"), ".")
	if !strings.HasSuffix(strings.TrimSpace(s), "%") || !digits(whole) || pointed && (!digits(tenth) || len(tenth) != 1) {
		return 0, errBidPercent
	}
	if !pointed {
		tenth = "0"
	}
	n, ok := number(whole+tenth, targeting.MaxModifier)
	if !ok || n < minLocationModifier {
		return 0, errBidPercent
	}
	return uint16(n), nil
}

// formatSchedule writes a schedule as parseScheduleCell reads it.
func formatSchedule(text string) string {
	s, _ := targeting.ParseSchedule([]byte(text)) // canonical
	var list []string
	for _, i := range s {
		percent := ""
		if i.Modifier != targeting.Default {
			percent = "@" + strings.TrimSuffix(fmt.Sprintf("%d.%d", i.Modifier/10, i.Modifier%10), ".0") + "%"
		}
		list = append(list, fmt.Sprintf("(%v%s[%s-%s])", i.Day, percent, quarter(i.From), quarter(i.To)))
	}
	return strings.Join(list, ";")
}

func quarter(n uint8) string { return fmt.Sprintf("%02d:%02d", n/4, n%4*15) }
