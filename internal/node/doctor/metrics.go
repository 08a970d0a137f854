package doctor

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// Sample is one value on a page of metrics.
type Sample struct {
	Series string // name and labels as on the page
	Name   string
	Labels map[string]string
	Value  float64
}

var (
	sampleLine = regexp.MustCompile(`^(\w+)(?:\{(.*)\})? (\S+)$`)
	label      = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*")`)
)

// ReadMetrics reads a page in the text format of Prometheus. It leaves out lines that it cannot
// read.
func ReadMetrics(page string) (list []Sample) {
	for line := range strings.Lines(page) {
		m := sampleLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil || !strings.HasPrefix(m[1], "adshard_") {
			continue
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			continue
		}
		s := Sample{Series: m[1] + "{" + m[2] + "}", Name: m[1], Value: v, Labels: make(map[string]string)}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if text, err := strconv.Unquote(l[2]); err == nil {
				s.Labels[l[1]] = text
			}
		}
		list = append(list, s)
	}
	return list
}

// selector selects samples by name, and by patterns that must match whole labels.
type selector struct {
	name   string
	labels map[string]string
}

// where returns a selector for a metric, with pairs of label and pattern.
func where(name string, pairs ...string) selector {
	s := selector{name, make(map[string]string)}
	for i := 0; i+1 < len(pairs); i += 2 {
		s.labels[pairs[i]] = pairs[i+1]
	}
	return s
}

// and returns a selector with one more pattern.
func (s selector) and(label, pattern string) selector {
	more := maps.Clone(s.labels)
	more[label] = pattern
	return selector{s.name, more}
}

func (s selector) fits(x *Sample) bool {
	if x.Name != s.name {
		return false
	}
	for label, pattern := range s.labels {
		if ok, err := regexp.MatchString("^(?:"+pattern+")$", x.Labels[label]); !ok || err != nil {
			return false
		}
	}
	return true
}

// samples are values of series, or the growth of counters.
type samples []Sample

func (l samples) sum(s selector) (sum float64) {
	for i := range l {
		if s.fits(&l[i]) {
			sum += l[i].Value
		}
	}
	return sum
}

// grown returns by how much the series of a port have grown between the looks. A new series has
// grown from 0, and so has a series of a process that was started between the looks. The result is
// nil if the port did not answer at the first look.
func (e *examination) grown(port int) samples {
	if port >= len(e.before.Ports) || e.before.Ports[port].Failed != "" {
		return nil
	}
	was := make(map[string]float64)
	for _, s := range e.before.Ports[port].Metrics {
		was[s.Series] = s.Value
	}
	list := make(samples, 0, len(e.now.Ports[port].Metrics))
	for _, s := range e.now.Ports[port].Metrics {
		if w := was[s.Series]; w <= s.Value {
			s.Value -= w
		}
		list = append(list, s)
	}
	return list
}
