package sizing

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"adshard/fault"
)

// Figures are the measurements on one machine. Times are in microseconds of one of its cores.
type Figures struct {
	// Machine, Commit and Date say where, with which program and when they were measured.
	Machine string `json:"machine"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	// Query is the processor time of a query at its master without the calls of shards. MasterCall is the time of
	// each of these calls at the master. SlaveCall is the time of a call at the slave without the search.
	Query      float64 `json:"query_us"`
	MasterCall float64 `json:"master_call_us"`
	SlaveCall  float64 `json:"slave_call_us"`
	// Searches are the times of searches with everything in memory, by the number of keywords of the slave, in
	// ascending order.
	Searches []Searches `json:"searches"`
	// Memory has the times of searches by the memory that the slave is given, in bytes per keyword, in ascending
	// order. With the last value everything is in memory. Disk is the size of a keyword on disk.
	Memory []Memory `json:"memory"`
	Disk   float64  `json:"disk_bytes_per_keyword"`
	// Alone has the latencies of queries that are sent one at a time over HTTP, with one shard of that many keywords.
	Alone Searches `json:"alone"`
	// Usable is the share of the processors that was in use when no more queries could be answered.
	Usable float64 `json:"usable"`
	// Variability is how many times longer a query waits for a processor than it would if arrivals and service times
	// were exponential.
	Variability float64 `json:"variability"`
}

// Times is a distribution of times, in microseconds.
type Times struct {
	Mean float64 `json:"mean_us"`
	P50  float64 `json:"p50_us"`
	P90  float64 `json:"p90_us"`
	P99  float64 `json:"p99_us"`
	P999 float64 `json:"p99.9_us"`
}

// Searches has the times for a number of keywords.
type Searches struct {
	Keywords float64 `json:"keywords"`
	Times
}

// Memory has the times for an amount of memory.
type Memory struct {
	Bytes float64 `json:"bytes_per_keyword"`
	Times
}

//go:embed reference.json
var reference string

// Reference returns the figures of the machine on which those in the documentation were measured.
func Reference() (*Figures, error) { return Read(strings.NewReader(reference)) }

// Read reads figures as `adbench sizing` writes them. It returns fault.Invalid with a list of everything that is
// wrong.
func Read(r io.Reader) (*Figures, error) {
	d := json.NewDecoder(io.LimitReader(r, 1<<20))
	d.DisallowUnknownFields()
	f := new(Figures)
	if err := d.Decode(f); err != nil {
		return nil, fault.New(fault.Invalid, "", fmt.Errorf("these are not figures of `adbench sizing`: %w", err))
	}
	if err := f.Validate(); err != nil {
		return nil, fault.New(fault.Invalid, "", err)
	}
	return f, nil
}

// Validate returns an error that lists everything that is wrong, or nil.
func (f *Figures) Validate() error {
	var faults []error
	fail := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	positive := func(name string, v float64) {
		if !(v > 0 && v < 1e12) {
			fail("%s is %g: it must be positive", name, v)
		}
	}
	for name, v := range map[string]float64{"query_us": f.Query, "master_call_us": f.MasterCall, "slave_call_us": f.SlaveCall,
		"disk_bytes_per_keyword": f.Disk, "variability": f.Variability, "usable": f.Usable} {
		positive(name, v)
	}
	if f.Usable > 1 {
		fail("usable is %g: a share is at most 1", f.Usable)
	}
	times := func(name string, t *Times) {
		positive(name+": mean_us", t.Mean)
		positive(name+": p50_us", t.P50)
		if t.P90 < t.P50 || t.P99 < t.P90 || t.P999 < t.P99 || !(t.P999 < 1e12) {
			fail("%s: the quantiles do not rise", name)
		}
	}
	positive("alone: keywords", f.Alone.Keywords)
	times("alone", &f.Alone.Times)
	if len(f.Searches) == 0 || len(f.Memory) == 0 {
		fail("searches and memory need at least one entry each")
	}
	rises := func(list, unit string, i int, last, v float64, t *Times) {
		positive(fmt.Sprintf("%s %d: %s", list, i, unit), v)
		times(fmt.Sprintf("%s %d", list, i), t)
		if v <= last {
			fail("%s %d: %s do not rise", list, i, unit)
		}
	}
	last := 0.0
	for i := range f.Searches {
		s := &f.Searches[i]
		rises("searches", "keywords", i, last, s.Keywords, &s.Times)
		last = s.Keywords
	}
	last = 0
	for i := range f.Memory {
		m := &f.Memory[i]
		rises("memory", "bytes_per_keyword", i, last, m.Bytes, &m.Times)
		last = m.Bytes
	}
	return errors.Join(faults...)
}
