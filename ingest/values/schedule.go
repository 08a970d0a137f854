package values

import (
	"errors"
	"fmt"
	"strings"

	"adshard/targeting"
)

var (
	errSchedule   = errors.New("not a schedule: (Monday[08:00-18:00]);(Tuesday@120%[08:00-12:15])")
	errBidPercent = errors.New("a percentage of the bid is 10 to 1000, with at most one decimal")
)

// ParseSchedule reads the schedule of an Editor file and returns it in the form in which databases store it.
func ParseSchedule(cell string) (string, error) {
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
		return i, errSchedule
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
		return i, errSchedule
	}
	if i.From, ok = targeting.ParseQuarter(strings.TrimSpace(from)); !ok {
		return i, errSchedule
	}
	if i.To, ok = targeting.ParseQuarter(strings.TrimSpace(to)); !ok {
		return i, errSchedule
	}
	return i, nil
}

// parseOfBid reads a percentage of the bid, such as 120%, and returns it as permille.
func parseOfBid(s string) (uint16, error) {
	whole, tenth, pointed := strings.Cut(strings.TrimSuffix(strings.TrimSpace(s), "%"), ".")
	if !strings.HasSuffix(strings.TrimSpace(s), "%") || !Digits(whole) || pointed && (!Digits(tenth) || len(tenth) != 1) {
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

// FormatSchedule writes a schedule as ParseSchedule reads it.
func FormatSchedule(text string) string {
	s, _ := targeting.ParseSchedule([]byte(text)) // text is canonical, so it parses
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
