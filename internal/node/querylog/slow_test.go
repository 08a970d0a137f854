package querylog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/internal/node/searchapi"
	"adshard/search"
)

// observed returns a search with one call that failed.
func observed(query string, took time.Duration) *searchapi.Observation {
	timing := new(search.Timing)
	timing.Add(search.Part{Name: "shard-0", Replica: "slave-0", Took: took / 2})
	timing.Add(search.Part{Name: "shard-1", Replica: "slave-1", Took: took, Err: fault.Newf(fault.Deadline, "x", "late")})
	return &searchapi.Observation{Operation: searchapi.OperationSearch, RequestID: "r-" + query, Query: query, Status: 200, Took: took,
		Expand: time.Millisecond, Search: took / 2, Timing: timing, Vocabulary: "0123456789abcdef", Answer: &search.Answer{Matched: 7, Work: search.Work{Examined: 9}}}
}

// TestSlowSearchesAreLogged: slow searches, and no others, are logged with everything that is known
// about them. The number of lines is bounded, and the lines say how many there would have been.
func TestSlowSearchesAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := NewSlow(20*time.Millisecond, slog.New(slog.NewJSONHandler(&out, nil)))
		s.Observe(observed("fast", 20*time.Millisecond-1))
		other := observed("other", time.Second)
		other.Operation = "explain"
		s.Observe(other)
		if out.Len() > 0 || len(s.Slowest()) > 0 {
			t.Fatalf("what is not slow is logged: %s", &out)
		}
		for range 100 {
			s.Observe(observed("red lamp", 20*time.Millisecond))
		}
		list := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(list) != lines {
			t.Fatalf("%d lines for 100 slow searches at once; want %d", len(list), lines)
		}
		for _, says := range []string{`"request":"r-red lamp"`, `"query":"red lamp"`, `"took":20000000`, `"matched":7`, `"examined":9`, `"outcome":"incomplete"`, `"vocabulary_version":"0123456789abcdef"`,
			`shard-0/slave-0=10ms`, `shard-1/slave-1=20ms(deadline)`, `"unlogged":0`} {
			if !strings.Contains(list[0], says) {
				t.Errorf("the line has no %s: %s", says, list[0])
			}
		}
		out.Reset()
		time.Sleep(time.Second)
		s.Observe(observed("blue lamp", time.Second))
		if !strings.Contains(out.String(), `"unlogged":90`) {
			t.Errorf("the next line does not say that 90 are left out: %s", &out)
		}
	})
}

// TestTheSlowestAreKept: the slowest searches of the last hour are kept, slowest first, and one of
// them is explained.
func TestTheSlowestAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlow(time.Millisecond, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		var asked []string
		go func() {
			defer close(done)
			s.Run(ctx, func(_ context.Context, query, of string) (any, error) {
				if asked = append(asked, query); query == "bad" {
					return nil, errors.New("no")
				}
				return "because of " + query + of, nil
			})
		}()
		for i := range 30 {
			s.Observe(observed("q", time.Duration(i+1)*time.Millisecond))
		}
		s.Observe(observed("slowest", time.Second))
		time.Sleep(time.Minute)
		list := s.Slowest()
		if len(list) != kept || list[0].Query != "slowest" || list[1].TookUs != 30_000 || list[kept-1].TookUs != 12_000 {
			t.Fatalf("%d are kept: %+v", len(list), list)
		}
		s.Observe(observed("bad", 2*time.Second))
		time.Sleep(time.Minute)
		slower := observed("slower", 3*time.Second)
		slower.Context = "&site=a.example"
		s.Observe(slower)
		time.Sleep(time.Minute)
		list = s.Slowest()
		if list[0].Explanation != "because of slower&site=a.example" || list[1].Explanation != nil || list[2].Explanation != nil {
			t.Errorf("%+v; asked for %v", list[:3], asked)
		}
		if text, err := json.Marshal(list[0]); err != nil || !strings.Contains(string(text), `"calls":[{"shard":"shard-0"`) {
			t.Error(string(text), err)
		}
		time.Sleep(keptFor)
		if list := s.Slowest(); len(list) != 0 {
			t.Errorf("%d are kept for longer than %v", len(list), keptFor)
		}
		cancel()
		<-done
		if len(asked) > 5 {
			t.Errorf("%d explanations in three minutes: %v", len(asked), asked)
		}
	})
}
