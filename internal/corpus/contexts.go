package corpus

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"
)

// Context describes the user and page of a request for a corpus with targeting.
type Context struct {
	Location  uint32
	Time      time.Time
	Languages []string // codes
	Audiences []string // distinct
	Site      string
}

// Context draws the n-th context: a user in one of the markets on a Wednesday between 8 and 20, half of them with languages, each
// in some segments, and a page. All contexts are of the same day, as for requests at the same time.
func (o *Options) Context(n int) (c Context) {
	d := newDice()
	d.reset(o.Seed, -3, n)
	c.Location = pick(d, markets[:])
	c.Time = day.Add(8*time.Hour + time.Duration(d.IntN(12*60))*time.Minute)
	switch d.IntN(10) {
	case 0, 1, 2:
		c.Languages = []string{"en"}
	case 3, 4:
		c.Languages = []string{"cs", "en"}
	}
	at := d.IntN(segments)
	for i := range segments / 10 {
		c.Audiences = append(c.Audiences, segment(at+7*i))
	}
	c.Site = site(d.IntN(sites))
	return c
}

// Values returns the request parameters for the context.
func (c *Context) Values() url.Values {
	return url.Values{
		"location": {strconv.FormatUint(uint64(c.Location), 10)}, "time": {c.Time.Format(time.RFC3339)}, "language": c.Languages,
		"audience": c.Audiences, "site": {c.Site},
	}
}

// WriteContexts writes o.Queries contexts to w, one a line, as request parameters, and returns their number.
func (c *Corpus) WriteContexts(w io.Writer, o Options) (int, error) {
	out := bufio.NewWriter(w)
	for n := range o.Queries {
		at := o.Context(n)
		if _, err := fmt.Fprintln(out, at.Values().Encode()); err != nil {
			return n, err
		}
	}
	return o.Queries, out.Flush()
}
