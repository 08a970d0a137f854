package searchapi

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"adshard/auction"
	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/overload"
	"adshard/internal/node/tracing"
	"adshard/search"
)

// Search answers GET /v1/search.
func (c *call) Search(w http.ResponseWriter, r *http.Request, p *api.SearchParams) {
	if c.asked == nil {
		c.asked = &api.SearchBody{SearchParams: p, PerAdvertiser: 1}
	}
	b := httpapi.NewBuffer()
	defer b.Free()
	if err := c.search(r.Context(), p, &b.Buffer); err != nil {
		c.Refuse(w, r, err)
		return
	}
	c.seen.Status = http.StatusOK
	httpapi.WriteEncoded(w, b.Bytes())
}

// maxBody is enough for all that a search may contain, including 1,000 hosts, categories and
// advertisers.
const maxBody = 1 << 20

// SearchPost answers POST /v1/search. While the gate is full it refuses before the body is read, whatever timeout_ms says: a master's
// gate has no queue. No place is taken until the body has been read, since a client may send it slowly.
func (c *call) SearchPost(w http.ResponseWriter, r *http.Request) {
	if err := c.gate.Check(overload.Request{Tenant: c.tags.Tenant, Low: c.tags.Low, Left: c.DefaultTimeout}); err != nil {
		c.Refuse(w, r, err)
		return
	}
	c.body = true
	b := api.NewSearchBody()
	if err := httpapi.ReadBody(w, r, c.BodyTimeout, maxBody, b); err != nil {
		c.Refuse(w, r, err)
		return
	}
	c.asked = b
	c.Search(w, r, b.SearchParams)
}

// search writes the answer to `out`.
func (c *call) search(ctx context.Context, p *api.SearchParams, out *bytes.Buffer) error {
	r, err := c.result(ctx, p)
	if err != nil {
		return err
	}
	began := time.Now()
	b, err := appendAnswer(out.AvailableBuffer(), &r)
	if err != nil {
		return err
	}
	now := time.Now()
	out.Write(closeAnswer(b, now.Sub(c.start).Microseconds()))
	c.seen.Finish += now.Sub(began)
	c.span.Stage("encode", began, now.Sub(began))
	return nil
}

// begin sets the deadline, a little before the request's own, so that the answer can be written in
// time, and passes the gate. Errors: fault.Overloaded, at once, if the search would have to wait too
// long for its turn.
func (c *call) begin(ctx context.Context, timeoutMs int) (_ context.Context, done func(), err error) {
	timeout := c.DefaultTimeout
	if timeoutMs > 0 {
		timeout = time.Duration(timeoutMs) * time.Millisecond
	}
	const margin = 5 * time.Millisecond
	deadline := c.start.Add(timeout - min(margin, timeout/20))
	c.entry, err = c.gate.Enter(overload.Request{
		Tenant: c.tags.Tenant, Low: c.tags.Low, Left: time.Until(deadline),
	})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	return ctx, func() { cancel(); c.entry.Leave() }, nil
}

// noVocabulary stands for the version of the vocabulary in answers without corrections, though they were asked for.
const noVocabulary = "none"

// request expands the query. A query without words has no terms. It is asked like any other, which
// costs next to nothing, so that its coverage is true.
func (c *call) request(ctx context.Context, q string, slots int, d api.Device, variants api.Variant, p *contextParams) (*search.Request, error) {
	at, err := c.resolve(p)
	if err != nil {
		return nil, err
	}
	c.context = at
	start := time.Now()
	reach, _ := search.ParseLevel(string(variants))
	device, _ := search.ParseDevice(string(d))
	if reach == search.Misspelt {
		c.confirm(ctx)
	}
	query, kept, err := c.Expansions.Expand(q, reach)
	c.seen.Kept = kept
	c.seen.Expand = time.Since(start)
	c.span.Stage("expand", start, c.seen.Expand)
	if err != nil {
		return nil, err
	}
	if reach == search.Misspelt {
		c.seen.Vocabulary = cmp.Or(query.Vocabulary, noVocabulary)
	}
	req := &search.Request{
		Query: query, Profile: c.Profile.Capped(reach), Device: device, Slots: slots, Reserve: c.Reserve,
		RequestID: c.seen.RequestID, Tags: c.tags, Context: at.Context,
	}
	if c.Scorer != nil {
		req.Scorer = c.Scorer()
	}
	return req, nil
}

// confirm waits until it is known which vocabulary is in force, for at most half of the time that is left.
func (c *call) confirm(ctx context.Context) {
	if c.Confirm == nil {
		return
	}
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
	}
	c.Confirm(ctx)
}

func (c *call) ask(ctx context.Context, req *search.Request) (*search.Answer, error) {
	start := time.Now()
	if c.Timed || c.timed || c.span != nil {
		c.seen.Timing = new(search.Timing)
		req.Timing = c.seen.Timing
	}
	span := c.span.Child("fan-out", start)
	if span != nil {
		ctx = tracing.With(ctx, span)
	}
	found, err := c.Searcher.Search(ctx, req)
	c.seen.Search = time.Since(start)
	span.End(start.Add(c.seen.Search), err)
	c.seen.Answer = found
	if overloaded(found, err) {
		c.entry.Refused()
	}
	return found, err
}

// overloaded reports whether a shard refused because it had no free place.
func overloaded(found *search.Answer, err error) bool {
	if err != nil {
		return fault.Is(err, fault.Overloaded)
	}
	return slices.ContainsFunc(found.Missing, func(m search.Missing) bool { return m.Reason == search.Refused })
}

func incomplete(found *search.Answer) error {
	return httpapi.WithStatus(http.StatusServiceUnavailable, api.ErrorCodeIncomplete, fault.Newf(fault.Unavailable, op,
		"strict was asked for and the answer is incomplete: missing %s", listed(found.Missing)))
}

// place runs the auction over the searcher's hits.
func (c *call) place(req *search.Request, found *search.Answer) []auction.Placement {
	candidates := make([]auction.Candidate, len(found.Hits))
	for i := range found.Hits {
		candidates[i] = candidate(&found.Hits[i])
	}
	return auction.Finish(candidates, req.Slots, req.Reserve)
}
