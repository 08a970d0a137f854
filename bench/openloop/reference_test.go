package openloop

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const answer = `{"ads":[{"position":1,"ad_id":%d,"keyword_id":10,"keyword":"a \"keyword_id\": 7","price_micros":500},` +
	`{"position":2,"ad_id":2,"keyword_id":11,"price_micros":%d}],"coverage":{"complete":true}}`

// TestReference: rotating ads are right; missing, doubled and mispriced ads are
// counted, but only in complete answers.
func TestReference(t *testing.T) {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := n.Add(1)
		whole := fmt.Sprintf(answer, i, 400)
		switch {
		case i <= 2: // the recording
		case i%5 == 0:
			whole = fmt.Sprintf(answer, i, 399)
		case i%5 == 1:
			whole = `{"ads":[{"keyword_id":10,"price_micros":500},{"keyword_id":10,"price_micros":500}],"coverage":{"complete":true}}`
		case i%5 == 2:
			whole = `{"ads":[],"coverage":{"complete":false}}`
		}
		fmt.Fprint(w, whole)
	}))
	defer s.Close()
	c := config(s.URL)
	var err error
	if c.Reference, err = Record(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if want := []Ad{{10, 500}, {11, 400}}; len(c.Reference) != 2 || !slices.Equal(c.Reference[0], want) {
		t.Fatalf("recorded %v", c.Reference)
	}
	c.Requests, c.Duration = 50, 10*time.Second
	o := run(t, c)
	if want := (Wrong{Missed: 10, Extra: 10, Mispriced: 10}); o.Wrong != want || !o.Held || o.Incomplete != 10 {
		t.Errorf("%+v, %d incomplete", o.Wrong, o.Incomplete)
	}
	sum, answers := Wrong{}, 0
	for _, v := range o.Intervals {
		sum.add(v.Wrong)
		answers += v.Answers
		if v.Answers > 0 && (v.Median <= 0 || v.P99 < v.Median || v.Most < v.P99) {
			t.Errorf("interval %+v", v)
		}
	}
	if sum != o.Wrong || answers != 50 {
		t.Errorf("the intervals sum to %+v in %d answers", sum, answers)
	}
	c.Reference = c.Reference[:1]
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "recorded") {
		t.Errorf("a reference of other targets: %v", err)
	}
}

// TestRecordAtRest: an incomplete answer is not accepted as a reference.
func TestRecordAtRest(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"ads":[],"coverage":{"complete":false}}`)
	}))
	defer s.Close()
	if _, err := Record(t.Context(), config(s.URL)); err == nil {
		t.Error("an incomplete answer was recorded")
	}
}

// TestSchedule: the schedule decides what is asked and when, in open and in
// closed loops.
func TestSchedule(t *testing.T) {
	var asked [2]atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("q") == "b" {
			asked[1].Add(1)
		} else {
			asked[0].Add(1)
		}
		fmt.Fprint(w, whole)
	}))
	defer s.Close()
	for _, rate := range []float64{0, 100} {
		c := config(s.URL)
		c.Rate = rate
		c.Schedule = func(yield func(time.Duration, int) bool) {
			for i := range 12 {
				if !yield(time.Duration(i)*10*time.Millisecond, min(i%4, 1)) {
					return
				}
			}
		}
		if o := run(t, c); o.Complete != 12 {
			t.Errorf("rate %v: %d complete", rate, o.Complete)
		}
	}
	if a, b := asked[0].Load(), asked[1].Load(); a != 6 || b != 18 {
		t.Errorf("a was asked %d times, b %d times", a, b)
	}
}
