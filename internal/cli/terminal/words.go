package terminal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Ago returns the time since an event as text, as in "2 min ago".
func Ago(ms int64) string {
	if ms < 1000 {
		return "just now"
	}
	return Lasting(ms) + " ago"
}

// Lasting returns a duration in its one or two largest units as text.
func Lasting(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", ms)
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < 10*time.Minute && d%time.Minute >= time.Second:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 10*time.Hour && d%time.Hour >= time.Minute:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// Grouped returns a number with commas between thousands.
func Grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Loaded returns a load per second as text, with decimals if it is small.
func Loaded(x float64) string {
	switch {
	case x <= 0 || math.IsNaN(x):
		return "0"
	case x < 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case x >= 1e18:
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return Grouped(uint64(math.Round(x)))
}

// Percent returns a share, 0 to 1, in per cent. A small share is not rounded to 0.
func Percent(x float64) string {
	switch {
	case x <= 0:
		return "0 %"
	case x < 0.001:
		return "<0.1 %"
	case x < 0.1:
		return fmt.Sprintf("%.1f %%", x*100)
	}
	return fmt.Sprintf("%.0f %%", x*100)
}

// Many returns a number with a noun: "1 move", "1,200 moves".
func Many(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Grouped(n) + " " + thing + "s"
}

// barMean is the length of a bar at the mean, and barMost the length of the longest bar.
const (
	barMean = 10
	barMost = 30
)

// Bar draws a load relative to the mean as a bar, with a line at the mean.
func Bar(overMean float64) string {
	n := int(math.Round(min(overMean, float64(barMost)/barMean) * barMean))
	if n <= barMean {
		return strings.Repeat("█", max(0, n)) + strings.Repeat(" ", barMean-max(0, n)) + "│"
	}
	return strings.Repeat("█", barMean) + "│" + strings.Repeat("█", n-barMean)
}

// Millis returns microseconds as milliseconds, as text.
func Millis(us float64) string {
	switch {
	case us < 1000:
		return fmt.Sprintf("%.2f ms", us/1000)
	case us < 100_000:
		return fmt.Sprintf("%.1f ms", us/1000)
	}
	return fmt.Sprintf("%s ms", Grouped(uint64(us/1000)))
}
