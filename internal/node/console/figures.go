package console

import (
	"fmt"
	"html/template"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"adshard/auction"
	"adshard/internal/money"
	"adshard/internal/node/httpapi/api"
)

// funcs returns the functions with which templates write figures, with amounts in a currency.
func funcs(currency string) template.FuncMap {
	inCurrency := func(micros uint64) string { return strings.TrimSpace(money.Format(micros) + " " + currency) }
	return template.FuncMap{
		"count": count[int], "count32": count[uint32], "count64": count[uint64], "ratio": ratio, "percent": percent, "bytes": size, "ago": ago, "figure": figure,
		"millis": millis, "lasting": lasting,
		"money": inCurrency, "amount": money.Format, "bar": newBar, "plural": pluralOf,
		"modifier": modifier, "told": isTold, "signed": signed[int], "scored": scoredOf, "form": newItemForm, "capital": capital,
		"changed": newChangedField, "some": some, "given": givenName, "latest": latest, "earlier": earlier, "bound": newBoundText, "late": late,
		"kind": func(kind any) string { return kindName(fmt.Sprint(kind)) }, "spent": spentShare, "paused": pausedText, "quality": quality,
		"place": placeOf, "deed": newSlaveAction, "options": newOptions, "strategyRow": newStrategyRow,
	}
}

// count writes a number with commas.
func count[T int | uint32 | uint64](n T) string {
	text := fmt.Sprint(n)
	var out strings.Builder
	for i, c := range text {
		if i > 0 && (len(text)-i)%3 == 0 && text[i-1] != '-' {
			out.WriteByte(',')
		}
		out.WriteRune(c)
	}
	return out.String()
}

// pluralOf writes a number with its noun, `one` or `many`. The number is an int, int64 or uint64.
func pluralOf(n any, one, many string) (string, error) {
	switch n := n.(type) {
	case int:
		return pluralText(uint64(max(0, n)), one, many), nil
	case int64:
		return pluralText(uint64(max(0, n)), one, many), nil
	case uint64:
		return pluralText(n, one, many), nil
	}
	return "", fmt.Errorf("%T is not a number of things", n)
}

func pluralText(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

func ratio(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }

// figure writes a load.
func figure(x float64) string {
	if x < 100 {
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return count(uint64(math.Round(x)))
}

// digits writes a non-negative number with n significant digits, or all digits before the point if there are more,
// and never with an exponent.
func digits(x float64, n int) string {
	if x <= 0 {
		return "0"
	}
	text := strconv.FormatFloat(x, 'f', max(0, n-1-int(math.Floor(math.Log10(x)))), 64)
	whole, rest, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest = strings.TrimRight(rest, "0"); rest != "" {
		whole += "." + rest
	}
	return whole
}

// millis writes microseconds as milliseconds.
func millis(micros int64) string { return digits(float64(micros)/1000, 3) + " ms" }

// lasting writes a duration, given in milliseconds, in seconds.
func lasting(ms int64) string { return fmt.Sprintf("%d s", max(1, (ms+500)/1000)) }

// size writes a number of bytes.
func size(n uint64) string {
	x, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	for x >= 1024 && len(units) > 1 {
		x, units = x/1024, units[1:]
	}
	if units[0] == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", x, units[0])
}

// some reports whether an element of a list has a value in a field, so that the column of the field is worth showing.
func some(list any, field string) bool {
	v := reflect.ValueOf(list)
	for i := range v.Len() {
		if !v.Index(i).FieldByName(field).IsZero() {
			return true
		}
	}
	return false
}

// shownEvents is the number of events that are not folded.
const shownEvents = 8

func latest(list []api.Event) []api.Event { return list[:min(shownEvents, len(list))] }

func earlier(list []api.Event) []api.Event { return list[len(latest(list)):] }

// late returns how near a time is to the deadline of queries: "warn" from half of it, "bad" from nine tenths. Both are
// known only if they are not 0.
func late(micros int64, deadlineMs uint64) string {
	switch part := float64(micros) / 1000 / float64(deadlineMs); {
	case deadlineMs == 0 || part < 0.5:
		return ""
	case part < 0.9:
		return "warn"
	}
	return "bad"
}

// givenName returns the part of a master's name that its configuration gives; the rest tells its processes apart.
func givenName(name string) string {
	given, _, _ := strings.Cut(name, "/")
	return given
}

// boundText says what determines the best possible max/mean. Data says that the port has pages of ad groups.
type boundText struct {
	Data   bool
	Status *api.BalanceStatus
}

func newBoundText(p page, s *api.BalanceStatus) boundText { return boundText{p.Data, s} }

// spentShare returns how much of its daily budget a campaign has spent, or "" if that is not known.
func spentShare(it api.Item) string {
	if it.SpentMicros == nil || it.DailyBudgetMicros == nil || *it.DailyBudgetMicros == 0 {
		return ""
	}
	return percent(float64(*it.SpentMicros) / float64(*it.DailyBudgetMicros))
}

// pausedText says why something is served as paused whatever its status is.
func pausedText(why api.PausedBy) string {
	switch why {
	case api.PausedByRefusedRow:
		return "its row was rejected"
	case api.PausedByEndDate:
		return "its end date is over"
	case api.PausedByUnfinishedImport:
		return "its import is not finished"
	}
	return string(why)
}

// qualityUnit is the quality of the auction that stands for a quality score of 1.
const qualityUnit = auction.MaxQuality / 10

// quality writes the quality of the auction on the scale of quality scores, 1 to 10.
func quality(q uint64) string { return digits(float64(q)/qualityUnit, 3) }

// modifier writes by how many percent bids on a device are raised.
func modifier(percent *float64) string {
	if percent == nil {
		return "unchanged"
	}
	return strings.Replace(strconv.FormatFloat(*percent, 'f', -1, 64)+" %", "-", "−", 1)
}

// ago writes how long ago something was, given in milliseconds.
func ago(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Second:
		return "now"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// bar draws a slave's load over the mean of all: its length, with marks at the mean and at the best possible
// maximum.
type bar struct {
	Over               float64
	Length, Mean, Best int // in units of which barWidth is the whole
	Level              string
	Bound              float64
}

const barWidth = 200

// newBar draws a load over the mean. `most` is the load of the longest bar and `bound` the best possible maximum.
func newBar(over, most, bound float64) bar {
	scale := max(most, bound, 1.5) * 1.02
	at := func(x float64) int { return int(math.Round(barWidth * min(1, max(0, x)/scale))) }
	b := bar{Over: over, Length: at(over), Mean: at(1), Best: at(bound), Level: "good", Bound: bound}
	switch {
	case over > max(1.1, bound)*1.25:
		b.Level = "bad"
	case over > max(1.1, bound)*1.005:
		b.Level = "warn"
	}
	return b
}

// place is an entry of the navigation.
type place struct {
	Path, Name string
	Here       bool
}

func placeOf(p page, path, name string) place {
	return place{path, name, strings.HasPrefix(p.At, Root+path)}
}

// slaveAction is a form that makes a call for a slave.
type slaveAction struct{ Action, Word, Slave string }

func newSlaveAction(action, word, slave string) slaveAction { return slaveAction{action, word, slave} }

// option is an entry of a list to choose from.
type option struct {
	Value  string
	Chosen bool
}

func newOptions(chosen string, values ...string) (out []option) {
	for _, v := range values {
		out = append(out, option{v, v == chosen})
	}
	return out
}
